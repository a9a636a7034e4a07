import { createHash } from 'node:crypto'

/** Without letters that are taken for digits or for each other. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 8

/**
 * What the person reads in Deckhand and writes to the account, to be seen among those who ask however many there are. It lets
 * nobody in. Made from the channel's id, which nobody outside has ever seen.
 */
export function requestCodeOf(channelId: string): string {
  const bytes = createHash('sha256').update(`request to ${channelId}`).digest()
  let rest = bytes.readUIntBE(0, 6)
  let code = ''
  for (let i = 0; i < LENGTH; i++) {
    code += ALPHABET[rest % ALPHABET.length]
    rest = Math.floor(rest / ALPHABET.length)
  }
  return code
}

/** Alone, or behind the command that a link into the chat writes. */
export function isRequestCode(channelId: string, text: string): boolean {
  const [, words] = /^(?:\/start(?:@\w+)?\s+)?(\w+)$/i.exec(text.trim()) ?? []
  return words?.toUpperCase() === requestCodeOf(channelId)
}
