import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { JobChannel } from '../../contract/jobs.ts'
import { NO_TAINTS, type Taints } from '../../contract/rules.ts'
import { taintsOf, type TaintedStep } from './taints.ts'

const OWNER = { channel: 'chat', fromOwner: false } as const
const step = (seq: number, more: Partial<TaintedStep> = {}): TaintedStep => ({
  seq,
  name: `tool${seq}`,
  addsTaint: [],
  leftMachine: false,
  ...more,
})

it.each<[JobChannel, boolean, string | null]>([
  ['chat', false, null],
  ['api', false, null],
  ['schedule', false, null],
  ['delegation', false, null],
  ['webhook', false, 'a webhook started it'],
  ['telegram', false, 'a message in Telegram started it'],
  ['telegram', true, null],
  ['messenger', false, 'a message in WhatsApp started it'],
])('a job by %s (owner: %s) begins as untrusted: %s', (channel, fromOwner, cause) => {
  expect(taintsOf({ channel, fromOwner }, [], []).untrusted).toEqual(
    cause === null ? null : { seq: 0, cause, about: { code: 'started_by', channel } },
  )
})

it('names the first step that set each mark', () => {
  const steps = [
    step(2, { addsTaint: ['private'] }),
    step(3, { leftMachine: true }),
    step(4, { addsTaint: ['private', 'untrusted'] }),
    step(5, { addsTaint: ['untrusted'], leftMachine: true }),
  ]
  expect(taintsOf(OWNER, [], steps)).toEqual({
    private: { seq: 2, cause: 'the answer of tool2', about: { code: 'answer_of', tool: 'tool2' } },
    untrusted: { seq: 4, cause: 'the answer of tool4', about: { code: 'answer_of', tool: 'tool4' } },
    outside: { seq: 3, cause: 'tool3', about: { code: 'call_of', tool: 'tool3' } },
  })
})

it('what was handed down stands at the beginning, and what another job let out is not its own doing', () => {
  const above: Taints = { untrusted: { seq: 7, cause: 'a page' }, private: null, outside: { seq: 8, cause: 'send' } }
  expect(taintsOf(OWNER, [NO_TAINTS, above], [])).toEqual({ untrusted: { seq: 0, cause: 'a page' }, private: null, outside: null })
})

it('a mark is never lost, whatever happens next', () => {
  const steps = fc.array(
    fc.record({
      seq: fc.nat(50),
      name: fc.constantFrom('a', 'b'),
      addsTaint: fc.subarray<'private' | 'untrusted'>(['private', 'untrusted']),
      leftMachine: fc.boolean(),
    }),
  )
  fc.assert(
    fc.property(steps, steps, (before, after) => {
      const taints = taintsOf(OWNER, [], before)
      const later = taintsOf(OWNER, [], [...before, ...after])
      for (const mark of ['untrusted', 'private', 'outside'] as const) if (taints[mark] !== null) expect(later[mark]).toEqual(taints[mark])
    }),
  )
})
