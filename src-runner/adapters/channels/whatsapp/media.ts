import type { WASocket } from '@whiskeysockets/baileys'
import { OutboundError, type OutboundFetch } from '../../../platform/net/outbound.ts'
import type { Clock } from '../../../lib/clock.ts'
import { within } from './link-socket.ts'
import { openMedia, sealMedia, type MediaKeys, type MediaKind } from './media-cipher.ts'
import type { StoredFile } from './read-message.ts'
import type { TestServer } from './library.ts'

export type Uploaded = MediaKeys & { directPath: string; url: string }

/** In memory, encrypted and not. The service allows more. */
export const MAX_FILE_BYTES = 50_000_000
const MAX_ANSWER_BYTES = 100_000
const DEADLINE_MS = 180_000
const HOST = 'mmg.whatsapp.net'

/** Files are stored at the service, encrypted with a key that only the message contains. */
export function createMedia({ fetch, clock, testServer }: { fetch: OutboundFetch; clock: Clock; testServer: TestServer }) {
  const scheme = testServer === null ? 'https' : 'http'

  async function request(url: URL, init: RequestInit, maxBytes: number, signal: AbortSignal): Promise<{ status: number; body: Buffer }> {
    const late = new AbortController()
    const cancel = clock.after(DEADLINE_MS, () => late.abort(new Error('no answer in time')))
    let total = 0
    const onBytes = (count: number) => {
      total += count
      if (total > maxBytes) throw new TooLarge()
    }
    try {
      const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.any([signal, late.signal]), onBytes })
      return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
    } finally {
      cancel()
    }
  }

  return {
    async download({ directPath, kind, size, ...keys }: StoredFile, signal: AbortSignal) {
      const tooLarge = { problem: `it is larger than the ${MAX_FILE_BYTES / 1_000_000} MB that are fetched here` }
      if (size !== null && size > MAX_FILE_BYTES) return tooLarge
      const base = testServer === null ? `${scheme}://${HOST}` : testServer.url.replace(/^ws/, 'http')
      const url = URL.canParse(directPath ?? '', base) ? new URL(directPath!, base) : null
      // A stranger writes the path, and must not lead us elsewhere with it.
      if (url === null || url.origin !== new URL(base).origin || !keys.mediaKey) return { problem: 'the message does not say where it is' }
      try {
        const { status, body } = await request(url, {}, MAX_FILE_BYTES + 1000, signal)
        if (status !== 200)
          return { problem: status === 404 || status === 410 ? 'the service no longer has it' : 'the service did not provide it' }
        return { bytes: new Uint8Array(openMedia(body, kind, keys)) }
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof TooLarge) return tooLarge
        return { problem: error instanceof OutboundError ? 'the service cannot be reached' : 'it is damaged' }
      }
    },

    /** null: the service does not accept it now. */
    async upload(socket: WASocket, bytes: Uint8Array, kind: MediaKind, signal: AbortSignal): Promise<Uploaded | null> {
      const { body, ...keys } = sealMedia(bytes, kind)
      const { hosts, auth } = await within(clock, DEADLINE_MS, socket.refreshMediaConn(false), signal)
      const token = Buffer.from(keys.fileEncSha256).toString('base64url')
      for (const { hostname } of hosts) {
        const url = new URL(`${scheme}://${hostname}/mms/${kind}/${token}?auth=${encodeURIComponent(auth)}&token=${token}`)
        const headers = { 'content-type': 'application/octet-stream', origin: 'https://web.whatsapp.com' }
        const sent = await request(url, { method: 'POST', body, headers }, MAX_ANSWER_BYTES, signal).catch(() => null)
        signal.throwIfAborted()
        const found = sent?.status === 200 ? readAnswer(sent.body) : null
        if (found !== null) return { ...keys, ...found }
      }
      return null
    },
  }
}

class TooLarge extends Error {}

function readAnswer(body: Buffer): { directPath: string; url: string } | null {
  try {
    const { direct_path: directPath, url } = JSON.parse(body.toString('utf8')) as { direct_path?: unknown; url?: unknown }
    return typeof directPath === 'string' && typeof url === 'string' ? { directPath, url } : null
  } catch {
    return null
  }
}
