import type { Message } from '../contract/messages.ts'
import { englishText } from '../lib/messages.ts'

/** Matches a message by its English text. */
export function messageMatching(text: string | RegExp): unknown {
  return {
    asymmetricMatch: (actual: unknown) => {
      const shown = typeof actual === 'string' ? actual : englishText(actual as Message)
      return typeof text === 'string' ? shown.includes(text) : text.test(shown)
    },
    toString: () => `a message with ${String(text)}`,
  }
}
