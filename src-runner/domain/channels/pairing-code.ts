import { createHash } from 'node:crypto'
import { typedCodeOf } from '../../lib/typed-code.ts'

/**
 * A code that Deckhand shows. Somebody who sends it to the account is listed although the request list is full; it grants nothing
 * else. It is derived from the channel's id, which no outsider knows.
 */
export function pairingCodeOf(channelId: string): string {
  const bytes = createHash('sha256').update(`request to ${channelId}`).digest()
  return typedCodeOf(bytes.readUIntBE(0, 6), 8)
}

/** Also after the `/start` that a link into the chat writes. */
export function isPairingCode(channelId: string, text: string): boolean {
  const [, words] = /^(?:\/start(?:@\w+)?\s+)?(\w+)$/i.exec(text.trim()) ?? []
  return words?.toUpperCase() === pairingCodeOf(channelId)
}
