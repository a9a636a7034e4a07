import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Ids } from '../../kit/ids.ts'

/** What is in a file, in short: see `FileState` of the tools. null stands for no file. */
export type ContentState = { mark: string; size: number; mode: number }
export type ChangedPath = { folder: string; parts: readonly string[]; shown: string; realPath: string }

export type NewFileChange = {
  jobId: string
  agentId: string
  callId: string | null
  op: 'write' | 'edit' | 'move' | 'delete' | 'undo'
  at: ChangedPath
  from: ChangedPath | null
  before: ContentState | null
  after: ContentState | null
  binary: boolean
  own: boolean
}
export type ChangeState = 'started' | 'done' | 'void' | 'unclear'
export type FileChangeRecord = NewFileChange & { seq: number; id: string; state: ChangeState; trashed: boolean }

type Row = {
  seq: number
  id: string
  job_id: string
  agent_id: string
  call_id: string | null
  op: NewFileChange['op']
  state: ChangeState
  folder: string
  parts: string
  shown: string
  real_path: string
  from_folder: string | null
  from_parts: string | null
  from_shown: string | null
  from_real_path: string | null
  before_mark: string | null
  before_size: number | null
  before_mode: number | null
  after_mark: string | null
  after_size: number | null
  after_mode: number | null
  binary: number
  own: number
  trashed: number
}

const Parts = z.array(z.string())

/** To be committed before the file is touched. Answers the id by which it is ended. */
export function startChange(tx: Tx, { clock, ids }: { clock: Clock; ids: Ids }, change: NewFileChange): string {
  const id = ids.next()
  const { at, from, before, after } = change
  tx.prepare(
    `INSERT INTO file_changes (id, job_id, agent_id, call_id, op, state, folder, parts, shown, real_path, from_folder, from_parts,
       from_shown, from_real_path, before_mark, before_size, before_mode, after_mark, after_size, after_mode, binary, own, started_at)
     VALUES (?, ?, ?, ?, ?, 'started', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    id,
    change.jobId,
    change.agentId,
    change.callId,
    change.op,
    at.folder,
    JSON.stringify(at.parts),
    at.shown,
    at.realPath,
    from?.folder ?? null,
    from === null ? null : JSON.stringify(from.parts),
    from?.shown ?? null,
    from?.realPath ?? null,
    before?.mark ?? null,
    before?.size ?? null,
    before?.mode ?? null,
    after?.mark ?? null,
    after?.size ?? null,
    after?.mode ?? null,
    change.binary ? 1 : 0,
    change.own ? 1 : 0,
    clock.now(),
  )
  return id
}

/** Whoever did it knows better than whoever only looked: a later ending counts. */
export function endChange(
  tx: Tx,
  { clock }: { clock: Clock },
  id: string,
  state: Exclude<ChangeState, 'started'>,
  { trashed = false }: { trashed?: boolean } = {},
): void {
  tx.prepare('UPDATE file_changes SET state = ?, trashed = ?, ended_at = ? WHERE id = ?').run(state, trashed ? 1 : 0, clock.now(), id)
}

/** All changes of a job, in order. */
export function listChanges(db: Db, jobId: string): FileChangeRecord[] {
  return db.prepare<Row>('SELECT * FROM file_changes WHERE job_id = ? ORDER BY seq').all(jobId).map(changeOf)
}

export function listStartedChanges(db: Db, jobId: string): FileChangeRecord[] {
  return db.prepare<Row>("SELECT * FROM file_changes WHERE job_id = ? AND state = 'started' ORDER BY seq").all(jobId).map(changeOf)
}

/** The last try of a call that was more than begun. */
export function findChangeOfCall(db: Db, jobId: string, callId: string): FileChangeRecord | null {
  const row = db
    .prepare<Row>("SELECT * FROM file_changes WHERE job_id = ? AND call_id = ? AND state <> 'void' ORDER BY seq DESC LIMIT 1")
    .get(jobId, callId)
  return row === undefined ? null : changeOf(row)
}

/** Whether the last recorded change of this path is the agent's, left this content, and left nothing of anybody else's in it. */
export function isOwnContent(db: Db, agentId: string, realPath: string, mark: string): boolean {
  const last = db
    .prepare<Pick<Row, 'agent_id' | 'own' | 'after_mark'>>(
      "SELECT agent_id, own, after_mark FROM file_changes WHERE real_path = ? AND state = 'done' ORDER BY seq DESC LIMIT 1",
    )
    .get(realPath)
  return last !== undefined && last.agent_id === agentId && last.own === 1 && last.after_mark === mark
}

/** Whether this job was the last to leave this content at the path. */
export function isContentOfJob(db: Db, jobId: string, realPath: string, mark: string): boolean {
  const last = db
    .prepare<Pick<Row, 'job_id' | 'after_mark'>>(
      "SELECT job_id, after_mark FROM file_changes WHERE real_path = ? AND state = 'done' ORDER BY seq DESC LIMIT 1",
    )
    .get(realPath)
  return last !== undefined && last.job_id === jobId && last.after_mark === mark
}

function changeOf(row: Row): FileChangeRecord {
  return {
    seq: row.seq,
    id: row.id,
    jobId: row.job_id,
    agentId: row.agent_id,
    callId: row.call_id,
    op: row.op,
    state: row.state,
    at: { folder: row.folder, parts: Parts.parse(JSON.parse(row.parts)), shown: row.shown, realPath: row.real_path },
    from:
      row.from_real_path === null
        ? null
        : {
            folder: row.from_folder!,
            parts: Parts.parse(JSON.parse(row.from_parts!)),
            shown: row.from_shown!,
            realPath: row.from_real_path,
          },
    before: stateOf(row.before_mark, row.before_size, row.before_mode),
    after: stateOf(row.after_mark, row.after_size, row.after_mode),
    binary: row.binary === 1,
    own: row.own === 1,
    trashed: row.trashed === 1,
  }
}

function stateOf(mark: string | null, size: number | null, mode: number | null): ContentState | null {
  return mark === null ? null : { mark, size: size!, mode: mode! }
}
