import { bytesText } from '../../../resources/locales/numbers.ts'
import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isCodePlace } from '../../platform/protected-places/protected-places.ts'
import { findRealPath, withSpot, type FileSpot } from '../files/file-spot.ts'
import { findFile, KEPT_BYTES, type FileState, type FoundFile } from '../files/file-state.ts'
import { PathRefused, showPlace } from '../files/folder-paths.ts'
import { draftNameFor, type EarlierRun, type FileJournal, type IntendedChange, type JournalPath } from './file-journal.ts'
import { placeFor } from './reading.ts'
import { NO_EFFECTS, type ToolContext, type ToolFacts, type ToolOutput } from './tool.ts'

// What the tools that change files share.

export const MAKE_FOLDERS_HELP = 'Create missing folders on the way. Default: false.'

/** The result of the call if an earlier attempt made it. null: run it. */
export async function answerOfEarlierRun(context: ToolContext, wordsFor: (run: EarlierRun) => string): Promise<ToolOutput | null> {
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

/** Throws PathRefused, also if nothing is there. */
export function withFoundFile<T>(context: ToolContext, path: string, use: (spot: FileSpot, found: FoundFile) => Promise<T>): Promise<T> {
  return withSpot(placeFor(path, context), {}, async (spot) => {
    const found = await findFile(spot)
    if (found === null) throw new PathRefused(`There is no file '${showPlace(spot.place)}'.`)
    return use(spot, found)
  })
}

/** What is at the target of a write or a move now. Changes nothing. */
export async function lookAtTarget(
  context: ToolContext,
  path: string,
  makeFolders = false,
): Promise<{ shown: string; realPath: string; runsLater: boolean; found: FoundFile | null; foreign: boolean }> {
  try {
    return await withSpot(placeFor(path, context), {}, async (spot) => {
      const found = await findFile(spot)
      const foreign = found !== null && isForeign(context, spot, found.state)
      return { shown: showPlace(spot.place), realPath: spot.realPath, runsLater: await runsLater(spot), found, foreign }
    })
  } catch (thrown) {
    if (!(thrown instanceof PathRefused && thrown.missing && makeFolders)) throw thrown
    const place = placeFor(path, context)
    const realPath = await findRealPath(place)
    return { shown: showPlace(place), realPath, runsLater: await runsLater({ place, realPath }), found: null, foreign: false }
  }
}

/** Whether a file there runs by itself later, judged by its real path and by the path that was given. */
export async function runsLater({ place, realPath }: Pick<FileSpot, 'place' | 'realPath'>): Promise<boolean> {
  const folder = await realpath(place.folder.path)
  const paths = new Set([realPath, join(folder, ...place.parts)])
  return (await Promise.all([...paths].map((path) => isCodePlace({ path, folder })))).includes(true)
}

export function changeOf(
  op: IntendedChange['op'],
  spot: FileSpot,
  found: FoundFile | null,
  after: { state: FileState; bytes: Uint8Array } | null,
): IntendedChange {
  return {
    ...{ op, at: journalPathOf(spot), from: null, before: found?.state ?? null, after: after?.state ?? null },
    ...{ bytesBefore: found?.bytes ?? null, bytesAfter: after?.bytes ?? null, binary: found?.binary ?? false },
  }
}

/** Records the change, makes it, and records that it was made. */
export async function changeJournaled(
  context: ToolContext,
  change: IntendedChange,
  effect: (draft: string) => Promise<{ trashed: boolean } | void>,
): Promise<{ trashed: boolean }> {
  const entry = await journalOf(context).begin(context.callId, change)
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

export function journalPathOf({ place, realPath }: FileSpot): JournalPath {
  return { folder: place.folder.path, parts: place.parts, shown: showPlace(place), realPath }
}

type TouchedFiles = Pick<ToolFacts, 'subject' | 'paths'> & { effectOn: Message } & Partial<ToolFacts>

/**
 * The facts of a call. A call that an earlier attempt made does nothing more. Throws PathRefused if the call cannot work,
 * so that nobody is asked about it.
 */
export async function factsFor({ journal, callId }: ToolContext, describe: () => Promise<TouchedFiles>): Promise<ToolFacts> {
  const earlier = (await journal?.findEarlierRun(callId)) ?? null
  if (earlier === null) {
    const { runsLater: later = false, ...touched } = await describe()
    return { ...NO_EFFECTS, ...touched, ...(later ? { runsCode: true, runsLater: true } : {}) }
  }
  return { ...NO_EFFECTS, subject: earlier.shown, effectOn: createMessage('effect_done_before', { path: earlier.shown }) }
}

/** What is at this place, for the approval to be bound to. */
export function foundAt({ journal }: ToolContext, realPath: string, state: FileState | null): NonNullable<ToolFacts['found']>[number] {
  const mark = state?.mark ?? null
  return { path: realPath, mark, ...(mark !== null && journal?.isOfJob(realPath, mark) === true ? { ofJob: true } : {}) }
}

/**
 * The last look before a change: throws PathRefused if something else is there than the call was allowed for. After it,
 * `putFile`, `moveFile` and `removeFile` still compare inode, size and time.
 */
export async function requireAsJudged({ judged }: ToolContext, spot: FileSpot, state: FileState | null): Promise<void> {
  if (judged === undefined) return
  const known = judged.found?.find(({ path }) => path === spot.realPath)
  // Another job may have made the folder a repository meanwhile.
  const isWorse = judged.runsLater !== true && (await runsLater(spot))
  if (isWorse || known === undefined || known.mark !== (state?.mark ?? null))
    throw new PathRefused(`'${showPlace(spot.place)}' was changed by something else just now. Look at it again.`)
}

/** Whether the content is not this agent's own work. */
export function isForeign({ journal }: ToolContext, spot: FileSpot, { mark }: FileState): boolean {
  return journal?.isOwn(spot.realPath, mark) !== true
}

export function cannotBeUndone({ size }: Pick<FileState, 'size'>): boolean {
  return size > KEPT_BYTES
}

export function sizeWords(bytes: number): string {
  return bytesText(bytes, 'en')
}
