import { commitSoon } from '../platform/db/database.ts'
import type { Services } from '../platform/services.ts'
import type { Blobs } from '../domain/files/blobs.ts'
import {
  endChange,
  findChangeOfCall,
  isContentOfJob,
  isOwnContent,
  listStartedChanges,
  startChange,
  type ChangedPath,
  type FileChangeRecord,
} from '../domain/files/file-changes.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import { isSameFile, removeDraft } from '../agent/files/change-file.ts'
import { withSpot } from '../agent/files/file-spot.ts'
import { findFile, type FileState } from '../agent/files/file-state.ts'
import { PathRefused, type Place } from '../agent/files/folder-paths.ts'
import { draftNameFor, type EarlierRun, type FileJournal, type IntendedChange } from '../agent/tools/file-journal.ts'
import { commitClaimed } from './commit-claimed.ts'

export type JournalDeps = Pick<Services, 'db' | 'clock' | 'ids'> & {
  blobs: Blobs
  jobs: Pick<JobStore, 'isHeld'>
  closedFolders: readonly string[]
}

/** The journal of one attempt at a job. */
export function createFileJournal(deps: JournalDeps, { claim, agentId }: { claim: Claim; agentId: string }): FileJournal {
  const { db, blobs } = deps
  const { jobId } = claim
  return {
    async findEarlierRun(callId) {
      const earlier = findChangeOfCall(db, jobId, callId)
      if (earlier === null) return null
      const outcome = earlier.state === 'started' ? await resolveChange(deps, earlier) : earlier.state
      return outcome === 'void' ? null : earlierRunOf(earlier, outcome)
    },

    isOwn: (realPath, mark) => isOwnContent(db, agentId, realPath, mark),

    isOfJob: (realPath, mark) => isContentOfJob(db, jobId, realPath, mark),

    async begin(callId, change) {
      const release = blobs.hold([change.before, change.after].flatMap((state) => state?.mark ?? []))
      let id: string
      try {
        for (const [state, bytes] of [
          [change.before, change.bytesBefore],
          [change.after, change.bytesAfter],
        ] as const) {
          if (state !== null && bytes !== null) await blobs.keep(state.mark, bytes)
        }
        const record = { ...change, jobId, agentId, callId, own: isOwnAfter(deps, agentId, change) }
        id = await commitClaimed(deps, claim, (tx) => startChange(tx, deps, record))
      } finally {
        release()
      }
      return {
        done: (more) => commitSoon(db, (tx) => endChange(tx, deps, id, 'done', more)),
        failed: () => resolveStartedChange(deps, jobId, id),
      }
    },
  }
}

/** Settles started changes by looking at the files. Only for a job that does not run: otherwise a change may be under way. */
export async function resolveStartedChanges(deps: Omit<JournalDeps, 'jobs'>, jobId: string): Promise<void> {
  for (const change of listStartedChanges(deps.db, jobId)) await resolveChange(deps, change)
}

/** The same for one change that its caller has given up. */
export async function resolveStartedChange(deps: Omit<JournalDeps, 'jobs'>, jobId: string, id: string): Promise<void> {
  const change = listStartedChanges(deps.db, jobId).find((one) => one.id === id)
  if (change !== undefined) await resolveChange(deps, change)
}

async function resolveChange(deps: Omit<JournalDeps, 'jobs'>, change: FileChangeRecord): Promise<'done' | 'void' | 'unclear'> {
  await clearDraft(deps, change)
  const outcome = change.from === null ? await outcomeOfChange(deps, change) : await outcomeOfMove(deps, change, change.from)
  await commitSoon(deps.db, (tx) => endChange(tx, deps, change.id, outcome))
  return outcome
}

async function outcomeOfChange({ closedFolders }: Pick<JournalDeps, 'closedFolders'>, change: FileChangeRecord) {
  const now = await lookAt(change.at, closedFolders)
  if (now === 'other') return 'unclear'
  if (now?.mark === change.after?.mark) return 'done'
  return now?.mark === change.before?.mark ? 'void' : 'unclear'
}

async function outcomeOfMove(
  { closedFolders }: Pick<JournalDeps, 'closedFolders'>,
  change: FileChangeRecord,
  from: NonNullable<FileChangeRecord['from']>,
) {
  const [there, here] = await Promise.all([lookAt(from, closedFolders), lookAt(change.at, closedFolders)])
  if (there === 'other' || here === 'other') return 'unclear'
  if (there === null) return here?.mark === change.after?.mark ? 'done' : 'unclear'
  if (there.mark !== change.before?.mark) return 'unclear'
  if (here === null) return 'void'
  // One file under both names is half a move. Moving again finishes it.
  const stats = await Promise.all(
    [from, change.at].map((path) => withSpot(placeOf(path, closedFolders), {}, (spot) => spot.stat()).catch(() => null)),
  )
  return stats[0] !== null && isSameFile(stats[0]!, stats[1]!) ? 'void' : 'unclear'
}

async function clearDraft({ closedFolders }: Pick<JournalDeps, 'closedFolders'>, { jobId, callId, at }: FileChangeRecord): Promise<void> {
  try {
    await withSpot(placeOf(at, closedFolders), {}, (spot) => removeDraft(spot, draftNameFor(jobId, callId ?? 'undo')))
  } catch (thrown) {
    // The folder is gone, and so is the draft.
    if (!(thrown instanceof PathRefused)) throw thrown
  }
}

/** Written completely by this agent; or changed or moved by it, and its own before. */
function isOwnAfter({ db }: JournalDeps, agentId: string, { op, at, from, before, after }: IntendedChange): boolean {
  if (after === null) return false
  if (op === 'write' || before === null) return true
  return isOwnContent(db, agentId, (from ?? at).realPath, before.mark)
}

function earlierRunOf({ op, at, from, before, after, trashed }: FileChangeRecord, outcome: 'done' | 'unclear'): EarlierRun {
  if (op === 'undo') throw new Error('a call is never an undo')
  return { outcome, op, shown: at.shown, shownFrom: from?.shown ?? null, before, after, trashed }
}

/** A recorded place. Opening it refuses a path that leads elsewhere by now. */
export function placeOf({ folder, parts, shown }: ChangedPath, closedFolders: readonly string[]): Place {
  const name = shown.split('/')[0]!
  return { folder: { name, path: folder, closed: closedFolders }, parts: [...parts] }
}

/** null: nothing is there. `other`: not a plain file, or not accessible. */
async function lookAt(path: ChangedPath, closedFolders: readonly string[]): Promise<FileState | null | 'other'> {
  try {
    return await withSpot(placeOf(path, closedFolders), {}, async (spot) => (await findFile(spot))?.state ?? null)
  } catch (thrown) {
    if (!(thrown instanceof PathRefused)) throw thrown
    return thrown.missing ? null : 'other'
  }
}

/** Whether exactly this is there. */
export async function isThere(path: ChangedPath, expected: FileState | null, closedFolders: readonly string[]): Promise<boolean> {
  const now = await lookAt(path, closedFolders)
  return now !== 'other' && now?.mark === expected?.mark
}
