import { createHash } from 'node:crypto'

/** Without letters that look like digits or like each other. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 8

/**
 * A code that Deckhand shows. Somebody who sends it to the account is listed although the request list is full; it grants nothing
 * else. It is derived from the channel's id, which no outsider knows.
 */
export function pairingCodeOf(channelId: string): string {
  const bytes = createHash('sha256').update(`request to ${channelId}`).digest()
  let rest = bytes.readUIntBE(0, 6)
  let code = ''
  for (let i = 0; i < LENGTH; i++) {
    code += ALPHABET[rest % ALPHABET.length]
    rest = Math.floor(rest / ALPHABET.length)
  }
  return code
}

/** Also after the `/start` that a link into the chat writes. */
export function isPairingCode(channelId: string, text: string): boolean {
  const [, words] = /^(?:\/start(?:@\w+)?\s+)?(\w+)$/i.exec(text.trim()) ?? []
  return words?.toUpperCase() === pairingCodeOf(channelId)
}
