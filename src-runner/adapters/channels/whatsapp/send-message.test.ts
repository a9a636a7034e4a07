import { expect, test } from 'vitest'
import { isOurs } from './send-message.ts'

test.each([
  ['3EB0DE0123456789ABCDEF0123456789', true],
  // The ids of WhatsApp Web: every 256th of them begins like ours.
  ['3EB0DE0123456789ABCDEF', false],
  ['3EB0DE0123456789ABCD', false],
  ['3A0123456789ABCDEF01', false],
  ['', false],
  [undefined, false],
])('the id %s of a message is ours: %s', (id, expected) => expect(isOurs(id)).toBe(expected))
