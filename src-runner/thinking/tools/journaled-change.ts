import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isCodePlace } from '../../base/protected-places/protected-places.ts'
import { say } from '../../kit/said.ts'
import { findRealPath, openSpot, type FileSpot } from '../folder-access/file-spot.ts'
import { findFile, KEPT_BYTES, type FileState, type FoundFile } from '../folder-access/file-state.ts'
import { nameFolders, parsePath, PathRefused, showPlace, type Place } from '../folder-access/folder-paths.ts'
import { draftNameFor, type EarlierRun, type FileJournal, type IntendedChange, type JournalPath } from './file-journal.ts'
import type { ToolContext, ToolFacts, ToolOutput } from './tool.ts'

/** What the tools that change files share: how they come to a file, ask the journal, and tell what they would do. */

export const MAKE_FOLDERS_HELP = 'Make the folders on the way that are missing. Default: false.'

/** What became of the call in an attempt that was cut off, as an answer; null: it has to be run. */
export async function answerOfEarlierRun(context: ToolContext, wordsFor: (run: EarlierRun) => string): Promise<ToolOutput | null> {
  const earlier = await journalOf(context).findEarlierRun(context.callId)
  if (earlier === null) return null
  if (earlier.outcome === 'done') return { ok: true, output: wordsFor(earlier) }
  return {
    ok: false,
    output: `The app stopped while this ran, and '${earlier.shown}' is now neither as it was nor as it was to be. Nothing was done again. Look at it before you go on.`,
  }
}

export function journalOf({ journal }: ToolContext): FileJournal {
  if (journal === undefined) throw new Error('Files cannot be changed here: nothing keeps what was in them.')
  return journal
}

/** Opens the place for the time of `use`. Throws PathRefused. */
export async function withFile<T>(
  context: ToolContext,
  path: string,
  options: { makeFolders?: boolean },
  use: (spot: FileSpot) => Promise<T>,
): Promise<T> {
  const spot = await openSpot(placeFor(context, path), options)
  try {
    return await use(spot)
  } finally {
    await spot.close()
  }
}

function placeFor({ folders, closedFolders }: ToolContext, path: string): Place {
  const place = parsePath(path, nameFolders(folders, { closedFolders }))
  if (place === null) throw new PathRefused(say('path_names_no_file'))
  return place
}

/** What is where a file is to be, without making anything. */
export async function lookAtTarget(
  context: ToolContext,
  path: string,
  makeFolders = false,
): Promise<{ shown: string; realPath: string; runsLater: boolean; found: FoundFile | null; foreign: boolean }> {
  try {
    return await withFile(context, path, {}, async (spot) => {
      const found = await findFile(spot)
      return {
        shown: showPlace(spot.place),
        realPath: spot.realPath,
        runsLater: await runsLater(spot),
        found,
        foreign: found !== null && isForeign(context, spot, found.state),
      }
    })
  } catch (thrown) {
    if (!(thrown instanceof PathRefused && thrown.missing && makeFolders)) throw thrown
    const place = placeFor(context, path)
    const realPath = await findRealPath(place)
    return { shown: showPlace(place), realPath, runsLater: await runsLater({ place, realPath }), found: null, foreign: false }
  }
}

/** Whether a file there runs by itself later, by where it really is or by the name under which it is reached. */
export async function runsLater({ place, realPath }: Pick<FileSpot, 'place' | 'realPath'>): Promise<boolean> {
  const folder = await realpath(place.folder.path)
  const paths = new Set([realPath, join(folder, ...place.parts)])
  return (await Promise.all([...paths].map((path) => isCodePlace({ path, folder })))).includes(true)
}

/** Opens the file for the time of `use`. Throws PathRefused when nothing is there. */
export function withFoundFile<T>(context: ToolContext, path: string, use: (spot: FileSpot, found: FoundFile) => Promise<T>): Promise<T> {
  return withFile(context, path, {}, async (spot) => {
    const found = await findFile(spot)
    if (found === null) throw new PathRefused(say('path_no_such_file', { path: showPlace(spot.place) }))
    return use(spot, found)
  })
}

/** Writes down what is about to happen, makes it happen, and writes down that it did. */
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

const NO_FACTS: Omit<ToolFacts, 'subject' | 'paths' | 'summary'> = {
  leavesMachine: false,
  costsMoney: false,
  deletes: false,
  overwrites: false,
  runsCode: false,
}

type TouchedFiles = Pick<ToolFacts, 'subject' | 'paths' | 'summary' | 'effectOn'> & Partial<ToolFacts>

/**
 * What a call would do. Throws PathRefused for one that could do nothing: nobody has to be asked about it. A call that
 * an earlier attempt made already does nothing more.
 */
export async function factsFor({ journal, callId }: ToolContext, tell: () => Promise<TouchedFiles>): Promise<ToolFacts> {
  const earlier = (await journal?.findEarlierRun(callId)) ?? null
  if (earlier === null) {
    const { runsLater: later = false, ...touched } = await tell()
    return { ...NO_FACTS, ...touched, ...(later ? { runsCode: true, runsLater: true } : {}) }
  }
  const summary = `Nothing more: ${earlier.shown} was changed before the app stopped`
  return { ...NO_FACTS, subject: earlier.shown, paths: [], summary, effectOn: { code: 'done_before', path: earlier.shown } }
}

/** What is at this place, for an approval to be bound to. */
export function foundAt({ journal }: ToolContext, realPath: string, state: FileState | null): NonNullable<ToolFacts['found']>[number] {
  const mark = state?.mark ?? null
  return { path: realPath, mark, ...(mark !== null && journal?.isOfJob(realPath, mark) === true ? { ofJob: true } : {}) }
}

/**
 * The last look before a change: throws PathRefused when something else is there than the call was allowed for. Between this
 * and the change itself lies what `putFile` and its like compare in the same breath: inode, size and time.
 */
export async function requireAsJudged({ judged }: ToolContext, spot: FileSpot, state: FileState | null): Promise<void> {
  if (judged === undefined) return
  const known = judged.found?.find(({ path }) => path === spot.realPath)
  // Another job may have made the folder a repository meanwhile.
  const isWorse = judged.runsLater !== true && (await runsLater(spot))
  if (isWorse || known === undefined || known.mark !== (state?.mark ?? null))
    throw new PathRefused(say('path_changed_meanwhile', { path: showPlace(spot.place) }))
}

/** What stands there is not this agent's own work. */
export function isForeign({ journal }: ToolContext, spot: FileSpot, { mark }: FileState): boolean {
  return journal?.isOwn(spot.realPath, mark) !== true
}

export function cannotBeUndone({ size }: Pick<FileState, 'size'>): boolean {
  return size > KEPT_BYTES
}

/** A sentence for the person where undo will not be possible; else nothing. */
export function undoWarning({ size }: FileState): string {
  return cannotBeUndone({ size }) ? `. It is too large (${sizeWords(size)}) to be kept, so this cannot be undone` : ''
}

export function sizeWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  const [amount, unit] =
    bytes < 1024 ** 2 ? [bytes / 1024, 'KB'] : bytes < 1024 ** 3 ? [bytes / 1024 ** 2, 'MB'] : [bytes / 1024 ** 3, 'GB']
  return `${amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount)} ${unit}`
}
