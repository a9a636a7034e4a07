import type Sqlite from 'better-sqlite3'
import type { DatabaseTrouble } from '../../contract/database.ts'
import type { RecordedEvent, StoredEvent } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Condition } from './database-health.ts'
import type { Reads, Statement, Statements, Writes } from './statements.ts'

/** Something to read from: the database itself, or a transaction under way. */
export type Db = Reads & {
  /**
   * The statement for this SQL text, prepared once. Only for `*.sql.ts` files. Read it with `get` or `all`; an open iterator
   * would block the next user.
   */
  prepare<Row = unknown>(sql: string): Statement<Row>
}

export type Database = Db & {
  readonly file: string
  readonly clock: Clock
  readonly log: Log
  /** Only for `platform/db`. Everything else writes through `transact` and `commitSoon`. */
  readonly connection: Sqlite.Database
  readonly commits: Commits
  readonly statements: Statements
  readonly onEvents: Commits['onEvents']
  readonly condition: Pick<Condition, 'onChange'>
  /** What keeps the database from working now. null: nothing. */
  trouble(): DatabaseTrouble | null
  /** Checks the whole file, and returns SQLite's messages. If there are any, `trouble` is `damaged` from then on. */
  findDamage(): Promise<string[]>
  /** Whether the whole file was checked at start. */
  readonly isWhollyChecked: boolean
  /** Commits what is queued, closes the file and releases the lock. */
  close(): void
}

export type Work = (tx: Tx) => unknown

export type Commits = {
  /** Calls back with every recorded event after its commit, in the order of their ids. */
  onEvents(listener: (event: StoredEvent) => void): () => void
  runNow(work: Work): unknown
  runSoon(work: Work): Promise<unknown>
  /** Resolves when the write lock is free. Throws AppError `database_unavailable` if another program keeps it for too long. */
  untilUnlocked(): Promise<void>
  /** Commits everything that is queued. For closing. */
  flush(): void
}

/** A transaction under way. Valid only inside the function it was given to. */
export type Tx = Db &
  Writes & {
    /** Records the event in this transaction. Listeners hear of it after the commit. */
    emit(event: RecordedEvent): void
    /** Records several events at once, at half the cost for each. */
    emitAll(events: readonly RecordedEvent[]): void
    /** Runs after the commit, in the order of the calls. Does not run when the transaction is rolled back. */
    afterCommit(effect: () => void): void
  }

/** A transaction cannot wait, so a function that returns a promise does not compile. */
export type NoPromise<T> = T extends PromiseLike<unknown> ? never : T

/**
 * Runs `work` in one transaction, which is on disk when this returns. If `work` throws, the transaction is rolled back.
 * Throws what `work` throws, or AppError `disk_full` or `database_unavailable` for trouble with the file.
 */
export function transact<T>(db: Database, work: (tx: Tx) => NoPromise<T>): T {
  return db.commits.runNow(work) as T
}

/**
 * Like `transact`, but shares one commit with everything else that is queued in this turn of the event loop, because a commit
 * waits for the disk. Each function has a savepoint, so one that throws undoes only itself. Resolves after the commit.
 */
export function commitSoon<T>(db: Database, work: (tx: Tx) => NoPromise<T>): Promise<T> {
  return db.commits.runSoon(work) as Promise<T>
}
