import { expect, it } from 'vitest'
import { speechOf } from './language.ts'

it.each([
  ['system', ['fr-FR', 'de-AT', 'en-US'], 'de'],
  ['system', ['fr-FR', 'en-GB', 'de'], 'en'],
  ['system', ['den-CA', 'fr'], 'en'],
  ['system', [], 'en'],
  ['de', ['en-US'], 'de'],
  ['en', ['de-DE'], 'en'],
] as const)('the desktop speaks, told %s on a system of %j, %s', (setting, preferred, locale) => {
  expect(speechOf(setting, preferred).locale).toBe(locale)
})
