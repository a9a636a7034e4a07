import { expect, it } from 'vitest'
import { OutboundError } from '../../platform/net/outbound.ts'
import { failureFromOutbound, scrub } from './failures.ts'

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

it.each([
  // The code of the system; whether the provider is on this machine, and at its own address; whether this machine is offline.
  ['EAI_AGAIN', false, false, true],
  ['ENETUNREACH', false, false, true],
  ['ENETDOWN', false, false, true],
  ['ENOTFOUND', false, false, undefined],
  ['EHOSTUNREACH', false, false, undefined],
  ['ENOTFOUND', false, true, true],
  ['EHOSTUNREACH', false, true, true],
  ['UND_ERR_CONNECT_TIMEOUT', false, true, undefined],
  ['ENETUNREACH', true, true, undefined],
])('takes %s for being offline only if no wrong address can cause it (local: %s, own address: %s)', (code, local, ownAddress, offline) => {
  const at = { local, ownAddress }
  const context = { providerName: 'Acme', model: 'any', ...at, getModelCommand: null, apiKey: null, messages: [], now: 0 }
  const kind = code.startsWith('EAI') || code === 'ENOTFOUND' ? 'dns' : 'unreachable'
  const failure = failureFromOutbound(context, new OutboundError(kind, 'no', code))
  expect(failure).toMatchObject({ kind: 'network', retryable: true })
  expect(failure.offline).toBe(offline)
})
