import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { syncFolder } from '../../../platform/db/sync-files.ts'

/** Named texts. null: removed. */
export type LinkChanges = Iterable<readonly [name: string, value: string | null]>

/** The keys by which WhatsApp recognises this device, and those of its end-to-end encrypted chats. */
export type LinkState = {
  get(name: string): string | undefined
  names(): Iterable<string>
  /** On disk when it returns. After an error nothing of it is stored. */
  write(changes: LinkChanges): void
  close(): void
}

const VERSION = 1
const LENGTH_BYTES = 4
const IV_BYTES = 12
const TAG_BYTES = 16
/** A file that has grown to more than twice its content and this is written again. */
const SLACK_BYTES = 512_000

/** There is one file for each channel. */
export function linkStateFile(dataDir: string, channelId: string): string {
  return join(dataDir, 'whatsapp', channelId)
}

export function createKey(): string {
  return randomBytes(32).toString('base64')
}

/** Creates an empty one, in place of an earlier one. */
export function createLinkState(file: string, key: string): LinkState {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  rmSync(file, { force: true })
  return keepState(file, key, new Map())
}

/** null: there is none, or it is cut, damaged, or sealed with another key. Never a part of one. Throws if the system refuses. */
export function openLinkState(file: string, key: string): LinkState | null {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const read = readRecords(file, key, bytes)
  return read === null ? null : keepState(file, key, read)
}

export function deleteLinkState(file: string): void {
  for (const path of [file, draftOf(file)]) rmSync(path, { force: true })
}

const draftOf = (file: string) => `${file}.part`

/**
 * The file is a record of everything, followed by one record for each later change. A record is whole or does not count, so a
 * kill loses at most the change whose `write` has not returned.
 */
function keepState(file: string, key: string, held: Map<string, string>): LinkState {
  let handle = -1
  let size = 0
  let wholeSize = 0
  let records = 0

  function writeWhole(): void {
    const draft = draftOf(file)
    const next = openSync(draft, 'w', 0o600)
    try {
      const record = seal(file, key, 0, [...held])
      writeAll(next, record, 0)
      fdatasyncSync(next)
      renameSync(draft, file)
      syncFolder(dirname(file))
      if (handle !== -1) closeSync(handle)
      ;[handle, size, wholeSize, records] = [next, record.length, record.length, 1]
    } catch (error) {
      closeSync(next)
      throw error
    }
  }

  writeWhole()
  return {
    get: (name) => held.get(name),
    names: () => held.keys(),
    write(changes) {
      const list = [...changes].filter(([name, value]) => value !== (held.get(name) ?? null))
      if (list.length === 0) return
      const record = seal(file, key, records, list)
      try {
        writeAll(handle, record, size)
        fdatasyncSync(handle)
      } catch (error) {
        ftruncateSync(handle, size)
        throw error
      }
      size += record.length
      records++
      apply(held, list)
      try {
        if (size > wholeSize * 2 + SLACK_BYTES) writeWhole()
      } catch {
        // The change itself is stored. The next one tries again.
      }
    },
    close() {
      if (handle !== -1) closeSync(handle)
      handle = -1
    },
  }
}

function readRecords(file: string, key: string, bytes: Buffer): Map<string, string> | null {
  const held = new Map<string, string>()
  let records = 0
  for (let at = 0; at < bytes.length; records++) {
    const end = at + LENGTH_BYTES + (at + LENGTH_BYTES <= bytes.length ? bytes.readUInt32BE(at) : Infinity)
    const changes = end <= bytes.length ? open(file, key, records, bytes.subarray(at + LENGTH_BYTES, end)) : null
    if (changes === null) {
      // The last record may be cut or blank, because nothing depended on it yet. Anything else is damage.
      const isLast = end >= bytes.length || bytes.subarray(at).every((byte) => byte === 0)
      return records > 0 && isLast ? held : null
    }
    apply(held, changes)
    at = end
  }
  return records === 0 ? null : held
}

function apply(held: Map<string, string>, changes: LinkChanges): void {
  for (const [name, value] of changes) {
    if (value === null) held.delete(name)
    else held.set(name, value)
  }
}

/** A record is bound to its file and its place, so it cannot be moved or left out unnoticed. */
function boundTo(file: string, index: number): Buffer {
  return Buffer.from(`${VERSION} ${basename(file)} ${index}`)
}

function seal(file: string, key: string, index: number, changes: readonly (readonly [string, string | null])[]): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'base64'), iv).setAAD(boundTo(file, index))
  const sealed = Buffer.concat([cipher.update(JSON.stringify(changes), 'utf8'), cipher.final()])
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(IV_BYTES + sealed.length + TAG_BYTES)
  return Buffer.concat([length, iv, sealed, cipher.getAuthTag()])
}

function open(file: string, key: string, index: number, record: Buffer): [string, string | null][] | null {
  if (record.length < IV_BYTES + TAG_BYTES) return null
  try {
    const cipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'base64'), record.subarray(0, IV_BYTES))
    cipher.setAAD(boundTo(file, index)).setAuthTag(record.subarray(-TAG_BYTES))
    const text = Buffer.concat([cipher.update(record.subarray(IV_BYTES, -TAG_BYTES)), cipher.final()]).toString('utf8')
    return JSON.parse(text) as [string, string | null][]
  } catch {
    return null
  }
}

function writeAll(handle: number, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length;) written += writeSync(handle, bytes, written, bytes.length - written, position + written)
  // What follows is from an earlier change that failed.
  if (fstatSync(handle).size > position + bytes.length) ftruncateSync(handle, position + bytes.length)
}
