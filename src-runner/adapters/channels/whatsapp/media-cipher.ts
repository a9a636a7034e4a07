import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** How WhatsApp encrypts files: with a key of their own, which the message contains. The service stores only the result. */

export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'
/** Where the message says what its file must be. */
export type MediaKeys = { mediaKey: Uint8Array; fileSha256: Uint8Array; fileEncSha256: Uint8Array }

const MAC_BYTES = 10
const LABELS: Record<MediaKind, string> = { image: 'Image', video: 'Video', audio: 'Audio', document: 'Document', sticker: 'Image' }

export function sealMedia(bytes: Uint8Array, kind: MediaKind): MediaKeys & { body: Buffer<ArrayBuffer> } {
  const mediaKey = randomBytes(32)
  const { iv, cipherKey, macKey } = expand(mediaKey, kind)
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv)
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()])
  const body = Buffer.concat([sealed, macOf(macKey, iv, sealed)])
  return { body, mediaKey, fileSha256: sha256(bytes), fileEncSha256: sha256(body) }
}

/** Throws if it is not the file that the message means. */
export function openMedia(body: Uint8Array, kind: MediaKind, given: { [name in keyof MediaKeys]?: Uint8Array | null }): Buffer {
  const { iv, cipherKey, macKey } = expand(given.mediaKey!, kind)
  const sealed = body.subarray(0, -MAC_BYTES)
  if (!timingSafeEqual(macOf(macKey, iv, sealed), body.subarray(-MAC_BYTES))) throw new Error('the file was changed')
  const cipher = createDecipheriv('aes-256-cbc', cipherKey, iv)
  const bytes = Buffer.concat([cipher.update(sealed), cipher.final()])
  if (given.fileSha256 && !sha256(bytes).equals(given.fileSha256)) throw new Error('it is another file')
  return bytes
}

function expand(mediaKey: Uint8Array, kind: MediaKind) {
  const bytes = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), `WhatsApp ${LABELS[kind]} Keys`, 112))
  return { iv: bytes.subarray(0, 16), cipherKey: bytes.subarray(16, 48), macKey: bytes.subarray(48, 80) }
}

function macOf(key: Uint8Array, iv: Uint8Array, sealed: Uint8Array): Buffer {
  return createHmac('sha256', key).update(iv).update(sealed).digest().subarray(0, MAC_BYTES)
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
