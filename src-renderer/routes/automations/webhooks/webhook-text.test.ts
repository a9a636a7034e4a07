import { afterEach, describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../../../resources/locales/texts.ts'
import { changeLanguage } from '../../../lib/language.ts'
import { curlCommand } from './curl-command.ts'
import { pathsOf, sampleFor } from './json-paths.ts'
import { fillFrom, PRESETS } from './webhook-presets.ts'

afterEach(() => changeLanguage('system'))

const placeholdersOf = (template: string) => [...template.matchAll(/\{([^{}\s]+)\}/g)].map((match) => match[1]!)

function at(json: string, path: string): unknown {
  return path.split('.').reduce<unknown>((place, key) => (place as Record<string, unknown> | undefined)?.[key], JSON.parse(json))
}

describe.each(PRESETS)('the preset %s', (preset) => {
  it.each(LANGUAGES)('fills every part of its task from its own sample (%s)', (language) => {
    changeLanguage(language)
    const { taskTemplate, sample } = fillFrom(preset)
    const places = placeholdersOf(taskTemplate)
    expect(places.length).toBeGreaterThan(1)
    for (const path of places) expect([path, at(sample, path)]).not.toEqual([path, undefined])
  })

  it('ignores duplicates if its sender names each delivery', () => {
    expect(fillFrom(preset).dedupe).toBe(preset !== 'generic')
  })
})

describe('pathsOf', () => {
  it.each([
    ['{"a":1,"b":{"c":"x","d":[1,2]},"e":null}', ['a', 'b.c', 'b.d', 'e']],
    ['{"with space":1,"with.dot":2,"__proto__":3}', ['__proto__']],
    ['[1]', []],
    ['{', []],
  ])('finds what a template can name in %s', (json, paths) => {
    expect(pathsOf(json)).toEqual(paths)
  })
})

describe('sampleFor', () => {
  it.each([
    ['{a} and {b.c} and {b.d}', { a: 'a', b: { c: 'c', d: 'd' } }],
    ['{a.b} and {a}', { a: { b: 'b' } }],
    ['{a} and {a.b}', { a: { b: 'b' } }],
    ['nothing', {}],
  ])('fills every placeholder of %s', (template, sample) => {
    expect(JSON.parse(sampleFor(template))).toEqual(sample)
  })

  it('treats __proto__ as a name', () => {
    expect(sampleFor('{__proto__.x}')).toContain('"__proto__"')
    expect(({} as { x?: string }).x).toBeUndefined()
  })
})

it('quotes a payload for the shell', () => {
  const command = curlCommand('http://127.0.0.1:3001/webhooks/a/b', `{"a":"it's $HOME"}`)
  expect(command).toContain("curl -X POST 'http://127.0.0.1:3001/webhooks/a/b'")
  expect(command).toContain(String.raw`-d '{"a":"it'\''s $HOME"}'`)
})
