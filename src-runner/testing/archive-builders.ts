import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

export type ZipEntry = {
  name: string | Buffer
  data?: string | Buffer
  /** UNIX mode, with the type. */
  mode?: number
  /** What the central directory claims. */
  claims?: { size?: number; packed?: number; crc?: number; name?: string; method?: number; flags?: number; offset?: number }
  /** The local header makes the same claim of the size. */
  lies?: boolean
  stored?: boolean
}

/** A zip archive, byte by byte, so that it can lie. */
export function buildZip(entries: readonly ZipEntry[], end: { count?: number; comment?: string; offset?: number } = {}): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let at = 0
  for (const { name, data = '', mode = 0o100644, claims = {}, lies = false, stored = false } of entries) {
    const bytes = Buffer.from(data)
    const packed = stored ? bytes : deflateRawSync(bytes)
    const nameBytes = Buffer.from(name)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE(stored ? 0 : 8, 8)
    local.writeUInt32LE(crc32(bytes), 14)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt32LE(lies ? (claims.size ?? bytes.length) : bytes.length, 22)
    local.writeUInt16LE(nameBytes.length, 26)
    const central = Buffer.alloc(46)
    const centralName = claims.name === undefined ? nameBytes : Buffer.from(claims.name)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE((3 << 8) | 20, 4)
    central.writeUInt16LE(claims.flags ?? 0, 8)
    central.writeUInt16LE(claims.method ?? (stored ? 0 : 8), 10)
    central.writeUInt32LE(claims.crc ?? crc32(bytes), 16)
    central.writeUInt32LE(claims.packed ?? packed.length, 20)
    central.writeUInt32LE(claims.size ?? bytes.length, 24)
    central.writeUInt16LE(centralName.length, 28)
    central.writeUInt16LE(mode, 40)
    central.writeUInt32LE(claims.offset ?? at, 42)
    locals.push(local, nameBytes, packed)
    centrals.push(central, centralName)
    at += local.length + nameBytes.length + packed.length
  }
  const directory = Buffer.concat(centrals)
  const comment = Buffer.from(end.comment ?? '')
  const tail = Buffer.alloc(22)
  tail.writeUInt32LE(0x06054b50, 0)
  tail.writeUInt16LE(end.count ?? entries.length, 8)
  tail.writeUInt16LE(end.count ?? entries.length, 10)
  tail.writeUInt32LE(directory.length, 12)
  tail.writeUInt32LE(end.offset ?? at, 16)
  tail.writeUInt16LE(comment.length, 20)
  return Buffer.concat([...locals, directory, tail, comment])
}

export type TarEntry = {
  name: string | Buffer
  data?: string | Buffer
  type?: string
  link?: string
  mode?: number
  size?: number
  checksum?: number
}

/** A gzipped tar archive, byte by byte. */
export function buildTar(entries: readonly TarEntry[], options: { cut?: boolean } = {}): Buffer {
  const parts: Buffer[] = []
  for (const { name, data = '', type = '0', link = '', mode = 0o644, size, checksum } of entries) {
    const bytes = Buffer.from(data)
    const head = Buffer.alloc(512)
    Buffer.from(name).copy(head, 0, 0, 100)
    head.write(`${mode.toString(8).padStart(7, '0')}\0`, 100)
    head.write('0000000\0'.repeat(2), 108)
    head.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124)
    head.write('00000000000\0', 136)
    head.write('        ', 148)
    head.write(type, 156)
    head.write(link, 157)
    head.write('ustar\x0000', 257, 'latin1')
    const sum = checksum ?? head.reduce((all, byte) => all + byte, 0)
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    parts.push(head, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512))
  }
  if (options.cut !== true) parts.push(Buffer.alloc(1024))
  return gzipSync(Buffer.concat(parts))
}

/** One record of an extended header. */
export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  let length = rest.length + 1
  while (`${length}${rest}`.length !== length) length = `${length}${rest}`.length
  return `${length}${rest}`
}

export function skillText(name: string, { description = 'Sorts shells by size.', more = '', body = 'Sort them.' } = {}): string {
  return `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n${body}\n`
}
