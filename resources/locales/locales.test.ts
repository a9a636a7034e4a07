import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { generate, listLanguages, paramsOf, readCatalogue, textsOf } from '../../build/message-types.mjs'
import { createPseudoTranslate } from './pseudo-locale.ts'
import { LANGUAGES } from './texts.ts'
import { chooseLanguage, createTranslate, renderMessage } from './translate.ts'

const english = new Map<string, string>(textsOf(readCatalogue('en')))

/** The spaces that Intl puts into numbers do not break. */
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ')

it('has up-to-date types (npm run message-types)', () => {
  for (const [name, content] of generate()) expect(readFileSync(join(import.meta.dirname, name!), 'utf8')).toBe(content)
})

it('takes another language from one new file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-locales-'))
  try {
    for (const language of LANGUAGES) cpSync(join(import.meta.dirname, `${language}.json`), join(folder, `${language}.json`))
    writeFileSync(join(folder, 'fr-CA.json'), JSON.stringify(readCatalogue('en')))
    const [texts, loaders] = generate(folder).map(([, content]) => content!)
    expect(texts).toContain(`export const LANGUAGES = ['de', 'en', 'fr-CA'] as const`)
    expect(loaders).toContain("'fr-CA': async ")
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it.each(listLanguages())('%s has the texts of English, with the same parameters', (language) => {
  const texts = new Map<string, string>(textsOf(readCatalogue(language)))
  expect([...texts.keys()].sort()).toEqual([...english.keys()].sort())
  for (const [key, text] of texts) expect([key, paramsOf(text)]).toEqual([key, paramsOf(english.get(key)!)])
})

it.each(listLanguages())('%s has no empty text and formats each one', (language) => {
  const t = createTranslate(language, readCatalogue(language)) as (key: string, params: object) => string
  for (const [key, text] of english) {
    const params = Object.entries(paramsOf(text)).map(([name, kind]) => [name, kind === 'number' ? 1234 : `«${name}»`] as const)
    const formatted = t(key, Object.fromEntries(params)).replaceAll(/\{[\w.«»]+\}/g, text.includes("'{") ? '' : '$&')
    expect([key, formatted]).toEqual([key, expect.not.stringMatching(/^\s*$|undefined|null|NaN|\[object|\{/)])
  }
})

it('writes numbers and money as the language does', () => {
  const params = { spentUsd: 1234.5, budgetUsd: 0.004 }
  const [en, de] = [createTranslate('en', readCatalogue('en')), createTranslate('de', readCatalogue('de'))]
  expect(en('messages.due_over_budget', params)).toMatch(/\$1,234\.50.*\$0\.0040/)
  expect(plain(de('messages.due_over_budget', params))).toMatch(/1\.234,50 \$.*0,0040 \$/)
  expect(en('messages.due_late', { seconds: 1 })).toContain('1 second late')
  expect(plain(de('messages.due_late', { seconds: 1000 }))).toContain('1.000 Sekunden')
})

it('writes bytes with their unit', () => {
  const t = createTranslate('de', { size: '{size, number, bytes}' }) as (key: string, params: object) => string
  expect(plain(t('size', { size: 1_234_567 }))).toBe('1,2 MB')
})

it('writes lists as the language does', () => {
  const [en, de] = [createTranslate('en', readCatalogue('en')), createTranslate('de', readCatalogue('de'))]
  const message = { code: 'check_channels', params: { names: ['Ada', { code: 'quoted', params: { words: '{Bo}' } }, 'Cy'] } }
  expect(renderMessage(en, message)).toBe('Connected: Ada, {Bo}, and Cy.')
  expect(renderMessage(de, message)).toBe('Verbunden: Ada, {Bo} und Cy.')
})

it('returns a key that it does not know', () => {
  const t = createTranslate('en', {}) as (key: string) => string
  expect(t('messages.of_another_version')).toBe('messages.of_another_version')
})

it('makes texts of the pseudo-locale recognizable and 40 % longer', () => {
  const t = createPseudoTranslate({ a: 'Delete agent', b: '{count, plural, one {# job} other {# jobs}} of {agent}' }) as (
    key: string,
    params?: object,
  ) => string
  expect(t('a')).toBe('[Đéļéţé àĝéñţ öñé ţ]')
  expect(t('b', { count: 2, agent: 'Mia' })).toMatch(/^\[2 ĵöƀš öƒ Mia .*\]$/)
})

it.each([
  ['system', ['fr-FR', 'de-AT', 'en'], 'de'],
  ['system', ['fr-FR', 'en-GB', 'de'], 'en'],
  ['system', ['EN-gb'], 'en'],
  ['system', ['den', 'fr'], 'en'],
  ['system', [], 'en'],
  ['de', ['en-US'], 'de'],
  ['en', ['de-DE'], 'en'],
] as const)('for the setting %s and the languages %j it chooses %s', (setting, preferred, language) => {
  expect(chooseLanguage(setting, preferred)).toBe(language)
})
