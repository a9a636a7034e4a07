import { createMessage } from '../../lib/messages.ts'
import { ArchiveRefused } from './archive-entries.ts'

const MAX_PATH_CHARS = 300
const MAX_NAME_BYTES = 150
const MAX_DEPTH = 12

/** Windows gives these names to devices, with any extension. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])$/i
/** Windows finds `.git` under this short name. */
const SHORT_NAME = /~\d/
/** Separators and wildcards of any system, control characters, and characters that nobody sees (direction marks, joiners). */
const FORBIDDEN = /[\\:*?"<>|]|\p{Cc}|\p{Cf}|\p{Cs}|\p{Co}|\p{Cn}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/u

type NameFault = 'empty' | 'absolute' | 'parent' | 'characters' | 'reserved' | 'ending' | 'long' | 'deep' | 'encoding'

/**
 * A path from a stranger, which then means the same place on every system: relative, `/` between names, normalized. Throws
 * ArchiveRefused.
 */
export function readPortablePath(given: string | Uint8Array): string {
  const text = typeof given === 'string' ? given : decode(given)
  const refuse = (why: NameFault): never => {
    throw new ArchiveRefused(createMessage('archive_bad_name', { path: shown(text), why }))
  }
  if (text === '') refuse('empty')
  if (!text.isWellFormed()) refuse('encoding')
  if (text.length > MAX_PATH_CHARS) refuse('long')
  if (/^([/\\]|[a-z]:)/i.test(text)) refuse('absolute')
  if (FORBIDDEN.test(text)) refuse('characters')
  const names = text.normalize('NFC').split('/')
  if (names.length > MAX_DEPTH) refuse('deep')
  for (const name of names) {
    if (name === '') refuse('empty')
    if (name === '.' || name === '..') refuse('parent')
    if (/[. ]$|^ /.test(name)) refuse('ending')
    if (isReservedName(name) || SHORT_NAME.test(name)) refuse('reserved')
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) refuse('long')
  }
  return names.join('/')
}

/** Whether Windows would open a device instead of a file of this name. */
export function isReservedName(name: string): boolean {
  return DEVICE.test(name.split('.')[0]!.trimEnd())
}

/** Throws ArchiveRefused if two paths are one file on some system, or one is a folder and a file. */
export function refuseTwins(paths: Iterable<string>): void {
  const spelled = new Map<string, string>()
  const folders = new Map<string, string>()
  const refuse = (path: string, other: string): never => {
    throw new ArchiveRefused(createMessage('archive_twins', { path, other }))
  }
  for (const path of paths) {
    const key = keyOf(path)
    const twin = spelled.get(key) ?? folders.get(key)
    if (twin !== undefined) refuse(path, twin)
    spelled.set(key, path)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end)
      const folderKey = keyOf(folder)
      const file = spelled.get(folderKey)
      if (file !== undefined) refuse(path, file)
      const known = folders.get(folderKey)
      if (known !== undefined && known !== folder) refuse(path, known)
      folders.set(folderKey, folder)
    }
  }
}

/** Equal for names that a file system may take for the same. */
function keyOf(path: string): string {
  return path.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ArchiveRefused(createMessage('archive_bad_name', { path: shown(Buffer.from(bytes).toString('latin1')), why: 'encoding' }))
  }
}

/** For a message: short, and every odd character as its number. */
function shown(path: string): string {
  const cut = path.length > 100 ? `${path.slice(0, 100)}…` : path
  return cut.toWellFormed().replace(/[^\p{L}\p{N}\p{M}\p{P}\p{S} ]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
}
