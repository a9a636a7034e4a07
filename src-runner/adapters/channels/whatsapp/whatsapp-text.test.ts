import { expect, it } from 'vitest'
import { writeMarks } from './whatsapp-text.ts'

it('shows a call that has marks and backquotes in it letter by letter', () => {
  const pre = (text: string) => writeMarks({ text, entities: [{ type: 'pre', offset: 0, length: text.length }] })
  expect(pre('rm *old* ~new~')).toBe('```rm *old* ~new~```')
  expect(pre('echo ``` ; rm *a*')).toBe('```echo ``\u200b` ; rm *a*```')
  expect(pre('echo `````')).toBe('```echo ``\u200b``\u200b`\u200b```')
})
