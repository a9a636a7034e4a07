import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesText } from '../../../resources/locales/numbers.ts'
import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'
import { isCodePlace } from '../../platform/protected-places/protected-places.ts'
import { findRealPath, withSpot, type FileSpot } from '../files/file-spot.ts'
import { findFile, KEPT_BYTES, type FileState, type FoundFile } from '../files/file-state.ts'
import { PathRefused, showPlace } from '../files/folder-paths.ts'
import { draftNameFor, type EarlierRun, type FileJournal, type FileOp, type JournalPath } from './file-journal.ts'
import { placeFor, realSubjectOf } from './reading.ts'
import { NO_EFFECTS, type ToolContext, type ToolFacts, type ToolOutput } from './tool.ts'

// What the tools that change files share.

export const MAKE_FOLDERS_HELP = 'Create missing folders on the way. Default: false.'

type Target = Awaited<ReturnType<typeof targetAt>>
type OpenTarget = Target & { spot: FileSpot }

/** Throws PathRefused. */
export function withTarget<T>(
  context: ToolContext,
  path: string,
  options: { makeFolders?: boolean },
  use: (target: OpenTarget) => Promise<T>,
): Promise<T> {
  return withSpot(placeFor(path, context), options, async (spot) => {
    return use({ ...(await targetAt(context, spot, await findFile(spot))), spot })
  })
}

/** Throws PathRefused, also if nothing is there. */
export function withFoundFile<T>(
  context: ToolContext,
  path: string,
  use: (target: OpenTarget & { found: FoundFile }) => Promise<T>,
): Promise<T> {
  return withTarget(context, path, {}, async (target) => {
    const { found } = target
    if (found === null) throw new PathRefused(`There is no file '${target.shown}'.`)
    return use({ ...target, found })
  })
}

/** The target of a write or a move, whose folders may be missing. Changes nothing. */
export async function findTarget(context: ToolContext, path: string, makeFolders = false): Promise<Target> {
  try {
    return await withTarget(context, path, {}, (target) => Promise.resolve(target))
  } catch (thrown) {
    if (!(thrown instanceof PathRefused && thrown.missing && makeFolders)) throw thrown
    const place = placeFor(path, context)
    return targetAt(context, { place, realPath: await findRealPath(place) }, null)
  }
}

type At = Pick<FileSpot, 'place' | 'realPath'>

/** A place that a call would change, and what is there now. `found` null: nothing. */
async function targetAt({ journal }: ToolContext, at: At, found: FoundFile | null) {
  const { realPath } = at
  const shown = showPlace(at.place)
  const mark = found?.state.mark ?? null
  const ofJob = mark !== null && journal?.isOfJob(realPath, mark) === true
  return {
    /** How the model and the person read the path. */
    shown,
    found,
    /** The content is not this agent's own work. */
    isForeign: mark !== null && journal?.isOwn(realPath, mark) !== true,
    /** What the facts of the call say of this place. An approval is bound to `found`. */
    facts: {
      subject: shown,
      ...(await realSubjectOf(at.place, realPath)),
      paths: [realPath],
      found: [{ path: realPath, mark, ...(ofJob ? { ofJob } : {}) }],
      runsLater: await runsLater(at),
    },
  }
}

/** Whether a file there runs by itself later, judged by its real path and by the path that was given. */
async function runsLater({ place, realPath }: At): Promise<boolean> {
  const folder = await realpath(place.folder.path)
  const paths = new Set([realPath, join(folder, ...place.parts)])
  return (await Promise.all([...paths].map((path) => isCodePlace({ path, folder })))).includes(true)
}

/**
 * The facts of a call. A call that an earlier attempt made does nothing more. Throws PathRefused if the call cannot work,
 * so that nobody is asked about it.
 */
export async function factsFor(
  { journal, callId }: ToolContext,
  describe: () => Promise<Target['facts'] & { effectOn: Message; deletes?: boolean; overwrites?: boolean }>,
): Promise<ToolFacts> {
  const earlier = (await journal?.findEarlierRun(callId)) ?? null
  if (earlier === null) {
    const { runsLater: later, ...touched } = await describe()
    return { ...NO_EFFECTS, ...touched, ...(later ? { runsCode: true, runsLater: true } : {}) }
  }
  return { ...NO_EFFECTS, subject: earlier.shown, effectOn: createMessage('effect_done_before', { path: earlier.shown }) }
}

/** The result of the call if an earlier attempt made it. null: run it. */
export async function resultOfEarlierRun(context: ToolContext, wordsFor: (run: EarlierRun) => string): Promise<ToolOutput | null> {
  const earlier = await journalOf(context).findEarlierRun(context.callId)
  if (earlier === null) return null
  if (earlier.outcome === 'done') return { ok: true, output: wordsFor(earlier) }
  return {
    ok: false,
    output: `The app stopped while this call ran. '${earlier.shown}' is now neither as it was before nor as the call wanted it. The call was not repeated. Look at the file before you continue.`,
  }
}

function journalOf({ journal }: ToolContext): FileJournal {
  if (journal === undefined) throw new Error('Files cannot be changed here: nothing keeps what was in them.')
  return journal
}

/**
 * The last check before a change: throws PathRefused if something else is there than the call was allowed for. After it,
 * `putFile`, `moveFile` and `removeFile` still compare inode, size and time.
 */
export function requireAsJudged({ judged }: ToolContext, { shown, facts }: Target): void {
  if (judged === undefined) return
  const [{ path, mark } = { path: '', mark: '' }] = facts.found
  const allowed = judged.found?.find((one) => one.path === path)
  // Another job may have made the folder a repository meanwhile.
  const isWorse = facts.runsLater && judged.runsLater !== true
  if (isWorse || allowed === undefined || allowed.mark !== mark)
    throw new PathRefused(`'${shown}' was changed by something else just now. Look at it again.`)
}

type Change = {
  op: FileOp
  /** The content to write, with the state that it will have. */
  after?: { state: FileState; bytes: Uint8Array }
  /** The source of a move, where `found` is. */
  from?: FileSpot
}

/** Records the change, makes it, and records that it was made. */
export async function changeJournaled(
  context: ToolContext,
  { spot, found }: Pick<OpenTarget, 'spot' | 'found'>,
  { op, after, from }: Change,
  effect: (draft: string) => Promise<{ trashed: boolean } | void>,
): Promise<{ trashed: boolean }> {
  const entry = await journalOf(context).begin(context.callId, {
    op,
    at: journalPathOf(spot),
    from: from === undefined ? null : journalPathOf(from),
    before: found?.state ?? null,
    after: (from === undefined ? after?.state : found?.state) ?? null,
    bytesBefore: (from === undefined ? found?.bytes : null) ?? null,
    bytesAfter: after?.bytes ?? null,
    binary: found?.binary ?? false,
  })
  let more: { trashed: boolean }
  try {
    context.signal.throwIfAborted()
    more = (await effect(draftNameFor(context.jobId, context.callId))) ?? { trashed: false }
  } catch (thrown) {
    await entry.failed()
    throw thrown
  }
  await entry.done(more)
  return more
}

function journalPathOf({ place, realPath }: FileSpot): JournalPath {
  return { folder: place.folder.path, parts: place.parts, shown: showPlace(place), realPath }
}

/** The parameters of a message about a file: its size, and whether its content is too large to be restored. */
export function sizeFacts({ state }: FoundFile): { bytes: number; lost: 'yes' | 'no' } {
  return { bytes: state.size, lost: state.size > KEPT_BYTES ? 'yes' : 'no' }
}

export function sizeText(bytes: number): string {
  return bytesText(bytes, 'en')
}
