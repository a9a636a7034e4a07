import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { createBudget, refuseDamaged, refuseLink, refuseTooLarge, refuseTooMany } from './archive-entries.ts'
import type { ArchiveLimits, PackedFile, PickEntry } from './archive-entries.ts'
import { readPortablePath } from './portable-path.ts'

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const END_BYTES = 22
const MAX_COMMENT = 0xffff
const STORED = 0
const DEFLATED = 8
const ENCRYPTED = 0x1 | 0x40 | 0x2000
/** Size and checksum stand behind the data. */
const SIZES_FOLLOW = 0x8
const UNIX = 3
const [S_IFMT, S_IFREG, S_IFDIR] = [0o170000, 0o100000, 0o040000]

const inflate = promisify(inflateRaw)

type Entry = ReturnType<typeof readCentral>

/**
 * The files of a zip archive, with the archive's comment. Reads the central directory and refuses every entry whose local header says
 * something else, because other programs may believe that one. Nothing is unpacked beyond the sizes that were counted before.
 * Throws ArchiveRefused.
 */
export async function readZip(zip: Buffer, limits: ArchiveLimits, pick: PickEntry): Promise<{ files: PackedFile[]; comment: string }> {
  if (zip.length > limits.packedBytes) refuseTooLarge(limits.packedBytes)
  const end = findEnd(zip)
  const budget = createBudget(limits)
  const picked: { path: string; entry: Entry }[] = []
  const spans: { from: number; to: number }[] = []
  if (end.count > limits.entries) refuseTooMany(limits.entries)
  let at = end.from
  for (let i = 0; i < end.count; i++) {
    const entry = readCentral(zip, at, end.to)
    at = entry.next
    budget.countEntry()
    const isFolder = entry.name.at(-1) === SLASH
    const path = readPortablePath(isFolder ? entry.name.subarray(0, -1) : entry.name)
    const place = pick(path)
    const span = checkLocal(zip, entry, end.from)
    spans.push(span)
    if (place === null) continue
    refuseOddType(entry, path, isFolder)
    if (isFolder) continue
    budget.take(entry.size)
    picked.push({ path: place, entry: { ...entry, data: span.data } })
  }
  if (at !== end.to) refuseDamaged('headers')
  refuseOverlaps(spans)
  const files: PackedFile[] = []
  // One at a time: together they would take the memory of all.
  for (const { path, entry } of picked) files.push({ path, bytes: await unpack(zip, entry) })
  return { files, comment: end.comment }
}

const SLASH = 0x2f

/** The one end record whose comment ends with the file. */
function findEnd(zip: Buffer) {
  const from = Math.max(0, zip.length - END_BYTES - MAX_COMMENT)
  for (let at = zip.length - END_BYTES; at >= from; at--) {
    if (zip.readUInt32LE(at) !== END || zip.readUInt16LE(at + 20) !== zip.length - at - END_BYTES) continue
    const [disk, firstDisk, here, count] = [4, 6, 8, 10].map((offset) => zip.readUInt16LE(at + offset)) as [number, number, number, number]
    if (disk !== 0 || firstDisk !== 0 || here !== count) refuseDamaged('several_disks')
    const [size, offset] = [zip.readUInt32LE(at + 12), zip.readUInt32LE(at + 16)]
    // Zip64 is for archives that are larger than what is accepted here.
    if (count === 0xffff || offset + size !== at) refuseDamaged('headers')
    return { count, from: offset, to: at, comment: zip.toString('latin1', at + END_BYTES) }
  }
  return refuseDamaged('cut')
}

function readCentral(zip: Buffer, at: number, end: number) {
  if (at + 46 > end || zip.readUInt32LE(at) !== CENTRAL) refuseDamaged('headers')
  const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [number, number, number]
  const next = at + 46 + nameBytes + extraBytes + commentBytes
  if (next > end) refuseDamaged('headers')
  return {
    next,
    name: zip.subarray(at + 46, at + 46 + nameBytes),
    system: zip[at + 5]!,
    flags: zip.readUInt16LE(at + 8),
    method: zip.readUInt16LE(at + 10),
    crc: zip.readUInt32LE(at + 16),
    packed: zip.readUInt32LE(at + 20),
    size: zip.readUInt32LE(at + 24),
    mode: zip.readUInt16LE(at + 40),
    local: zip.readUInt32LE(at + 42),
    data: 0,
  }
}

/** Where the entry lies in the archive. Throws if its local header contradicts the central directory. */
function checkLocal(zip: Buffer, entry: Entry, end: number): { from: number; to: number; data: number } {
  const { local, name, flags, method, crc, packed, size } = entry
  if (local + 30 > end || zip.readUInt32LE(local) !== LOCAL) refuseDamaged('headers')
  if ((flags & ENCRYPTED) !== 0) refuseDamaged('encrypted')
  if (method !== STORED && method !== DEFLATED) refuseDamaged('method')
  const nameBytes = zip.readUInt16LE(local + 26)
  const data = local + 30 + nameBytes + zip.readUInt16LE(local + 28)
  const to = data + packed
  const given = [zip.readUInt32LE(local + 14), zip.readUInt32LE(local + 18), zip.readUInt32LE(local + 22)]
  const follows = (flags & SIZES_FOLLOW) !== 0
  const isSame = [crc, packed, size].every((value, i) => given[i] === value || (follows && given[i] === 0))
  const isSameHead = zip.readUInt16LE(local + 6) === flags && zip.readUInt16LE(local + 8) === method
  if (to > end || !isSame || !isSameHead || !name.equals(zip.subarray(local + 30, local + 30 + nameBytes))) refuseDamaged('headers')
  if (method === STORED && packed !== size) refuseDamaged('headers')
  return { from: local, to, data }
}

/** Entries that share bytes are how a small archive becomes a huge one. */
function refuseOverlaps(spans: { from: number; to: number }[]): void {
  const sorted = spans.toSorted((a, b) => a.from - b.from)
  if (sorted.some(({ from }, i) => i > 0 && from < sorted[i - 1]!.to)) refuseDamaged('headers')
}

function refuseOddType({ system, mode }: Entry, path: string, isFolder: boolean): void {
  const type = system === UNIX ? mode & S_IFMT : 0
  if (type === 0o120000) refuseLink(path)
  if (type !== 0 && type !== (isFolder ? S_IFDIR : S_IFREG)) refuseDamaged('type')
}

async function unpack(zip: Buffer, { data, packed, size, method, crc }: Entry): Promise<Buffer> {
  const from = zip.subarray(data, data + packed)
  // One byte more than it claims ends the unpacking, so a lie costs no memory.
  const bytes = method === STORED ? Buffer.from(from) : await inflate(from, { maxOutputLength: Math.max(1, size) }).catch(() => null)
  if (bytes === null || bytes.length !== size || crc32(bytes) !== crc) refuseDamaged('checksum')
  return bytes
}
