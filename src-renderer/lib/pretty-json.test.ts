import fc from 'fast-check'
import { expect, it } from 'vitest'
import { prettyJson } from './pretty-json.ts'

it.each([
  ['{"id":12345678901234567890,"a":1.10}', '{\n  "id": 12345678901234567890,\n  "a": 1.10\n}'],
  ['{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'],
  [
    '{"a":[],"b":{},"c":[{"d":"e, {f}: \\"g\\""}]}',
    '{\n  "a": [],\n  "b": {},\n  "c": [\n    {\n      "d": "e, {f}: \\"g\\""\n    }\n  ]\n}',
  ],
  ['"a string"', '"a string"'],
  ['{"broken":', '{"broken":'],
  ['plain words', 'plain words'],
])('puts %s into lines, token by token', (text, lines) => {
  expect(prettyJson(text)).toBe(lines)
})

it.each([5_000, 100_000])('leaves %d brackets in brackets as they are, because their indentation would fill the memory', (depth) => {
  const text = '['.repeat(depth) + ']'.repeat(depth)
  expect(prettyJson(text) === text).toBe(true)
})

it('never changes the value of the JSON', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(prettyJson(text))).toEqual(JSON.parse(text))
    }),
  )
})
