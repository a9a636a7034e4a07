import { describe, expect, it } from 'vitest'
import { initialsOf, matchesWords, previewOf } from './text.ts'

describe('text', () => {
  it('matches words in any order, with any case and accent', () => {
    expect(matchesWords('Chat with Café guide', 'guide cafe')).toBe(true)
    expect(matchesWords('Chat with Café guide', 'guide tea')).toBe(false)
    expect(matchesWords('anything', '')).toBe(true)
  })

  it.each([
    ['Release watcher', 'RW'],
    ['notes', 'N'],
    ['🚢 harbour', '🚢H'],
    ['  ', '?'],
  ])('stands for %j as %s', (name, initials) => {
    expect(initialsOf(name)).toBe(initials)
  })
})

describe('the preview of a text', () => {
  it.each([
    ['✅ **Ada** finished “Round”.\n\nTwo boards\nare loose.', '✅ Ada finished “Round”. Two boards are loose.'],
    ['# Plan\n\n- one\n- two\n\n1. three', 'Plan one two three'],
    ['> She said `yes` and ~~no~~, [here](https://example.com/a).', 'She said yes and no, here.'],
    // What only looks like a mark stays.
    ['2 ** 3 is 8, snake_case_name, a * b * c', '2 ** 3 is 8, snake_case_name, a * b * c'],
    ['', ''],
  ])('%j says %j', (markdown, preview) => {
    expect(previewOf(markdown)).toBe(preview)
  })
})
