import { findFile } from '../../agent/files/file-state.ts'
import { openSpot } from '../../agent/files/file-spot.ts'
import { nameFolders, parsePath, PathRefused, showPlace, type NamedFolder } from '../../agent/files/folder-paths.ts'
import { openFileInside } from '../../agent/files/open-inside.ts'
import { putFile } from '../../agent/files/change-file.ts'

/** Files that people send to an agent, and files of the agent that are sent to people. Both lie in its folders. */

export type AgentFolders = { folders: readonly string[]; closedFolders: readonly string[] }

const FOLDER = 'Received'
const MOST_NAME_BYTES = 150
const MOST_COPIES = 1000
/** Not in the name of a file on one system or another, or not what it seems to be. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}<>:"/\\|?*]+/gu
const DEVICES = /^(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)(\.|$)/i

/**
 * Into the first of the folders that takes it. A file that is there already with the same content is that file: a message
 * that comes again after a crash leaves no second one. Answers the path as the agent can name it, or why there is none.
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
    } catch (thrown) {
      if (!(thrown instanceof PathRefused)) throw thrown
      problem = thrown.message.replace(/\.$/, '')
    }
  }
  return { problem }
}

/**
 * A file that a job handed over some time ago, as it is now. Between the two a program may have put a link in its place: it
 * is opened like any file that an agent reads, and what lies outside of the agent's folders is not sent.
 */
export async function readFileOfAgent(
  { folders, closedFolders }: AgentFolders,
  path: string,
  mostBytes: number,
): Promise<{ bytes: Uint8Array } | { problem: string }> {
  try {
    const place = parsePath(path, nameFolders(folders, { closedFolders }))
    if (place === null) return { problem: 'it is no file' }
    const file = await openFileInside(place)
    try {
      if (file.size > mostBytes) return { problem: `it is larger than the ${Math.round(mostBytes / 1_000_000)} MB that may be sent here` }
      return { bytes: await file.handle.readFile() }
    } finally {
      await file.close()
    }
  } catch (thrown) {
    if (thrown instanceof PathRefused) return { problem: 'it is not in a folder of this agent any more' }
    throw thrown
  }
}

async function putInto(folder: NamedFolder, name: string, bytes: Uint8Array): Promise<string> {
  for (let copy = 1; copy <= MOST_COPIES; copy++) {
    const place = { folder, parts: [FOLDER, copy === 1 ? name : numbered(name, copy)] }
    const spot = await openSpot(place, { makeFolders: true })
    try {
      const there = await spot.stat()
      if (there === null) {
        await putFile(spot, bytes, { expected: null, mode: null, draft: `.deckhand-received-${process.pid}.tmp` })
        return showPlace(spot.place)
      }
      if (there.isFile() && Number(there.size) === bytes.length && holds((await findFile(spot))?.bytes, bytes)) return showPlace(spot.place)
    } finally {
      await spot.close()
    }
  }
  throw new PathRefused(`There are too many files called ${name}.`)
}

function holds(there: Uint8Array | null | undefined, bytes: Uint8Array): boolean {
  return there !== null && there !== undefined && Buffer.compare(there, bytes) === 0
}

function numbered(name: string, copy: number): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? `${name.slice(0, dot)} (${copy})${name.slice(dot)}` : `${name} (${copy})`
}

/** Somebody else chose the name: it is one part of a path, shows what it is, and hides nothing. */
export function cleanFileName(name: string): string {
  const plain = name.normalize('NFC').replace(UNFIT, ' ').replace(/\s+/g, ' ').trim()
  const visible = plain.replace(/^[.\s]+/, '').replace(/[.\s]+$/, '')
  const safe = DEVICES.test(visible) ? `_${visible}` : visible
  return shortened(safe) || 'file'
}

/** The ending says how it is opened, so it stays. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= MOST_NAME_BYTES) return name
  const ending = /\.[^.\s]{1,12}$/.exec(name)?.[0] ?? ''
  let stem = ''
  for (const { segment } of new Intl.Segmenter('und').segment(name.slice(0, name.length - ending.length))) {
    if (Buffer.byteLength(stem + segment + ending) > MOST_NAME_BYTES) break
    stem += segment
  }
  return stem.trim() + ending
}
