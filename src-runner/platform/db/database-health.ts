import type { DatabaseTrouble } from '../../contract/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { troubleOf } from './database-errors.ts'

/** What is known of the database's ability to work, from the errors that statements met. */
export type Condition = {
  trouble(): DatabaseTrouble | null
  /** A statement failed. Other errors than those of the file are ignored. */
  failed(error: unknown): void
  /** The full check found this. */
  foundDamage(lines: readonly string[]): void
  /** The write lock could not be had in time. */
  lockedOut(): void
  /** A transaction has ended well. */
  committed(): void
  /** Calls back when the trouble begins, changes or ends (null). Returns how to stop. */
  onChange(listener: (trouble: DatabaseTrouble | null) => void): () => void
  stop(): void
}

/** How soon it is known that there is room again, or that the lock is free. */
const PROBE_EVERY_MS = 1000

/**
 * While there is trouble that can pass, `probe` is tried once a second: it writes something small and throws when that
 * fails. Damage does not pass.
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
    else stopProbing ??= clock.every(PROBE_EVERY_MS, lookAgain)
    for (const listener of listeners) attempt(() => listener(next))
  }

  function lookAgain(): void {
    try {
      probe()
    } catch (error) {
      log.debug({ err: error }, `the database is still in trouble: ${messageOf(error)}`)
      return
    }
    become(null, '')
  }

  function attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      log.error({ err: error }, `a listener of the database's condition failed: ${messageOf(error)}`)
    }
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
    foundDamage: (lines) => become('damaged', lines.slice(0, 3).join('; ')),
    lockedOut: () => become('locked', 'another program holds the write lock'),
    committed() {
      // It had the lock. Whether it wrote anything is not known, so only the probe ends the other troubles.
      if (trouble === 'locked') become(null, '')
    },
    onChange: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
    stop,
  }
}
