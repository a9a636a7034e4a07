import { and, desc, eq, ne, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { fileChanges } from './files-table.ts'

/** The content of a file, like `FileState` of the tools. null stands for no file. */
export type ContentState = { mark: string; size: number; mode: number }
export type ChangedPath = { folder: string; parts: readonly string[]; shown: string; realPath: string }

type Row = typeof fileChanges.$inferSelect

export type NewFileChange = Pick<Row, 'jobId' | 'agentId' | 'callId' | 'op' | 'binary' | 'own'> & {
  at: ChangedPath
  from: ChangedPath | null
  before: ContentState | null
  after: ContentState | null
}
export type ChangeState = Row['state']
export type FileChangeRecord = NewFileChange & Pick<Row, 'seq' | 'id' | 'state' | 'trashed'>

/** To be committed before the file is changed. Returns the id for `endChange`. */
export function startChange(tx: Tx, { clock, ids }: { clock: Clock; ids: Ids }, change: NewFileChange): string {
  const id = ids.next()
  const { at, from, before, after, ...fields } = change
  tx.insert(fileChanges)
    .values({
      ...fields,
      id,
      state: 'started',
      startedAt: clock.now(),
      folder: at.folder,
      parts: [...at.parts],
      shown: at.shown,
      realPath: at.realPath,
      ...(from && { fromFolder: from.folder, fromParts: [...from.parts], fromShown: from.shown, fromRealPath: from.realPath }),
      ...(before && { beforeMark: before.mark, beforeSize: before.size, beforeMode: before.mode }),
      ...(after && { afterMark: after.mark, afterSize: after.size, afterMode: after.mode }),
    })
    .run()
  return id
}

/** May be called again, because the code that makes a change knows its outcome better than a later check of the file. */
export function endChange(
  tx: Tx,
  { clock }: { clock: Clock },
  id: string,
  state: Exclude<ChangeState, 'started'>,
  { trashed = false }: { trashed?: boolean } = {},
): void {
  tx.update(fileChanges).set({ state, trashed, endedAt: clock.now() }).where(eq(fileChanges.id, id)).run()
}

/** All changes of a job, in order. */
export function listChanges(db: Db, jobId: string): FileChangeRecord[] {
  return db.select().from(fileChanges).where(eq(fileChanges.jobId, jobId)).orderBy(fileChanges.seq).all().map(changeOf)
}

const isStarted = and(eq(fileChanges.jobId, sql.placeholder('jobId')), eq(fileChanges.state, 'started'))
const STARTED_CHANGES = prepareOnce((db: Db) => db.select().from(fileChanges).where(isStarted).orderBy(fileChanges.seq))

export function listStartedChanges(db: Db, jobId: string): FileChangeRecord[] {
  return STARTED_CHANGES(db).all({ jobId }).map(changeOf)
}

const isChangeOfCall = and(
  eq(fileChanges.jobId, sql.placeholder('jobId')),
  eq(fileChanges.callId, sql.placeholder('callId')),
  ne(fileChanges.state, 'void'),
)
const CHANGE_OF_CALL = prepareOnce((db: Db) => db.select().from(fileChanges).where(isChangeOfCall).orderBy(desc(fileChanges.seq)).limit(1))

/** The last change by a call, unless nothing was changed. */
export function findChangeOfCall(db: Db, jobId: string, callId: string): FileChangeRecord | null {
  const row = CHANGE_OF_CALL(db).get({ jobId, callId })
  return row === undefined ? null : changeOf(row)
}

/** Whether the last change of this path was by this agent, left this content, and the agent wrote all of it. */
export function isOwnContent(db: Db, agentId: string, realPath: string, mark: string): boolean {
  const last = findLastChange(db, realPath)
  return last !== undefined && last.agentId === agentId && last.own && last.afterMark === mark
}

/** Whether this job was the last to leave this content at the path. */
export function isContentOfJob(db: Db, jobId: string, realPath: string, mark: string): boolean {
  const last = findLastChange(db, realPath)
  return last !== undefined && last.jobId === jobId && last.afterMark === mark
}

const LAST_CHANGE = prepareOnce((db: Db) => {
  const { jobId, agentId, own, afterMark } = fileChanges
  return db
    .select({ jobId, agentId, own, afterMark })
    .from(fileChanges)
    .where(and(eq(fileChanges.realPath, sql.placeholder('realPath')), eq(fileChanges.state, 'done')))
    .orderBy(desc(fileChanges.seq))
    .limit(1)
})

function findLastChange(db: Db, realPath: string): Pick<Row, 'jobId' | 'agentId' | 'own' | 'afterMark'> | undefined {
  return LAST_CHANGE(db).get({ realPath })
}

/** CHECKs of the table guarantee which columns are set together. */
function changeOf({ seq, id, jobId, agentId, callId, op, state, binary, own, trashed, ...row }: Row): FileChangeRecord {
  return {
    seq,
    id,
    jobId,
    agentId,
    callId,
    op,
    state,
    binary,
    own,
    trashed,
    at: { folder: row.folder, parts: row.parts, shown: row.shown, realPath: row.realPath },
    from:
      row.fromRealPath === null
        ? null
        : { folder: row.fromFolder!, parts: row.fromParts!, shown: row.fromShown!, realPath: row.fromRealPath },
    before: stateOf(row.beforeMark, row.beforeSize, row.beforeMode),
    after: stateOf(row.afterMark, row.afterSize, row.afterMode),
  }
}

function stateOf(mark: string | null, size: number | null, mode: number | null): ContentState | null {
  return mark === null ? null : { mark, size: size!, mode: mode! }
}
