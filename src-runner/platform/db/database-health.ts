import type { DatabaseTrouble } from '../../contract/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { troubleOf } from './database-errors.ts'

/** Whether the database works, as far as failed statements show. */
export type Condition = {
  trouble(): DatabaseTrouble | null
  /** A statement failed. Errors that do not concern the file are ignored. */
  failed(error: unknown): void
  foundDamage(messages: readonly string[]): void
  /** The name leads to another file than the open one, or to none. */
  misplaced(): void
  /** The write lock was not available in time. */
  lockedOut(): void
  committed(): void
  /** Calls back when the trouble begins, changes or ends (null). Returns how to stop. */
  onChange(listener: (trouble: DatabaseTrouble | null) => void): () => void
  stop(): void
}

const PROBE_EVERY_MS = 1000

/**
 * While there is trouble that can pass, tries `probe` once a second. It writes something small and throws if that fails. Damage
 * does not pass.
 */
export function createCondition({ clock, log, probe }: { clock: Clock; log: Log; probe(): void }): Condition {
  const listeners = new Set<(trouble: DatabaseTrouble | null) => void>()
  let trouble: DatabaseTrouble | null = null
  let stopProbing: (() => void) | null = null

  function become(next: DatabaseTrouble | null, why: string): void {
    if (trouble === next || trouble === 'damaged') return
    trouble = next
    if (next === null) log.info({}, 'the database works again')
    else log.error({ trouble: next }, `the database is in trouble (${next}): ${why}`)
    if (next === null || next === 'damaged') stop()
    else stopProbing ??= clock.every(PROBE_EVERY_MS, probeAgain)
    for (const listener of listeners) {
      try {
        listener(next)
      } catch (error) {
        log.error({ err: error }, `a listener of the database's condition failed: ${messageOf(error)}`)
      }
    }
  }

  function probeAgain(): void {
    try {
      probe()
    } catch (error) {
      log.debug({ err: error }, `the database is still in trouble: ${messageOf(error)}`)
      return
    }
    become(null, '')
  }

  function stop(): void {
    stopProbing?.()
    stopProbing = null
  }

  return {
    trouble: () => trouble,
    failed(error) {
      const found = troubleOf(error)
      if (found !== null) become(found, messageOf(error))
    },
    foundDamage: (messages) => become('damaged', messages.slice(0, 3).join('; ')),
    misplaced: () => become('unavailable', 'its file was moved, removed or replaced'),
    lockedOut: () => become('locked', 'another program holds the write lock'),
    committed() {
      // The transaction had the lock. It may have written nothing, so only the probe ends other trouble.
      if (trouble === 'locked') become(null, '')
    },
    onChange: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
    stop,
  }
}
