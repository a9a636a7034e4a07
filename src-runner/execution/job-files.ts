import type { Message } from '../contract/messages.ts'
import { commitSoon } from '../platform/db/database.ts'
import type { FileDiff, WrittenFile } from '../contract/files.ts'
import { TERMINAL_STATUSES, type Job } from '../contract/jobs.ts'
import { AppError } from '../lib/errors.ts'
import { createMessage, quote } from '../lib/messages.ts'
import { isKept, type Blobs } from '../domain/files/blobs.ts'
import { endChange, listChanges, startChange, type ChangedPath, type ContentState } from '../domain/files/file-changes.ts'
import { diffTexts } from '../domain/files/unified-diff.ts'
import { findTrail, trailOfCall, trailsOf, type PathTrail, type WrittenTrail } from '../domain/files/written-files.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import { moveFile, putFile, removeFile } from '../agent/files/change-file.ts'
import { withSpot } from '../agent/files/file-spot.ts'
import { findFile } from '../agent/files/file-state.ts'
import { PathRefused } from '../agent/files/folder-paths.ts'
import { decodeFile } from '../agent/files/text-of-file.ts'
import { draftNameFor } from '../agent/tools/file-journal.ts'
import { isThere, placeOf, resolveStartedChange, resolveStartedChanges, type JournalDeps } from './file-journal.ts'

export type JobFiles = ReturnType<typeof createJobFiles>

type JobFilesDeps = Omit<JournalDeps, 'jobs'> & { jobs: Pick<JobStore, 'getJob'> }

/** What jobs did to files, to view and undo. All throw AppError job_not_found. */
export function createJobFiles(deps: JobFilesDeps) {
  let last: Promise<unknown> = Promise.resolve()

  /**
   * One at a time: two undos of the same file would look like foreign changes to each other, and an undo under way like the rest
   * of a crash to those who list the files.
   */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }

  async function read(jobId: string): Promise<{ job: Job; trails: WrittenTrail[] }> {
    const job = deps.jobs.getJob(deps.db, jobId)
    if ((TERMINAL_STATUSES as readonly string[]).includes(job.status)) await resolveStartedChanges(deps, jobId)
    return { job, trails: trailsOf(listChanges(deps.db, jobId)) }
  }

  async function undo(jobId: string, path: string, force: boolean): Promise<WrittenFile> {
    const { job, trails } = await read(jobId)
    const trail = findTrail(trails, path) ?? notWritten()
    await requireUndoable(deps, trail, force)
    await undoTrail(deps, job, trail, force)
    await commitSoon(deps.db, (tx) =>
      tx.emit({ type: 'files.undone', payload: { jobId, agentId: job.agentId, conversationId: job.conversationId, path: trail.at.shown } }),
    )
    return writtenFileOf(deps, findTrail(trailsOf(listChanges(deps.db, jobId)), path) ?? notWritten())
  }

  return {
    async list(jobId: string): Promise<WrittenFile[]> {
      const files: WrittenFile[] = []
      for (const trail of (await inTurn(() => read(jobId))).trails) files.push(await writtenFileOf(deps, trail))
      return files
    },

    /** From the kept contents alone. Throws AppError file_not_written. */
    async diff(jobId: string, path: string, callId?: string): Promise<FileDiff> {
      deps.jobs.getJob(deps.db, jobId)
      const changes = listChanges(deps.db, jobId)
      const trail = callId === undefined ? findTrail(trailsOf(changes), path) : trailOfCall(changes, callId, path)
      return diffOf(deps, trail ?? notWritten())
    },

    /** Throws AppError file_not_written, file_changed_since, file_cannot_be_undone. */
    undo: (jobId: string, path: string, force: boolean) => inTurn(() => undo(jobId, path, force)),
  }
}

function notWritten(): never {
  throw new AppError('file_not_written')
}

async function writtenFileOf(deps: JobFilesDeps, trail: WrittenTrail): Promise<WrittenFile> {
  const obstacle = await obstacleTo(deps, trail)
  return {
    path: trail.at.shown,
    change: trail.change,
    movedFrom: trail.origin?.at.shown ?? null,
    callIds: trail.origin === null ? trail.callIds : [...new Set([...trail.origin.callIds, ...trail.callIds])],
    binary: trail.binary,
    sizeBefore: trail.from?.size ?? null,
    sizeAfter: trail.left?.size ?? null,
    undoable: obstacle === null && (await isAsLeft(deps, trail)),
    whyNoUndo: obstacle?.code === 'undo_deleted' ? obstacle : null,
    undone: trail.undone,
  }
}

async function diffOf({ blobs }: JobFilesDeps, trail: WrittenTrail): Promise<FileDiff> {
  const path = trail.at.shown
  const head = { path, change: trail.change, binary: trail.binary }
  if (trail.binary) return { ...head, diff: '', truncated: false }
  const names = {
    before: trail.from === null ? '/dev/null' : `a/${trail.origin?.at.shown ?? path}`,
    after: trail.left === null ? '/dev/null' : `b/${path}`,
  }
  if (trail.from?.mark === trail.left?.mark) return { ...head, diff: diffTexts(names, '', '').text, truncated: false }
  const [before, after] = await Promise.all([contentOf(blobs, trail.from), contentOf(blobs, trail.left)])
  // Too large to have been kept.
  if (before === null || after === null) return { ...head, diff: '', truncated: true }
  const [old, now] = [decodeFile(before), decodeFile(after)]
  if (old === null || now === null) return { ...head, binary: true, diff: '', truncated: false }
  const { text, truncated } = diffTexts(names, old, now)
  return { ...head, diff: text, truncated }
}

function contentOf(blobs: Blobs, state: ContentState | null): Promise<Buffer | null> {
  return state === null ? Promise.resolve(Buffer.alloc(0)) : blobs.read(state.mark)
}

/** Whether the file, and its former place, are as the job left them. */
async function isAsLeft({ closedFolders }: JobFilesDeps, trail: PathTrail): Promise<boolean> {
  if (!(await isThere(trail.at, trail.now, closedFolders))) return false
  return trail.origin === null || isThere(trail.origin.at, trail.origin.now, closedFolders)
}

/** Why the former content cannot be restored. null: it can. */
async function obstacleTo({ blobs }: JobFilesDeps, trail: PathTrail): Promise<Message | null> {
  if (trail.undone) return createMessage('undone_already')
  const { at, origin } = trail
  if (origin === null && trail.before?.mark === trail.now?.mark) return createMessage('undo_nothing', { path: at.shown })
  const moved = origin !== null && origin.before?.mark === trail.now?.mark
  for (const state of [trail.before, moved ? null : (origin?.before ?? null)]) {
    if (state === null || (await blobs.has(state.mark))) continue
    return isKept(state.mark)
      ? createMessage('undo_deleted', { path: at.shown })
      : createMessage('undo_too_large', { path: at.shown, size: state.size })
  }
  return null
}

async function requireUndoable(deps: JobFilesDeps, trail: PathTrail, force: boolean): Promise<void> {
  const obstacle = await obstacleTo(deps, trail)
  if (obstacle !== null) throw new AppError('file_cannot_be_undone', obstacle)
  if (!force && !(await isAsLeft(deps, trail)))
    throw new AppError('file_changed_since', createMessage('file_changed', { path: trail.at.shown }))
}

/** Restores the former content before it removes what the job left, so that a file is never in neither place. */
async function undoTrail(deps: JobFilesDeps, job: Job, trail: PathTrail, force: boolean): Promise<void> {
  const { origin } = trail
  if (origin !== null && origin.before?.mark === trail.now?.mark && !force) {
    await moveBack(deps, job, trail, origin)
    if (trail.before === null) return
  } else if (origin !== null) {
    await putBack(deps, job, origin.at, origin.before, trail.binary)
  }
  await putBack(deps, job, trail.at, trail.before, trail.binary)
}

async function putBack(deps: JobFilesDeps, job: Job, at: ChangedPath, state: ContentState | null, binary: boolean): Promise<void> {
  const bytes = state === null ? null : await deps.blobs.read(state.mark)
  if (state !== null && bytes === null) throw new AppError('file_cannot_be_undone', createMessage('undo_not_kept', { path: at.shown }))
  await explained(() =>
    withSpot(placeOf(at, deps.closedFolders), { makeFolders: state !== null }, async (spot) => {
      const found = await findFile(spot)
      const release = deps.blobs.hold([found, { state }].flatMap((one) => one?.state?.mark ?? []))
      try {
        if (found?.bytes) await deps.blobs.keep(found.state.mark, found.bytes)
        const entry = { at, from: null, before: found?.state ?? null, after: state, binary }
        await recorded(deps, job, entry, async () => {
          if (found?.state.mark === state?.mark) return
          if (bytes !== null && state !== null)
            await putFile(spot, bytes, { expected: found?.stats ?? null, mode: state.mode, draft: draftNameFor(job.id, 'undo') })
          else if (found !== null) await removeFile(spot, found.stats)
        })
      } finally {
        release()
      }
    }),
  )
}

async function moveBack(deps: JobFilesDeps, job: Job, trail: PathTrail, origin: PathTrail): Promise<void> {
  await explained(() =>
    withSpot(placeOf(trail.at, deps.closedFolders), {}, (source) =>
      withSpot(placeOf(origin.at, deps.closedFolders), { makeFolders: true }, async (target) => {
        const found = await findFile(source)
        if (found === null) return
        const entry = { at: origin.at, from: trail.at, before: found.state, after: found.state, binary: trail.binary }
        await recorded(deps, job, entry, () => moveFile(source, target, { expected: found.stats, draft: draftNameFor(job.id, 'undo') }))
      }),
    ),
  )
}

type Undo = Pick<Parameters<typeof startChange>[2], 'at' | 'from' | 'before' | 'after' | 'binary'>

async function recorded(deps: JobFilesDeps, job: Job, entry: Undo, effect: () => Promise<void>): Promise<void> {
  const { db } = deps
  const id = await commitSoon(db, (tx) =>
    startChange(tx, deps, { ...entry, op: 'undo', jobId: job.id, agentId: job.agentId, callId: null, own: false }),
  )
  try {
    await effect()
  } catch (thrown) {
    await resolveStartedChange(deps, job.id, id)
    throw thrown
  }
  await commitSoon(db, (tx) => endChange(tx, deps, id, 'done'))
}

async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    throw thrown instanceof PathRefused ? new AppError('file_cannot_be_undone', quote(thrown.message), { cause: thrown }) : thrown
  }
}
