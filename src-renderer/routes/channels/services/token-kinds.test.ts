import { expect, test } from 'vitest'
import { kindOfToken } from './token-kinds.ts'

test.each([
  ['123456789:AAEabcdefghijklmnopqrstuvwxyz0123456', 'telegram'],
  [`${'MTA1'.repeat(6)}.Gabcde.${'x'.repeat(38)}`, 'discord'],
  [`xoxb-${'1'.repeat(12)}-${'a'.repeat(24)}`, 'slack_bot'],
  [`xapp-1-A${'0'.repeat(10)}-${'1'.repeat(12)}-${'f'.repeat(64)}`, 'slack_app'],
  [`xoxp-${'1'.repeat(12)}`, 'slack_user'],
  ['123456789', null],
  ['123456789:', null],
  ['xoxb-', null],
  ['https://discord.com/api/oauth2/authorize?client_id=1', null],
  ['', null],
])('%s', (text, kind) => {
  expect(kindOfToken(text)).toBe(kind)
})
