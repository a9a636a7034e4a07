import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { LongInteger, parsePayload } from './parse-payload.ts'
import { renderTemplate } from './template.ts'

describe('parsePayload', () => {
  it.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '18446744073709551615', '12345678901234567890123456789'])(
    'keeps %s to the last digit',
    (id) => {
      const payload = parsePayload(`{"id":${id},"list":[{"id":${id}}],"text":"${id}"}`)
      expect(renderTemplate('{id} {list.0.id} {list} {text}', payload).text).toBe(`${id} ${id} [{"id":${id}}] ${id}`)
    },
  )

  it('leaves all other numbers unchanged', () => {
    expect(parsePayload('[1, 9007199254740991, 1.2345678901234567890, 1e30, 1234567890123456e3, 0]')).toEqual([
      1,
      9007199254740991,
      Number('1.2345678901234567890'),
      1e30,
      1234567890123456e3,
      0,
    ])
  })

  it('returns the same as JSON.parse for everything else, including own keys and errors', () => {
    const digits = '"1234567890123456"'
    fc.assert(
      fc.property(fc.json(), (text) => {
        const asDoubles = (_key: string, value: unknown) => (value instanceof LongInteger ? Number(value.toString()) : value)
        const written = JSON.stringify(parsePayload(`[${digits},1234567890123456789,${text}]`), asDoubles)
        expect(written).toBe(JSON.stringify(JSON.parse(`[${digits},1234567890123456789,${text}]`)))
      }),
    )
    const payload = parsePayload(`{"__proto__":{"x":${digits}}}`)
    expect(Object.hasOwn(payload as object, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
    expect(() => parsePayload(`{${digits}`)).toThrow(SyntaxError)
    expect(() => parsePayload('')).toThrow(SyntaxError)
  })

  it('keeps a long number under any key, beside strings that look like numbers or end in backslashes', () => {
    const id = '9223372036854775807'
    const payload = parsePayload(`{"__proto__":${id},"a\\\\":[-${id}, "${id}", "\\"${id}\\\\"],"1":${id}}`) as Record<string, unknown>
    expect(Object.keys(payload)).toEqual(['1', '__proto__', 'a\\'])
    expect(Object.getPrototypeOf(payload)).toBe(Object.prototype)
    expect(renderTemplate('{__proto__} {1}', payload).text).toBe(`${id} ${id}`)
    expect((payload['a\\'] as unknown[]).map(String)).toEqual([`-${id}`, id, `"${id}\\`])
  })

  it.each([
    '{1234567890123456789:1}',
    '{1234567890123456789 \n:1}',
    '"1234567890123456789',
    '"\\',
    '1234567890123456789"a"',
    '[1234567890123456789',
    '00000000000000000001',
    '[01234567890123456789]',
    '[-12345678901234567890-]',
    '1234567890123456789 1',
  ])('rejects %s', (text) => {
    expect(() => parsePayload(text)).toThrow(SyntaxError)
  })

  it('uses no reviver, which takes fifty times as long', () => {
    const parse = vi.spyOn(JSON, 'parse')
    parsePayload(`[${'1,'.repeat(1000)}1234567890123456789]`)
    expect(parse.mock.calls.map((args) => args.length)).toEqual([1])
    parse.mockRestore()
  })

  it('keeps a number of a million digits', () => {
    const digits = '7'.repeat(1_000_000)
    expect(String(parsePayload(digits))).toBe(digits)
    expect(renderTemplate('{a}', parsePayload(`{"a":${digits}}`)).placeholders).toMatchObject([{ state: 'cut' }])
  })

  it('accepts 100,000 levels of nesting', () => {
    const deep = `[1234567890123456789,${'['.repeat(100_000)}${']'.repeat(100_000)}]`
    expect(Array.isArray(parsePayload(deep))).toBe(true)
  })
})
