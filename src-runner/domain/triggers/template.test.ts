import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_PLACEHOLDER_CHARS } from '../../contract/triggers.ts'
import { cpuMsOf } from '../../testing/cpu-time.ts'
import { MAX_REPEATED_CHARS, MAX_VALUES_CHARS, renderTemplate } from './template.ts'

const textOf = (template: string, json: string) => renderTemplate(template, JSON.parse(json)).text

describe('renderTemplate', () => {
  it.each([
    ['Summarise {issue.title}', '{"issue":{"title":"Crash at start"}}', 'Summarise Crash at start'],
    ['{a}{b} and {a}', '{"a":"1","b":"2"}', '12 and 1'],
    ['{items.1.name}', '{"items":[{"name":"first"},{"name":"second"}]}', 'second'],
    ['{0.name}', '[{"name":"of a list"}]', 'of a list'],
    ['{a.0}', '{"a":{"0":"a key that is a number"}}', 'a key that is a number'],
    ['n={n} t={t} f={f} z={z}', '{"n":12.5,"t":true,"f":false,"z":null}', 'n=12.5 t=true f=false z=null'],
    ['{big} {small}', '{"big":1e400,"small":-1e400}', '1e999 -1e999'],
    ['{o} {l} {e}', '{"o":{"x":[1,"two",null]},"l":[[],{}],"e":{}}', '{"x":[1,"two",null]} [[],{}] {}'],
    ['{empty}.', '{"empty":""}', '.'],
    ['{x-github-id} {@type} {$ref} {größe} {名前}', '{"x-github-id":1,"@type":2,"$ref":3,"größe":4,"名前":5}', '1 2 3 4 5'],
  ])('fills %j', (template, payload, text) => {
    expect(textOf(template, payload)).toBe(text)
  })

  it.each([
    '{nothing}',
    '{a.nothing}',
    '{a.b.c.d}',
    '{a..b}',
    '{text.length}',
    '{text.0}',
    '{list.length}',
    '{list.-1}',
    '{list.00}',
    '{list.1e0}',
    '{list.9}',
    '{number.toFixed}',
    '{nil.x}',
    '{__proto__}',
    '{__proto__.x}',
    '{a.__proto__}',
    '{constructor}',
    '{constructor.constructor}',
    '{a.constructor.name}',
    '{a.__defineGetter__}',
    '{toString}',
    '{list.map}',
    '{hasOwnProperty}',
  ])('leaves an empty text if the payload has no own %s', (template) => {
    const { text, placeholders } = renderTemplate(
      `<${template}>`,
      JSON.parse('{"a":{"b":1},"text":"abc","list":[1,2],"number":1,"nil":null}'),
    )
    expect(text).toBe('<>')
    expect(placeholders).toEqual([{ path: template.slice(1, -1), state: 'missing', value: '' }])
  })

  it.each(['null', '"text"', '7', 'true', '[]'])('finds every path missing in a payload that is %s', (payload) => {
    expect(textOf('<{a}{a.b}{length}{0}>', payload)).toBe('<>')
  })

  it('reads own keys with the names of inherited ones', () => {
    const payload = '{"__proto__":{"x":"own"},"constructor":{"prototype":{"y":"too"}},"toString":"a word"}'
    expect(textOf('{__proto__.x} {constructor.prototype.y} {toString}', payload)).toBe('own too a word')
    expect(textOf('{a}', '{"a":{"__proto__":1}}')).toBe('{"__proto__":1}')
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it.each([
    '{}',
    '{ a }',
    '{a }',
    '{\ta}',
    '{.a}',
    '{a.}',
    '{...}',
    '{.}',
    '{"x": 1}',
    "{'a'}",
    '{a\nb}',
    '{a',
    'a}',
    '}{',
    '{a,',
    '\\d{2,3}',
  ])('leaves %j unchanged', (template) => {
    expect(renderTemplate(template, { a: 'value', '': 'empty name', ' a ': 'spaced', x: 1 })).toEqual({ text: template, placeholders: [] })
  })

  it('fills names of several words only if the payload has them', () => {
    const template = 'Write to {fields.First Name} ({dc:title}). Answer as: {your answer}'
    expect(renderTemplate(template, { fields: { 'First Name': 'Ada' }, 'dc:title': 'Notes' })).toEqual({
      text: 'Write to Ada (Notes). Answer as: {your answer}',
      placeholders: [
        { path: 'fields.First Name', state: 'filled', value: 'Ada' },
        { path: 'dc:title', state: 'filled', value: 'Notes' },
      ],
    })
  })

  it('uses the inner pair of doubled braces', () => {
    expect(renderTemplate('{{a}} {{{a}}}', { a: 1 }).text).toBe('{1} {{1}}')
  })

  it('does not search values for placeholders', () => {
    const payload = { a: '{b}', b: 'expanded', open: '{', name: 'b}', secret: 's3' }
    expect(renderTemplate('{a} {open}b} {open}{name} {{name}', payload).text).toBe('{b} {b} {b} {b}')
    expect(renderTemplate('{a}', { a: { b: '{secret}' }, secret: 's3' }).text).toBe('{"b":"{secret}"}')
    expect(renderTemplate('{a}', { a: '$& $1 $$' }).text).toBe('$& $1 $$')
  })

  it('lists each path once, in order of appearance', () => {
    expect(renderTemplate('{b} {a} {b} {c}', { a: 'A', b: 'B' }).placeholders).toEqual([
      { path: 'b', state: 'filled', value: 'B' },
      { path: 'a', state: 'filled', value: 'A' },
      { path: 'c', state: 'missing', value: '' },
    ])
  })

  it('cuts a long text with a mark, without splitting a character', () => {
    expect(renderTemplate('{a}', { a: 'x'.repeat(MAX_PLACEHOLDER_CHARS) }).placeholders[0]!.state).toBe('filled')
    const { text, placeholders } = renderTemplate('<{a}>', { a: `${'x'.repeat(MAX_PLACEHOLDER_CHARS - 1)}😀 and more` })
    expect(placeholders[0]!.state).toBe('cut')
    expect(text).toMatch(/^<x+\ufffd \[cut here: the value is longer than what is shown\]>$/)
    expect(text.length).toBeLessThan(MAX_PLACEHOLDER_CHARS + 100)
  })

  it('cuts an object of 900,000 characters', () => {
    const payload = { a: Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`key ${n}`, 'a value of some length'])) }
    const { text, placeholders } = renderTemplate('{a}', payload)
    expect(placeholders[0]!.state).toBe('cut')
    expect(text.startsWith('{"key 0":"a value of some length","key 1":')).toBe(true)
    expect(text.length).toBeLessThan(MAX_PLACEHOLDER_CHARS + 100)
  })

  it('shows all the different values of the largest body', () => {
    const payload = Object.fromEntries(Array.from('abcdefghijk', (name) => [name, name.repeat(90_000)]))
    const { text, placeholders } = renderTemplate('{a}{b}{c}{d}{e}{f}{g}{h}{i}{j}{k}', payload)
    expect(text === Object.values(payload).join('')).toBe(true)
    expect(placeholders.map(({ state }) => state)).toEqual(Array(11).fill('filled'))
  })

  it('limits values that are repeated', () => {
    const { text, placeholders } = renderTemplate('{a}{b}'.repeat(10_000), { a: 'a'.repeat(90_000), b: 'b'.repeat(90_000) })
    expect(text.length).toBeLessThan(2 * 90_000 + MAX_REPEATED_CHARS + 20_000 * 6)
    expect(placeholders.map(({ state }) => state)).toEqual(['cut', 'cut'])
    expect(text.match(/a/g)!.length).toBeGreaterThan(90_000)
    expect(text.match(/b/g)!.length).toBeGreaterThanOrEqual(90_000)
  })

  it('limits values that contain each other', () => {
    const paths = Array.from({ length: 300 }, (_, depth) => `{a${'.a'.repeat(depth)}}`)
    const payload: unknown = JSON.parse(`${'{"a":'.repeat(300)}"${'x'.repeat(200_000)}"${'}'.repeat(300)}`)
    expect(renderTemplate(paths.join(''), payload).text.length).toBeLessThan(MAX_VALUES_CHARS + 300 * 60)
  })

  it('replaces half surrogate pairs', () => {
    expect(renderTemplate('{a}', JSON.parse('{"a":"x\\ud800y"}')).text).toBe('x\ufffdy')
  })

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('writes 100,000 levels of nesting in %s', (open, close) => {
    const payload: unknown = JSON.parse(`{"deep":${open.repeat(100_000)}1${close.repeat(100_000)}}`)
    const { text, placeholders } = renderTemplate('{deep}', payload)
    expect(placeholders[0]!.state).toBe('cut')
    expect(text.startsWith(open.repeat(1000))).toBe(true)
  })

  it('writes an object as equivalent JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { text } = renderTemplate('{value}', { value: [value] })
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify([value])))
      }),
    )
  })

  it('replaces a placeholder by any value of any object', () => {
    const key = fc.stringMatching(/^[a-z_$@][a-z0-9_-]{0,5}$/)
    const path = fc.array(key, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(path, fc.string({ unit: 'grapheme' }), fc.string(), fc.string(), (keys, value, before, after) => {
        const around = [before, after].map((text) => text.replace(/[{}]/g, ''))
        const payload: unknown = JSON.parse(JSON.stringify(keys.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)))
        expect(renderTemplate(`${around[0]}{${keys.join('.')}}${around[1]}`, payload).text).toBe(
          around[0] + value.toWellFormed() + around[1],
        )
      }),
    )
  })

  it('never shows text from outside the payload', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.jsonValue({ maxDepth: 3 }), (path, payload) => {
        expect(renderTemplate(`{${path}}`, payload).text).not.toMatch(/\[object|undefined|native code|=>/)
      }),
    )
  })

  // Ten times the usual time, to find quadratic work.
  it.each([
    ['10,000 placeholders', '{a.b}'.repeat(10_000), { a: { b: 'v' } }],
    ['10,000 different placeholders', Array.from({ length: 10_000 }, (_, n) => `{k${n}}`).join(' '), { k1: 1 }],
    ['a path of 1,000 parts', `{${Array(1000).fill('a').join('.')}}`, JSON.parse(`${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`)],
    ['100,000 opening braces', '{'.repeat(100_000), {}],
    ['100,000 characters in one pair', `{${'a'.repeat(100_000)}}`, {}],
    ['100,000 spaces in one pair', `{a${' '.repeat(100_000)}}`, {}],
    ['100,000 dots in one pair', `{a${'.'.repeat(100_000)}b}`, {}],
    ['a large value in 30,000 places', '{a}'.repeat(30_000), { a: Array(100_000).fill('value') }],
  ])('is fast with %s', (_, template, payload) => {
    renderTemplate('{warm}', {})
    expect(cpuMsOf(() => renderTemplate(template, payload))).toBeLessThan(500)
  })
})
