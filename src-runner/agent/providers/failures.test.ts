import { expect, it } from 'vitest'
import { scrub } from './failures.ts'

const scrubbed = (text: string, ...prompt: string[]) =>
  scrub(text, { apiKey: null, messages: prompt.map((words) => ({ role: 'user' as const, text: words })) })

it('removes what repeats the conversation, also where two of its places meet', () => {
  const first = 'The painting hangs behind the fire'
  const second = 'behind the fire of the old mill'
  expect(scrubbed('Cannot read: painting hangs behind the fire of the old mill!', first, second)).toBe('Cannot read:[…]!')
  expect(scrubbed('The painting. The fire.', first)).toBe('The painting. The fire.')
  expect(scrubbed(first, first)).toBe('[…]')
})

it('looks for what an error repeats in a prompt of millions of characters, in one pass', () => {
  const prompt = 'So ein schöner Tag → und noch einer. '.repeat(100_000)
  const error = Array.from({ length: 1_000 }, (_, n) => `part ${n}`).join(' ')
  const before = process.cpuUsage()
  expect(scrubbed(error, prompt)).toBe(error)
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(4_000)
})
