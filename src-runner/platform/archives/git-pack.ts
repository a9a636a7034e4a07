import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { inflateSync } from 'node:zlib'
import { createBudget, refuseDamaged, refuseLink, refuseTooLarge, refuseTooMany } from './archive-entries.ts'
import type { ArchiveLimits, PackedFile, PickEntry } from './archive-entries.ts'
import { readPortablePath } from './portable-path.ts'

const TYPES: Record<number, GitObject['type']> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const OFFSET_DELTA = 6
const NAMED_DELTA = 7
const OID_BYTES = 20
/** The history is not asked for, but an old server may send it. */
const MAX_OBJECTS_PER_ENTRY = 3
/** Work in one turn of the event loop, which all jobs share. */
const BYTES_AT_ONCE = 2_000_000
/** What a command of a difference and an object count as. A pack of some kilobytes can hold millions of commands. */
const COMMAND_BYTES = 100
const OBJECT_BYTES = 4_000

type GitObject = { type: 'commit' | 'tree' | 'blob' | 'tag'; bytes: Buffer }
type Delta = { offset: number; bytes: Buffer }

/**
 * The files of a commit in a packfile of Git (https://git-scm.com/docs/gitformat-pack). Objects are found by the digest of their content,
 * so what is read is what the commit names. Nothing of a repository runs: there is no checkout, and submodules and the large files of
 * LFS stay where they are. Throws ArchiveRefused.
 */
export async function readGitCommit(pack: Buffer, commit: string, limits: ArchiveLimits, pick: PickEntry): Promise<PackedFile[]> {
  const objects = await readObjects(pack, limits)
  const tree = /^tree ([0-9a-f]{40})\n/.exec(bytesOf(objects, commit, 'commit').toString('latin1', 0, 46))?.[1]
  if (tree === undefined) refuseDamaged('headers')
  const budget = createBudget(limits)
  const files: PackedFile[] = []
  const waiting = [{ oid: tree, above: '' }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { mode, name, oid } of entriesOf(bytesOf(objects, next.oid, 'tree'))) {
      budget.countEntry()
      const path = readPortablePath(next.above === '' ? name : Buffer.concat([Buffer.from(`${next.above}/`), name]))
      if (mode === FOLDER) {
        waiting.push({ oid, above: path })
        continue
      }
      const place = pick(path)
      if (place === null || mode === SUBMODULE) continue
      if (mode === LINK) refuseLink(path)
      if (!FILES.has(mode)) refuseDamaged('type')
      const bytes = bytesOf(objects, oid, 'blob')
      budget.take(bytes.length)
      files.push({ path: place, bytes })
    }
  }
  return files
}

const FOLDER = '40000'
const LINK = '120000'
const SUBMODULE = '160000'
const FILES = new Set(['100644', '100755', '100664'])

function bytesOf(objects: ReadonlyMap<string, GitObject>, oid: string, type: GitObject['type']): Buffer {
  const found = objects.get(oid)
  if (found?.type !== type) refuseDamaged('headers')
  return found.bytes
}

function* entriesOf(tree: Buffer): Generator<{ mode: string; name: Buffer; oid: string }> {
  for (let at = 0; at < tree.length;) {
    const space = tree.indexOf(0x20, at)
    const nul = space < 0 ? -1 : tree.indexOf(0, space)
    const end = nul + 1 + OID_BYTES
    if (nul < 0 || end > tree.length) refuseDamaged('headers')
    yield { mode: tree.toString('latin1', at, space), name: tree.subarray(space + 1, nul), oid: tree.toString('hex', nul + 1, end) }
    at = end
  }
}

/** Every object of the pack, by its digest. All that is unpacked counts, also what no file needs. */
async function readObjects(pack: Buffer, limits: ArchiveLimits): Promise<Map<string, GitObject>> {
  const end = pack.length - OID_BYTES
  if (end < 12 || pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2) refuseDamaged('headers')
  if (hash('sha1', pack.subarray(0, end), 'hex') !== pack.toString('hex', end)) refuseDamaged('checksum')
  const count = pack.readUInt32BE(8)
  const most = limits.entries * MAX_OBJECTS_PER_ENTRY
  if (count > most) refuseTooMany(most)
  const store = createStore(2 * limits.bytes)
  let at = 12
  let doneBefore = 0
  for (let i = 0; i < count; i++) {
    at = readObject(pack.subarray(0, end), at, store)
    const done = store.taken() + i * OBJECT_BYTES
    if (done - doneBefore < BYTES_AT_ONCE) continue
    doneBefore = done
    await setImmediate()
  }
  if (at !== end) refuseDamaged('headers')
  return store.finish()
}

/** Returns where the next object begins. */
function readObject(pack: Buffer, offset: number, store: Store): number {
  let at = offset
  const next = () => (at < pack.length ? pack[at++]! : refuseDamaged('cut'))
  let byte = next()
  const type = (byte >> 4) & 7
  let size = byte & 15
  for (let scale = 16; byte >= 0x80; scale *= 128) {
    byte = next()
    size += (byte & 0x7f) * scale
    store.requireFits(size)
  }
  let base: string | null = null
  if (type === OFFSET_DELTA) {
    byte = next()
    let back = byte & 0x7f
    while (byte >= 0x80) {
      byte = next()
      back = (back + 1) * 128 + (byte & 0x7f)
      if (back > offset) refuseDamaged('headers')
    }
    base = keyOfOffset(offset - back)
  } else if (type === NAMED_DELTA) {
    if (at + OID_BYTES > pack.length) refuseDamaged('cut')
    base = pack.toString('hex', at, at + OID_BYTES)
    at += OID_BYTES
  }
  store.take(size)
  const { bytes, used } = inflateAt(pack, at, size)
  if (base !== null) store.addDelta(base, { offset, bytes })
  else store.add(offset, { type: TYPES[type] ?? refuseDamaged('type'), bytes })
  return at + used
}

/** One byte more than it claims ends the unpacking. `used`: how many bytes of the pack it took. */
function inflateAt(pack: Buffer, at: number, size: number): { bytes: Buffer; used: number } {
  const options = { info: true, maxOutputLength: Math.max(1, size), chunkSize: Math.min(Math.max(64, size + 1), 65_536) }
  try {
    const { buffer, engine } = inflateSync(pack.subarray(at), options) as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
    if (buffer.length !== size) refuseDamaged('checksum')
    return { bytes: buffer, used: engine.bytesWritten }
  } catch {
    return refuseDamaged('checksum')
  }
}

type Store = ReturnType<typeof createStore>

const keyOfOffset = (offset: number) => `at ${offset}`

/** Objects by digest and by offset. A difference waits until its base is there, so their order does not matter. */
function createStore(mostBytes: number) {
  let left = mostBytes
  const byKey = new Map<string, GitObject>()
  const byOid = new Map<string, GitObject>()
  const waiting = new Map<string, Delta[]>()
  let unresolved = 0

  function requireFits(size: number): void {
    if (size > left) refuseTooLarge(mostBytes / 2)
  }

  function take(size: number): void {
    requireFits(size)
    left -= size
  }

  function add(offset: number, object: GitObject): void {
    const ready = [{ offset, object }]
    for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
      const { type, bytes } = next.object
      const oid = hash('sha1', Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]), 'hex')
      byOid.set(oid, next.object)
      for (const key of [keyOfOffset(next.offset), oid]) {
        byKey.set(key, next.object)
        const deltas = waiting.get(key) ?? []
        waiting.delete(key)
        unresolved -= deltas.length
        for (const delta of deltas) ready.push({ offset: delta.offset, object: { type, bytes: applyDelta(bytes, delta.bytes, take) } })
      }
    }
  }

  return {
    taken: () => mostBytes - left,
    requireFits,
    take,
    add,
    addDelta(base: string, delta: Delta): void {
      const known = byKey.get(base)
      if (known !== undefined) return add(delta.offset, { type: known.type, bytes: applyDelta(known.bytes, delta.bytes, take) })
      unresolved++
      const others = waiting.get(base)
      if (others === undefined) waiting.set(base, [delta])
      else others.push(delta)
    },
    finish(): Map<string, GitObject> {
      if (unresolved > 0) refuseDamaged('headers')
      return byOid
    },
  }
}

/** `take` counts the size of the result before it is made, and what making it costs. */
function applyDelta(base: Buffer, delta: Buffer, take: (size: number) => void): Buffer {
  let at = 0
  const next = () => (at < delta.length ? delta[at++]! : refuseDamaged('cut'))
  const readSize = () => {
    let size = 0
    for (let scale = 1, byte = 0x80; byte >= 0x80; scale *= 128) {
      byte = next()
      size += (byte & 0x7f) * scale
      if (!Number.isSafeInteger(size)) refuseDamaged('headers')
    }
    return size
  }
  if (readSize() !== base.length) refuseDamaged('headers')
  const size = readSize()
  take(size)
  const result = Buffer.alloc(size)
  let to = 0
  while (at < delta.length) {
    const command = next()
    take(COMMAND_BYTES)
    let from: Buffer
    if (command >= 0x80) {
      const numberOf = (bits: readonly number[]) => bits.reduce((sum, bit, i) => ((command & bit) === 0 ? sum : sum + next() * 256 ** i), 0)
      const start = numberOf([0x01, 0x02, 0x04, 0x08])
      const length = numberOf([0x10, 0x20, 0x40]) || 0x10000
      if (start + length > base.length) refuseDamaged('headers')
      from = base.subarray(start, start + length)
    } else {
      if (command === 0 || at + command > delta.length) refuseDamaged('headers')
      from = delta.subarray(at, at + command)
      at += command
    }
    if (to + from.length > size) refuseDamaged('headers')
    from.copy(result, to)
    to += from.length
  }
  if (to !== size) refuseDamaged('headers')
  return result
}
