import type Sqlite from 'better-sqlite3'
import type { RecordedEvent, StoredEvent } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Commits, Tx, Work } from './database.ts'
import { describeDatabaseTrouble, isLockedOut } from './database-errors.ts'
import { events } from './events-table.ts'
import type { Statements } from './statements.ts'
import { rowInsert, writeRows } from './write-rows.ts'

/** How long to wait for a lock of another program. SQLite's own wait would block the event loop. */
const WAIT_FOR_LOCK_MS = 5000
const LOCK_RETRY_MS = 25
/** The most functions in one commit. More would block the event loop for too long. */
const LARGEST_GROUP = 256

const EVENTS = rowInsert(events, ['at', 'type', 'payload'])

type Effect = () => void
type Member = { work: Work; resolve: (value: unknown) => void; reject: (reason: unknown) => void }

type CommitsDeps = {
  connection: Sqlite.Database
  statements: Statements
  clock: Clock
  log: Log
  /** Throws if what is written now would be lost. */
  requireFile: () => void
  onCommitted: () => void
  /** The write lock was not available in time. */
  onLockedOut: () => void
}

/** The only place where transactions begin and end. */
export function createCommits(deps: CommitsDeps): Commits {
  const { connection, statements, clock, log, onCommitted, onLockedOut } = deps
  const { prepare } = statements
  const effects = createEffects(log)
  const transactions = createTransactions(deps, effects.publish)
  const queue: Member[] = []
  let isWaitingForLock = false

  function hasWaitedForLock(): boolean {
    if (transactions.lockedOutForMs() < WAIT_FOR_LOCK_MS) return false
    onLockedOut()
    return true
  }

  /** In a transaction that has begun. Without a savepoint, for which SQLite copies every changed page. */
  function commitOne(work: Work): unknown {
    const own: Effect[] = []
    let value: unknown
    try {
      value = transactions.run(work, own)
      prepare('COMMIT').run()
    } catch (error) {
      transactions.undo()
      throw describeDatabaseTrouble(error)
    }
    effects.run(own)
    onCommitted()
    return value
  }

  /** In a transaction that has begun. */
  function commitGroup(group: readonly Member[]): void {
    const succeeded: { member: Member; value: unknown; own: Effect[] }[] = []
    const failures = new Map<Member, unknown>()
    try {
      for (const member of group) {
        const own: Effect[] = []
        prepare('SAVEPOINT member').run()
        try {
          succeeded.push({ member, value: transactions.run(member.work, own), own })
        } catch (error) {
          // On a full disk SQLite may already have rolled back the whole transaction.
          if (!connection.inTransaction) throw error
          prepare('ROLLBACK TO member').run()
          failures.set(member, error)
        }
        prepare('RELEASE member').run()
      }
      prepare('COMMIT').run()
    } catch (error) {
      transactions.undo()
      for (const member of group) member.reject(describeDatabaseTrouble(failures.get(member) ?? error))
      return
    }
    for (const [member, error] of failures) member.reject(describeDatabaseTrouble(error))
    for (const { member, value } of succeeded) member.resolve(value)
    effects.run(succeeded.flatMap(({ own }) => own))
    onCommitted()
  }

  function commitQueued(): void {
    if (isWaitingForLock || queue.length === 0) return
    try {
      transactions.begin()
    } catch (error) {
      if (isLockedOut(error) && !hasWaitedForLock()) return void retryLater()
      for (const member of queue.splice(0)) member.reject(error)
      return
    }
    const group = queue.splice(0, LARGEST_GROUP)
    // Before the group runs, so that what its effects queue comes after what is already waiting.
    if (queue.length > 0) setImmediate(commitQueued)
    const [first] = group
    if (group.length > 1) return commitGroup(group)
    try {
      first!.resolve(commitOne(first!.work))
    } catch (error) {
      first!.reject(error)
    }
  }

  async function retryLater(): Promise<void> {
    isWaitingForLock = true
    await clock.sleep(LOCK_RETRY_MS)
    isWaitingForLock = false
    commitQueued()
  }

  return {
    onEvents: effects.onEvents,
    runNow(work) {
      transactions.begin()
      return commitOne(work)
    },
    runSoon(work) {
      return new Promise((resolve, reject) => {
        if (!connection.open) return reject(closedError())
        if (queue.push({ work, resolve, reject }) === 1) setImmediate(commitQueued)
      })
    },
    async untilUnlocked() {
      while (connection.open && !connection.inTransaction) {
        try {
          transactions.begin()
          return transactions.undo()
        } catch (error) {
          // The transaction itself reports other trouble.
          if (!isLockedOut(error)) return
          if (hasWaitedForLock()) throw error
        }
        await clock.sleep(LOCK_RETRY_MS)
      }
    },
    flush() {
      while (queue.length > 0) {
        const group = queue.splice(0, LARGEST_GROUP)
        try {
          transactions.begin()
          commitGroup(group)
        } catch (error) {
          for (const member of group) member.reject(error)
        }
      }
    },
  }
}

function createTransactions({ connection, statements, clock, requireFile }: CommitsDeps, publish: (event: StoredEvent) => void) {
  /** Since when another program has the write lock. */
  let lockedSince: number | null = null

  return {
    begin(): void {
      if (!connection.open) throw closedError()
      if (connection.inTransaction) throw new Error('a transaction is already under way: pass its tx on instead of starting another one')
      requireFile()
      try {
        statements.prepare('BEGIN IMMEDIATE').run()
        lockedSince = null
      } catch (thrown) {
        const error = describeDatabaseTrouble(thrown)
        if (isLockedOut(error)) lockedSince ??= clock.monotonic()
        throw error
      }
    },
    lockedOutForMs: () => clock.monotonic() - (lockedSince ?? Infinity),
    undo(): void {
      if (connection.open && connection.inTransaction) statements.prepare('ROLLBACK').run()
    },
    /** Runs `work` and adds to `effects` what must run after the commit. */
    run(work: Work, effects: Effect[]): unknown {
      let isOver = false
      const afterCommit = (effect: Effect) => {
        if (isOver) throw new Error('this transaction has ended')
        effects.push(effect)
      }
      const emitAll = (recorded: readonly RecordedEvent[]) => {
        const stored: StoredEvent[] = []
        afterCommit(() => stored.forEach(publish))
        const at = clock.now()
        const rows = recorded.map(({ type, payload }) => ({ at, type, payload: JSON.stringify(payload) }))
        const firstId = writeRows(tx, EVENTS, rows)
        stored.push(...recorded.map((event, i): StoredEvent => ({ ...event, id: firstId + i, at })))
      }
      const tx: Tx = { ...statements, emit: (event) => emitAll([event]), emitAll, afterCommit }
      try {
        const value = work(tx)
        if (!isPromise(value)) return value
        // Only the error below is reported.
        value.then(undefined, () => {})
        throw new Error('a transaction is synchronous: its function may not return a promise')
      } finally {
        isOver = true
      }
    },
  }
}

/** Runs effects after a commit. None of them can make the commit look undone or keep the others from running. */
function createEffects(log: Log) {
  const listeners = new Set<(event: StoredEvent) => void>()
  const queue: Effect[] = []
  let isRunning = false

  function attempt(effect: Effect): void {
    try {
      effect()
    } catch (error) {
      log.error({ err: error, reason: messageOf(error) }, 'an effect after a commit failed')
    }
  }

  return {
    onEvents(listener: (event: StoredEvent) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    publish(event: StoredEvent): void {
      for (const listener of listeners) attempt(() => listener(event))
    },
    /** One after another, even if an effect commits something itself: listeners hear events in the order of their ids. */
    run(effects: readonly Effect[]): void {
      queue.push(...effects)
      if (isRunning) return
      isRunning = true
      for (let effect = queue.shift(); effect !== undefined; effect = queue.shift()) attempt(effect)
      isRunning = false
    },
  }
}

function closedError(): AppError {
  return new AppError('database_unavailable')
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
