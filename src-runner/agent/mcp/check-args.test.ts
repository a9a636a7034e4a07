import { describe, expect, it } from 'vitest'
import { createArgsChecker } from './check-args.ts'
import { readSchema } from './schema-limits.ts'

const makeCheck = await createArgsChecker()

function check(properties: Record<string, unknown>, args: Record<string, unknown>) {
  const { schema, problem } = readSchema({ type: 'object', properties })
  return { problem, result: makeCheck(JSON.stringify(schema), schema)(args) }
}

describe('the arguments of a tool of a hostile server', () => {
  it('are held against a schema that means what was measured, whatever its parts call themselves', () => {
    // Within `n`, `#/properties/a` would be `a` of `n`, which then names itself, twice on each level.
    const twice = { $ref: '#/properties/a' }
    const deep = { properties: { a: { anyOf: [twice, { ...twice, title: 'again' }] } } }
    const n = { $id: 'https://evil.example/n', type: 'object', properties: { a: { ...deep, not: { required: ['a'] } } } }
    expect(check({ a: { type: 'string' }, n }, { n: { a: { a: 7 } } })).toMatchObject({
      problem: null,
      result: expect.stringContaining('must be string'),
    })
    const itself = { $id: 'https://evil.example/n', properties: { a: { allOf: [twice] } } }
    expect(check({ a: { type: 'string' }, n: itself }, { n: { a: 7 } })).toMatchObject({
      problem: null,
      result: expect.stringContaining('must be string'),
    })
  })

  it('may have a property that is called like a keyword', () => {
    expect(check({ $id: { type: 'number' } }, { $id: 'x' }).result).toContain('must be number')
  })

  it('are left to the server when checking them would take long', () => {
    const anyOf = (parts: number) => ({ a: { type: 'array', items: { anyOf: Array.from({ length: parts }, (_, i) => ({ const: i })) } } })
    expect(check(anyOf(50), { a: ['x'] }).result).toContain('must be equal to constant')
    expect(check(anyOf(50), { a: Array.from({ length: 20_000 }, () => 'x') })).toEqual({ problem: null, result: null })
    expect(check(anyOf(900), { a: ['x'] })).toEqual({ problem: null, result: null })
  })
})
