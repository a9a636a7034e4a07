import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../testing/cpu-time.ts'
import { matchesPattern, parsePattern } from './pattern.ts'

const matches = (pattern: string, text: string) => matchesPattern(parsePattern(pattern), text)

describe('a pattern', () => {
  it.each([
    ['abc', 'abc', true],
    ['abc', 'abcd', false],
    ['*', '', true],
    ['*', 'a\nb', true],
    ['a*', 'a', true],
    ['*a', 'ba', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'axxbyyc', true],
    ['a*b*c', 'axxcyyb', false],
    ['*ab*ab*', 'abab', true],
    ['*ab*ab*', 'aba', false],
    ['git *', 'git push --force', true],
    ['git *', 'github', false],
    ['a.c', 'abc', false],
    ['[a]', 'a', false],
    ['a?c', 'abc', false],
    ['**', 'x', true],
  ])('matches %j against %j: %s', (pattern, text, expected) => expect(matches(pattern, text)).toBe(expected))

  it('matches like the same regular expression', () => {
    const letters = (most: number) => fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: most }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(letters(8), letters(12), (pattern, text) => {
        const oracle = new RegExp(`^${pattern.split('*').join('[^]*')}$`)
        expect(matches(pattern, text)).toBe(oracle.test(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('stays fast with a pattern made to be slow', () => {
    const match = () => expect(matches(`${'a*'.repeat(1000)}b`, 'a'.repeat(100_000))).toBe(false)
    expect(cpuMsOf(match)).toBeLessThan(500)
  })
})
