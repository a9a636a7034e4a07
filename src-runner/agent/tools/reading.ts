import { createMessage } from '../../lib/messages.ts'
import { realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { nameFolders, parsePath, PathRefused, showName, showPlace, type Place } from '../files/folder-paths.ts'
import { NO_EFFECTS, type ToolContext, type ToolFacts } from './tool.ts'

type Folders = Pick<ToolContext, 'folders' | 'closedFolders'>

/** The place that a path names; without one, all of the agent's folders. Throws PathRefused. */
export function placesFor(path: string | undefined, { folders, closedFolders }: Folders): Place[] {
  const named = nameFolders(folders, { closedFolders })
  const place = parsePath(path ?? '', named)
  return place === null ? named.map((folder) => ({ folder, parts: [] })) : [place]
}

/** The place of one file. Throws PathRefused. */
export function placeFor(path: string, { folders, closedFolders }: Folders): Place {
  const place = parsePath(path, nameFolders(folders, { closedFolders }))
  if (place === null) throw new PathRefused('Name a file. list_files shows which there are.')
  return place
}

/** How the agent's folder names a real path, if that is another place than the one asked for. */
export async function realSubjectOf(asked: Place, realPath: string): Promise<Pick<ToolFacts, 'realSubject'>> {
  const { folder } = asked
  const root = await realpath(folder.path).catch(() => folder.path)
  const parts = relative(root, realPath).split(sep).filter((part) => part !== '') // prettier-ignore
  const realSubject = showPlace({ folder, parts })
  // What leads out of the folder is refused anyway.
  return parts[0] === '..' || realSubject === showPlace(asked) ? {} : { realSubject }
}

/** Whether the rules let this call show an entry of a folder at or below `start`, by its parts. null: they let it show every one. */
export async function scanFilterFor(
  start: Place,
  { judged, scanFilter }: ToolContext,
): Promise<((parts: readonly string[]) => boolean) | null> {
  const filter = judged === undefined ? null : (scanFilter?.(judged) ?? null)
  if (filter === null) return null
  const real = await realPathOf(start)
  const { realSubject = showPlace(start) } = await realSubjectOf(start, real)
  return (parts) => {
    const below = parts.slice(start.parts.length)
    return filter({
      subject: showPlace({ folder: start.folder, parts: [...parts] }),
      realSubject: `${realSubject}/${showName(below.join('/'))}`,
      paths: [join(real, ...below)],
    })
  }
}

export function rulesNote(skipped: number): string {
  return `${skipped} ${skipped === 1 ? 'entry' : 'entries'} that rules close to this call`
}

/** The tool itself reports a missing file. */
function realPathOf({ folder, parts }: Place): Promise<string> {
  const path = join(folder.path, ...parts)
  return realpath(path).catch(() => path)
}

/** The facts of a call that only reads. Links are resolved, so that a rule for a folder applies whichever way leads into it. */
export async function readingFacts(path: string | undefined, does: 'read' | 'search' | 'list', context: ToolContext): Promise<ToolFacts> {
  const places = placesFor(path, context)
  const subject = places.map(showPlace).join(', ')
  const paths = await Promise.all(places.map(realPathOf))
  return {
    ...NO_EFFECTS,
    subject,
    ...(places.length === 1 ? await realSubjectOf(places[0]!, paths[0]!) : {}),
    effectOn: createMessage(`effect_${does}`, { path: subject }),
    paths,
  }
}
