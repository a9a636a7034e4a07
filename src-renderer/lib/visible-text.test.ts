import { expect, it } from 'vitest'
import { visibleText } from './visible-text.ts'

it.each([
  ['a right-to-left override', 'a\u202Egnp', 'a⟨U+202E⟩gnp'],
  ['a zero-width space', 'a\u200Bb', 'a⟨U+200B⟩b'],
  ['a terminal escape', '\u001B[31mred', '⟨U+001B⟩[31mred'],
  ['a carriage return that would overwrite the line', 'rm x\rls', 'rm x⟨U+000D⟩ls'],
  ['tags that spell an invisible sentence', 'ok\u{E0069}\u{E0067}', 'ok⟨U+E0069⟩⟨U+E0067⟩'],
  ['variation selectors after a letter', 'a\uFE0F\uFE01', 'a⟨U+FE0F⟩⟨U+FE01⟩'],
  ['letters and signs that look like nothing', 'a\u3164b\u034Fc\u2800d\u{1D173}e', 'a⟨U+3164⟩b⟨U+034F⟩c⟨U+2800⟩d⟨U+1D173⟩e'],
  ['a byte order mark', '\uFEFFx', '⟨U+FEFF⟩x'],
])('writes out %s', (_, hidden, shown) => {
  expect(visibleText(hidden)).toBe(shown)
})

it.each([['line one\n\tline two'], ['Grüße, 你好, שלום'], ['👩‍🚀 ✔️ 👍🏽 5️⃣'], ['<b>&amp;</b>']])(
  'leaves what can be seen alone: %s',
  (text) => {
    expect(visibleText(text)).toBe(text)
  },
)

it('treats Windows line ends as line ends', () => {
  expect(visibleText('a\r\nb')).toBe('a\nb')
})
