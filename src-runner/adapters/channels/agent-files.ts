import { findFile } from '../../agent/files/file-state.ts'
import { openSpot } from '../../agent/files/file-spot.ts'
import { nameFolders, parsePath, PathRefused, showPlace, type NamedFolder } from '../../agent/files/folder-paths.ts'
import { openFileInside } from '../../agent/files/open-inside.ts'
import { putFile } from '../../agent/files/change-file.ts'

/** Files that people send to an agent, and the agent's files that are sent to people. All are in the agent's folders. */

export type AgentFolders = { folders: readonly string[]; closedFolders: readonly string[] }

const FOLDER = 'Received'
const MAX_NAME_BYTES = 150
const MAX_COPIES = 1000
/** Several channels may store files in one folder at the same time. */
let drafts = 0
/** Characters that some system does not allow in names, or that are invisible. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}<>:"/\\|?*]+/gu
const DEVICES = /^(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)(\.|$)/i

/**
 * Stores a file in the first folder that accepts it. If the same content is already there, that file is used: a message that
 * is repeated after a crash leaves no second copy. Returns the path as the agent names it, or why the file was not stored.
 */
export async function putReceivedFile(
  { folders, closedFolders }: AgentFolders,
  name: string,
  bytes: Uint8Array,
): Promise<{ path: string } | { problem: string }> {
  if (folders.length === 0) return { problem: 'this agent has no folder to put it in' }
  let problem = ''
  for (const folder of nameFolders(folders, { closedFolders })) {
    try {
      return { path: await putInto(folder, cleanFileName(name), bytes) }
    } catch (error) {
      if (!(error instanceof PathRefused)) throw error
      problem = error.message.replace(/\.$/, '')
    }
  }
  return { problem }
}

/**
 * Reads a file that a job sends, as it is now. A program may have replaced it with a link since, so it is opened like any
 * file that an agent reads, and nothing outside the agent's folders is sent.
 */
export async function readFileOfAgent(
  { folders, closedFolders }: AgentFolders,
  path: string,
  maxBytes: number,
): Promise<{ bytes: Uint8Array } | { problem: string }> {
  try {
    const place = parsePath(path, nameFolders(folders, { closedFolders }))
    if (place === null) return { problem: 'it is not a file' }
    const file = await openFileInside(place)
    try {
      if (file.size > maxBytes) return { problem: `it is larger than the ${Math.round(maxBytes / 1_000_000)} MB that may be sent here` }
      return { bytes: await file.handle.readFile() }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof PathRefused) return { problem: 'it is not in a folder of this agent any more' }
    throw error
  }
}

async function putInto(folder: NamedFolder, name: string, bytes: Uint8Array): Promise<string> {
  for (let copy = 1; copy <= MAX_COPIES; copy++) {
    const place = { folder, parts: [FOLDER, copy === 1 ? name : numbered(name, copy)] }
    const spot = await openSpot(place, { makeFolders: true })
    try {
      if ((await spot.stat()) === null) {
        try {
          await putFile(spot, bytes, { expected: null, mode: null, draft: `.deckhand-received-${process.pid}-${++drafts}.tmp` })
          return showPlace(spot.place)
        } catch (error) {
          // Another file may have got the name meanwhile.
          if (!(error instanceof PathRefused) || (await spot.stat()) === null) throw error
        }
      }
      const there = await spot.stat()
      const hasSameSize = there?.isFile() === true && Number(there.size) === bytes.length
      if (hasSameSize && (await findFile(spot))?.bytes?.compare(bytes) === 0) return showPlace(spot.place)
    } finally {
      await spot.close()
    }
  }
  throw new PathRefused(`There are too many files called ${name}.`)
}

function numbered(name: string, copy: number): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? `${name.slice(0, dot)} (${copy})${name.slice(dot)}` : `${name} (${copy})`
}

/** A stranger chose the name. The result is one part of a path, valid on every system, and visible. */
export function cleanFileName(name: string): string {
  const plain = name.normalize('NFC').replace(UNFIT, ' ').replace(/\s+/g, ' ').trim()
  const visible = plain.replace(/^[.\s]+/, '').replace(/[.\s]+$/, '')
  const safe = DEVICES.test(visible) ? `_${visible}` : visible
  return shorten(safe) || 'file'
}

/** Keeps the extension, which says how the file is opened. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  const extension = /\.[^.\s]{1,12}$/.exec(name)?.[0] ?? ''
  let stem = ''
  for (const { segment } of new Intl.Segmenter('und').segment(name.slice(0, name.length - extension.length))) {
    if (Buffer.byteLength(stem + segment + extension) > MAX_NAME_BYTES) break
    stem += segment
  }
  return stem.trim() + extension
}
