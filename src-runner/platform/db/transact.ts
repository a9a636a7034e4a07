import type Sqlite from 'better-sqlite3'
import type { RecordedEvent, StoredEvent } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Database, Db } from './database.ts'
import { describeDatabaseTrouble, isLockedOut, sqliteCodeOf } from './database-errors.ts'
import type { Statements, Writes } from './statements.ts'
import { rowInsert, writeRows } from './write-rows.ts'

/** A transaction under way. Valid only inside the function it was given to. */
export type Tx = Db &
  Writes & {
    /** Records the event in this transaction; listeners hear of it after the commit. */
    emit(event: RecordedEvent): void
    /** Records several events at once, at half the cost for each. */
    emitAll(events: readonly RecordedEvent[]): void
    /** Runs after the commit, in the order of the calls. Does not run when the transaction is rolled back. */
    afterCommit(effect: () => void): void
  }

/** A transaction cannot wait, so a function that returns a promise does not compile. */
type NoPromise<T> = T extends PromiseLike<unknown> ? never : T

/**
 * Runs `work` in one transaction of its own, on disk when this returns; when `work` throws, nothing of it happened.
 * Throws what `work` throws, or AppError `disk_full` or `database_unavailable` for trouble with the file.
 */
export function transact<T>(db: Database, work: (tx: Tx) => NoPromise<T>): T {
  return db.commits.runNow(work) as T
}

/**
 * Like `transact`, but shares one commit with everything else that is queued in this turn of the event loop: the
 * price of the disk is paid once. Each function has a savepoint, so one that throws undoes only itself. The promise
 * resolves after the commit.
 */
export function commitSoon<T>(db: Database, work: (tx: Tx) => NoPromise<T>): Promise<T> {
  return db.commits.runSoon(work) as Promise<T>
}

/** How long to wait for a lock of another program. SQLite's own wait would block the event loop. */
const WAIT_FOR_LOCK_MS = 5000
const LOCK_RETRY_MS = 25

type Effect = () => void
type Member = { work: (tx: Tx) => unknown; resolve: (value: unknown) => void; reject: (reason: unknown) => void }

/** The most functions in one commit. More would block the event loop for too long. */
const LARGEST_GROUP = 256

const EVENTS = rowInsert('events', 'at, type, payload', '?, ?, ?')

type CommitsDeps = {
  connection: Sqlite.Database
  statements: Statements
  clock: Clock
  log: Log
  committed: () => void
  /** The write lock was not available in time. */
  lockedOut: () => void
}

/** The only place where transactions begin and end, and where effects run after a commit. */
export class Commits {
  readonly #connection: Sqlite.Database
  readonly #statements: Statements
  readonly #prepare: Db['prepare']
  readonly #clock: Clock
  readonly #log: Log
  readonly #committed: () => void
  readonly #lockedOut: () => void
  readonly #listeners = new Set<(event: StoredEvent) => void>()
  readonly #effects: Effect[] = []
  #delivering = false
  #members: Member[] = []
  /** Since when another program has the write lock. */
  #lockedSince: number | null = null
  #isWaitingForLock = false

  constructor(deps: CommitsDeps) {
    this.#connection = deps.connection
    this.#statements = deps.statements
    this.#prepare = deps.statements.prepare
    this.#clock = deps.clock
    this.#log = deps.log
    this.#committed = deps.committed
    this.#lockedOut = deps.lockedOut
  }

  onEvents(listener: (event: StoredEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  runNow(work: (tx: Tx) => unknown): unknown {
    this.#begin()
    return this.#runBegun(work)
  }

  #runBegun(work: (tx: Tx) => unknown): unknown {
    const effects: Effect[] = []
    let value: unknown
    try {
      value = this.#runIn(effects, work)
      this.#prepare('COMMIT').run()
    } catch (error) {
      this.#undo()
      throw describeDatabaseTrouble(error)
    }
    this.#deliver(effects)
    this.#committed()
    return value
  }

  runSoon(work: (tx: Tx) => unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.#connection.open) return reject(closedError())
      if (this.#members.push({ work, resolve, reject }) === 1) setImmediate(() => this.#flushGroup())
    })
  }

  /**
   * Resolves when the write lock is free: for those whose next transaction cannot wait for it. Throws AppError
   * `database_unavailable` when another program keeps it for too long.
   */
  async untilUnlocked(): Promise<void> {
    while (this.#connection.open && !this.#connection.inTransaction) {
      try {
        this.#begin()
        return this.#undo()
      } catch (error) {
        // Another trouble is met by the transaction itself.
        if (!isLockedOut(error)) return
        if (this.#hasWaitedForLock()) throw error
      }
      await this.#clock.sleep(LOCK_RETRY_MS)
    }
  }

  /** Commits everything that is queued, now. For closing. */
  flush(): void {
    while (this.#members.length > 0) {
      const group = this.#members.splice(0, LARGEST_GROUP)
      try {
        this.#begin()
        this.#commitGroup(group)
      } catch (error) {
        for (const member of group) member.reject(error)
      }
    }
  }

  #flushGroup(): void {
    if (this.#isWaitingForLock || this.#members.length === 0) return
    try {
      this.#begin()
    } catch (error) {
      if (isLockedOut(error) && !this.#hasWaitedForLock()) return this.#flushLater()
      for (const member of this.#members.splice(0)) member.reject(error)
      return
    }
    const group = this.#members.splice(0, LARGEST_GROUP)
    // Asked for before the group runs: what its effects queue joins the next turn, behind what is already waiting.
    if (this.#members.length > 0) setImmediate(() => this.#flushGroup())
    if (group.length === 1) this.#commitAlone(group[0]!)
    else this.#commitGroup(group)
  }

  #flushLater(): void {
    this.#isWaitingForLock = true
    void this.#clock.sleep(LOCK_RETRY_MS).then(() => {
      this.#isWaitingForLock = false
      this.#flushGroup()
    })
  }

  #hasWaitedForLock(): boolean {
    const waitedMs = this.#clock.monotonic() - (this.#lockedSince ?? Infinity)
    if (waitedMs < WAIT_FOR_LOCK_MS) return false
    this.#lockedOut()
    return true
  }

  /** In a transaction that has begun. Without a savepoint, for which SQLite copies every changed page. */
  #commitAlone({ work, resolve, reject }: Member): void {
    try {
      resolve(this.#runBegun(work))
    } catch (error) {
      reject(error)
    }
  }

  /** In a transaction that has begun. */
  #commitGroup(group: Member[]): void {
    const done: { member: Member; value: unknown; effects: Effect[] }[] = []
    const failed: { member: Member; error: unknown }[] = []
    try {
      for (const member of group) {
        const effects: Effect[] = []
        this.#prepare('SAVEPOINT member').run()
        try {
          const value = this.#runIn(effects, member.work)
          done.push({ member, value, effects })
        } catch (error) {
          // On a full disk SQLite may already have rolled back the whole transaction.
          if (!this.#connection.inTransaction) throw error
          this.#prepare('ROLLBACK TO member').run()
          failed.push({ member, error })
        }
        this.#prepare('RELEASE member').run()
      }
      this.#prepare('COMMIT').run()
    } catch (error) {
      this.#undo()
      const failures = new Map(failed.map((one) => [one.member, one.error]))
      for (const member of group) member.reject(describeDatabaseTrouble(failures.get(member) ?? error))
      return
    }
    for (const { member, error } of failed) member.reject(describeDatabaseTrouble(error))
    for (const { member, value } of done) member.resolve(value)
    this.#deliver(done.flatMap((one) => one.effects))
    this.#committed()
  }

  #begin(): void {
    if (!this.#connection.open) throw closedError()
    if (this.#connection.inTransaction)
      throw new Error('a transaction is already under way: pass its tx on instead of starting another one')
    try {
      this.#prepare('BEGIN IMMEDIATE').run()
      this.#lockedSince = null
    } catch (error) {
      if (sqliteCodeOf(error)?.startsWith('SQLITE_BUSY') === true) this.#lockedSince ??= this.#clock.monotonic()
      throw describeDatabaseTrouble(error)
    }
  }

  #undo(): void {
    if (this.#connection.open && this.#connection.inTransaction) this.#prepare('ROLLBACK').run()
  }

  #runIn(effects: Effect[], work: (tx: Tx) => unknown): unknown {
    let over = false
    const assertUnderWay = () => {
      if (over) throw new Error('this transaction has ended')
    }
    const emitAll = (events: readonly RecordedEvent[]) => {
      assertUnderWay()
      const at = this.#clock.now()
      const firstId = writeRows(
        tx,
        EVENTS,
        events.map(({ type, payload }) => [at, type, JSON.stringify(payload)]),
      )
      const stored = events.map((event, i): StoredEvent => ({ ...event, id: firstId + i, at }))
      effects.push(() => stored.forEach((event) => this.#publish(event)))
    }
    const tx: Tx = {
      ...this.#statements,
      emit: (event) => emitAll([event]),
      emitAll,
      afterCommit: (effect) => {
        assertUnderWay()
        effects.push(effect)
      },
    }
    try {
      const value = work(tx)
      if (isPromise(value)) {
        // Its rejection would have no one to catch it: this error says what is wrong.
        value.then(undefined, () => {})
        throw new Error('a transaction is synchronous: its function may not return a promise')
      }
      return value
    } finally {
      over = true
    }
  }

  /** One effect after another, also when an effect commits something itself: listeners hear events in the order of their ids. */
  #deliver(effects: Effect[]): void {
    this.#effects.push(...effects)
    if (this.#delivering) return
    this.#delivering = true
    try {
      for (let effect = this.#effects.shift(); effect !== undefined; effect = this.#effects.shift()) this.#attempt(effect)
    } finally {
      this.#delivering = false
    }
  }

  #publish(event: StoredEvent): void {
    for (const listener of this.#listeners) this.#attempt(() => listener(event))
  }

  /** The commit has happened: an effect that throws must not make it look undone, nor keep the others from running. */
  #attempt(effect: Effect): void {
    try {
      effect()
    } catch (error) {
      this.#log.error({ err: error, reason: messageOf(error) }, 'an effect after a commit failed')
    }
  }
}

function closedError(): AppError {
  return new AppError('database_unavailable', 'The database is closed.')
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
