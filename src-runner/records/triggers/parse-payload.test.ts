import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePayload } from './parse-payload.ts'
import { renderTemplate } from './template.ts'

describe('parsePayload', () => {
  it.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '18446744073709551615', '12345678901234567890123456789'])(
    'keeps %s to the last digit',
    (id) => {
      const payload = parsePayload(`{"id":${id},"list":[{"id":${id}}],"text":"${id}"}`)
      expect(renderTemplate('{id} {list.0.id} {list} {text}', payload).text).toBe(`${id} ${id} [{"id":${id}}] ${id}`)
    },
  )

  it('leaves all other numbers as they are', () => {
    expect(parsePayload('[1, 9007199254740991, 1.2345678901234567890, 1e30, 1234567890123456e3, 0]')).toEqual([
      1,
      9007199254740991,
      Number('1.2345678901234567890'),
      1e30,
      1234567890123456e3,
      0,
    ])
  })

  it('says the same as JSON.parse of everything else, own keys and errors included', () => {
    const digits = '"1234567890123456"'
    fc.assert(
      fc.property(fc.json(), (text) => {
        const asDoubles = (_key: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)
        const written = JSON.stringify(parsePayload(`[${digits},${text}]`), asDoubles)
        expect(written).toBe(JSON.stringify(JSON.parse(`[${digits},${text}]`)))
      }),
    )
    const payload = parsePayload(`{"__proto__":{"x":${digits}}}`)
    expect(Object.hasOwn(payload as object, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
    expect(() => parsePayload(`{${digits}`)).toThrow(SyntaxError)
    expect(() => parsePayload('')).toThrow(SyntaxError)
  })

  it('takes what is nested 100,000 times', () => {
    const deep = `[1234567890123456789,${'['.repeat(100_000)}${']'.repeat(100_000)}]`
    expect(Array.isArray(parsePayload(deep))).toBe(true)
  })
})
