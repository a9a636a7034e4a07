import { describe, expect, it } from 'vitest'
import { ThinkTags } from './think-tags.ts'

function split(pieces: readonly string[]): { thinking: string; text: string } {
  const tags = new ThinkTags()
  const all = [...pieces.map((piece) => tags.take(piece)), tags.end()]
  return { thinking: all.map(({ thinking }) => thinking).join(''), text: all.map(({ text }) => text).join('') }
}

describe('thinking inside of text', () => {
  const cases: [what: string, written: string, thinking: string, text: string][] = [
    ['takes what stands between the tags for thinking', '<think>Hm.</think>\n\nYes.', 'Hm.', 'Yes.'],
    ['knows the other tag', '<thinking>Hm.</thinking>Yes.', 'Hm.', 'Yes.'],
    ['passes over empty lines before the tag', '\n <think>Hm.</think>Yes.', 'Hm.', 'Yes.'],
    ['takes thinking that is not closed for thinking to the end', '<think>Hm, and so on </thin', 'Hm, and so on </thin', ''],
    ['takes no thinking for an empty one', '<think>\n\n</think>\n\nYes.', '\n\n', 'Yes.'],
    ['leaves tags further on in the text', 'Write <think>x</think> there.', '', 'Write <think>x</think> there.'],
    ['leaves tags after the answer began', '<think>a</think>b <think>c</think>', 'a', 'b <think>c</think>'],
    ['leaves a tag that only begins like it', '<thin>ice</thin>', '', '<thin>ice</thin>'],
    ['leaves an answer that ends before the tag does', '<thi', '', '<thi'],
    ['leaves an answer of white space', ' \n', '', ' \n'],
  ]

  it.each(cases)('%s', (_what, written, thinking, text) => {
    expect(split([written])).toEqual({ thinking, text })
  })

  it.each(cases)('%s, one character at a time', (_what, written, thinking, text) => {
    expect(split([...written])).toEqual({ thinking, text })
  })

  it('streams thinking and text', () => {
    const tags = new ThinkTags()
    tags.take('<think>')
    expect(tags.take('One ')).toEqual({ thinking: 'One ', text: '' })
    expect(tags.take('two</thi')).toEqual({ thinking: 'two', text: '' })
    expect(tags.take('nk>Three')).toEqual({ thinking: '', text: 'Three' })
    expect(tags.take(' four')).toEqual({ thinking: '', text: ' four' })
  })
})
