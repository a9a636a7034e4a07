import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { createBudget, refuseDamaged, refuseLink, refuseTooLarge } from './archive-entries.ts'
import type { ArchiveLimits, PackedFile, PickEntry } from './archive-entries.ts'
import { readPortablePath } from './portable-path.ts'

const BLOCK = 512
const MAX_EXTENDED_BYTES = 64 * 1024
const unzip = promisify(gunzip)

/** The files of a tar archive, gzipped or not. Throws ArchiveRefused. */
export async function readTar(packed: Buffer, limits: ArchiveLimits, pick: PickEntry): Promise<PackedFile[]> {
  if (packed.length > limits.packedBytes) refuseTooLarge(limits.packedBytes)
  return readEntries(packed[0] === 0x1f && packed[1] === 0x8b ? await unzipBounded(packed, limits) : packed, limits, pick)
}

async function unzipBounded(packed: Buffer, { bytes, entries }: ArchiveLimits): Promise<Buffer> {
  const most = bytes + Math.min(entries, 25_000) * 2 * BLOCK
  try {
    return await unzip(packed, { maxOutputLength: most })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') refuseTooLarge(bytes)
    return refuseDamaged('checksum')
  }
}

function readEntries(tar: Buffer, limits: ArchiveLimits, pick: PickEntry): PackedFile[] {
  const budget = createBudget(limits)
  const files: PackedFile[] = []
  /** From an extended header before the entry. */
  let longName: Buffer | string | null = null
  for (let at = 0; ;) {
    if (at + BLOCK > tar.length) refuseDamaged('cut')
    const head = tar.subarray(at, at + BLOCK)
    if (head.every((byte) => byte === 0)) return files
    requireChecksum(head)
    const size = readOctal(head.subarray(124, 136))
    const type = String.fromCharCode(head[156]!)
    const from = at + BLOCK
    if (from + size > tar.length) refuseDamaged('cut')
    const data = tar.subarray(from, from + size)
    at = from + Math.ceil(size / BLOCK) * BLOCK
    budget.countEntry()
    if (type === 'g') continue
    if (type === 'x' || type === 'L') {
      if (size > MAX_EXTENDED_BYTES) refuseTooLarge(MAX_EXTENDED_BYTES)
      longName = (type === 'L' ? untilNul(data) : pathOf(data)) ?? longName
      continue
    }
    const name: Buffer | string = longName ?? nameOf(head)
    longName = null
    const isFolder = type === '5'
    const text = withoutDots(name, isFolder)
    if (text === null) continue
    const path = readPortablePath(text)
    const place = pick(path)
    if (place === null) continue
    if (type === '1' || type === '2') refuseLink(path)
    if (type !== '0' && type !== '\0' && !isFolder) refuseDamaged('type')
    if (isFolder) continue
    budget.take(size)
    files.push({ path: place, bytes: Buffer.from(data) })
  }
}

/** `tar` writes `./` before names, and `/` behind folders. null: the folder itself. */
function withoutDots(name: Buffer | string, isFolder: boolean): Buffer | string | null {
  const bytes = typeof name === 'string' ? Buffer.from(name) : name
  let from = 0
  if (bytes[0] === 0x2e && bytes[1] === 0x2f) from = 2
  const to = isFolder && bytes.at(-1) === 0x2f ? bytes.length - 1 : bytes.length
  if (isFolder && (to <= from || (to === 1 && bytes[0] === 0x2e))) return null
  return bytes.subarray(from, to)
}

function nameOf(head: Buffer): Buffer {
  const name = untilNul(head.subarray(0, 100))
  const isUstar = head.toString('latin1', 257, 262) === 'ustar'
  // GNU tar keeps other things in the place of the prefix.
  const prefix = isUstar && head[262] === 0 ? untilNul(head.subarray(345, 500)) : Buffer.alloc(0)
  return prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name])
}

function untilNul(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

/** The path of a pax header: `<length> path=<value>\n`. A size or a sparse file there would contradict the header. */
function pathOf(records: Buffer): Buffer | null {
  let path: Buffer | null = null
  for (let at = 0; at < records.length;) {
    const space = records.indexOf(0x20, at)
    const length = Number(records.toString('latin1', at, Math.max(at, space)))
    if (space < 0 || space - at > 6 || !Number.isSafeInteger(length) || length < 5 || at + length > records.length) refuseDamaged('headers')
    const record = records.subarray(space + 1, at + length - 1)
    const equals = record.indexOf(0x3d)
    if (equals < 0 || records[at + length - 1] !== 0x0a) refuseDamaged('headers')
    const key = record.toString('latin1', 0, equals)
    if (key === 'size' || key.startsWith('GNU.sparse')) refuseDamaged('type')
    if (key === 'path') path = record.subarray(equals + 1)
    at += length
  }
  return path
}

function requireChecksum(head: Buffer): void {
  const sum = head.reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 0x20 : byte), 0)
  if (readOctal(head.subarray(148, 156)) !== sum) refuseDamaged('checksum')
}

function readOctal(field: Buffer): number {
  const text = field.toString('latin1').replace(/^[ \0]+|[ \0]+$/g, '')
  if (!/^[0-7]{0,11}$/.test(text)) refuseDamaged('headers')
  return text === '' ? 0 : Number.parseInt(text, 8)
}
