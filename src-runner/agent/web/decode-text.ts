import { isUtf8 } from 'node:buffer'
import { setImmediate as breathe } from 'node:timers/promises'

const CHUNK_BYTES = 256 * 1024
const DECLARED_WITHIN = 4096

/**
 * Takes the encoding from, in this order: the byte order mark, the server, the document; else UTF-8 if the bytes are valid,
 * else windows-1252. Leaves the event loop free in between.
 */
export async function decodeText(bytes: Buffer, declared: string | null): Promise<string> {
  const decoder = new TextDecoder(encodingOf(bytes, declared))
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (at > 0) await breathe()
    parts.push(decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: true }))
  }
  parts.push(decoder.decode())
  return parts.join('')
}

export function encodingOf(bytes: Buffer, declared: string | null): string {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const bySelf = declaredInside(bytes)
  return knownEncoding(declared) ?? knownEncoding(bySelf) ?? (isUtf8(withoutHalfCharacter(bytes)) ? 'utf-8' : 'windows-1252')
}

function knownEncoding(label: string | null): string | null {
  if (label === null) return null
  try {
    return new TextDecoder(label.trim()).encoding
  } catch {
    return null
  }
}

/** `<meta charset>`, `<meta http-equiv>` or the XML declaration. It is readable as ASCII, so it cannot be UTF-16. */
function declaredInside(bytes: Buffer): string | null {
  const head = bytes.subarray(0, DECLARED_WITHIN).toString('latin1')
  const label =
    /^\s*<\?xml[^>]{0,200}encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/i.exec(head)?.[1] ??
    /<meta\s[^>]{0,500}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})/i.exec(head)?.[1] ??
    null
  return label !== null && /^utf-?16/i.test(label) ? 'utf-8' : label
}

/** Text that was cut may end within a character. */
function withoutHalfCharacter(bytes: Buffer): Buffer {
  let end = bytes.length
  for (let n = 0; n < 3 && end > 0 && (bytes[end - 1]! & 0xc0) === 0x80; n++) end--
  return end > 0 && bytes[end - 1]! >= 0xc0 ? bytes.subarray(0, end - 1) : bytes
}
