import type { FileHandle } from 'node:fs/promises'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'
export type TextOrNot = { encoding: Encoding; bom: boolean } | { binary: string }

export const SNIFF_BYTES = 8192
const CHUNK_BYTES = 64 * 1024
/** The rest of a longer line is dropped while reading. */
export const MAX_LINE_CHARS = 20_000

export const ENCODING_NAMES: Record<Encoding, string> = { 'utf-8': 'UTF-8', 'utf-16le': 'UTF-16 LE', 'utf-16be': 'UTF-16 BE' }

const SIGNATURES: [hex: string, at: number, kind: string][] = [
  ['89504e470d0a1a0a', 0, 'a PNG image'],
  ['ffd8ff', 0, 'a JPEG image'],
  ['47494638', 0, 'a GIF image'],
  ['57454250', 8, 'a WebP image'],
  ['25504446', 0, 'a PDF document'],
  ['504b0304', 0, 'a ZIP archive or an Office document'],
  ['1f8b', 0, 'a gzip archive'],
  ['377abcaf271c', 0, 'a 7-Zip archive'],
  ['fd377a585a00', 0, 'an xz archive'],
  ['28b52ffd', 0, 'a Zstandard archive'],
  ['d0cf11e0a1b11ae1', 0, 'an old Office document'],
  ['53514c69746520666f726d6174203300', 0, 'a SQLite database'],
  ['7f454c46', 0, 'a program (ELF)'],
  ['cffaedfe', 0, 'a program (Mach-O)'],
  ['4d5a9000', 0, 'a program (Windows)'],
  ['66747970', 4, 'an MP4 or similar video or sound file'],
  ['494433', 0, 'an MP3 sound file'],
  ['4f676753', 0, 'an Ogg sound or video file'],
  ['1a45dfa3', 0, 'a Matroska or WebM video'],
  ['00010000', 0, 'a font'],
]

/** Decides by a known signature, a byte order mark, or zero bytes. */
export function sniff(head: Buffer): TextOrNot {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: 'utf-8', bom: true }
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', bom: true }
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', bom: true }
  for (const [hex, at, kind] of SIGNATURES) {
    if (head.subarray(at, at + hex.length / 2).toString('hex') === hex) return { binary: kind }
  }
  let even = 0
  let odd = 0
  for (let i = 0; i < head.length; i++) {
    if (head[i] !== 0) continue
    if (i % 2 === 0) even++
    else odd++
  }
  if (even + odd === 0) return { encoding: 'utf-8', bom: false }
  // In UTF-16, nearly every second byte of western text is zero.
  const pairs = head.length / 2
  if (odd > pairs * 0.6 && even === 0) return { encoding: 'utf-16le', bom: false }
  if (even > pairs * 0.6 && odd === 0) return { encoding: 'utf-16be', bom: false }
  return { binary: 'a binary file' }
}

/** null: not a text. */
export function decodeFile(bytes: Buffer): string | null {
  const kind = sniff(bytes.subarray(0, SNIFF_BYTES))
  return 'binary' in kind ? null : new TextDecoder(kind.encoding).decode(bytes)
}

export async function readHead(handle: FileHandle): Promise<Buffer> {
  const head = Buffer.alloc(SNIFF_BYTES)
  const { bytesRead } = await handle.read(head, 0, SNIFF_BYTES, 0)
  return head.subarray(0, bytesRead)
}

/** `chars`: the full length of the line. `text` may be only its beginning. */
export type Line = { text: string; chars: number }
export type LineBatch = { lines: Line[]; hasInvalidBytes: boolean; hasCarriageReturns: boolean }

/** Lines without their ends, in batches. Stops after `maxBytes`. */
export async function* readLines(handle: FileHandle, encoding: Encoding, maxBytes: number, signal: AbortSignal): AsyncGenerator<LineBatch> {
  const decoder = new TextDecoder(encoding)
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let carry: Line = { text: '', chars: 0 }
  let at = 0
  for (;;) {
    signal.throwIfAborted()
    const length = Math.min(CHUNK_BYTES, maxBytes - at)
    const { bytesRead } = length > 0 ? await handle.read(chunk, 0, length, at) : { bytesRead: 0 }
    at += bytesRead
    const bytes = chunk.subarray(0, bytesRead)
    const text = decoder.decode(bytes, { stream: bytesRead > 0 })
    const pieces = text.split('\n')
    const batch: LineBatch = { lines: [], hasInvalidBytes: text.includes('\uFFFD') && !bytes.includes('\uFFFD'), hasCarriageReturns: false }
    for (let i = 0; i < pieces.length; i++) {
      carry = join(carry, pieces[i]!)
      if (i === pieces.length - 1) break
      batch.hasCarriageReturns ||= carry.text.endsWith('\r')
      batch.lines.push(withoutReturn(carry))
      carry = { text: '', chars: 0 }
    }
    if (bytesRead === 0 && carry.chars > 0) batch.lines.push(withoutReturn(carry))
    if (batch.lines.length > 0 || batch.hasInvalidBytes) yield batch
    if (bytesRead === 0) return
  }
}

function join(line: Line, piece: string): Line {
  const room = MAX_LINE_CHARS - line.text.length
  return { text: room > 0 ? line.text + piece.slice(0, room) : line.text, chars: line.chars + piece.length }
}

function withoutReturn(line: Line): Line {
  return line.text.endsWith('\r') ? { text: line.text.slice(0, -1), chars: line.chars - 1 } : line
}
