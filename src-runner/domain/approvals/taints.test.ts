import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { JobChannel } from '../../contract/jobs.ts'
import { NO_TAINTS, type Taints } from '../../contract/rules.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { transact, type Tx } from '../../platform/db/database.ts'
import { openDomainRig } from '../../testing/domain-rig.ts'
import { deleteConversation } from '../conversations/conversations.ts'
import { keepTaintsOfTurns, readTaints, taintsOf, type TaintedStep } from './taints.ts'

const OWNER = { channel: 'chat', fromOwner: false } as const
const step = (seq: number, more: Partial<TaintedStep> = {}): TaintedStep => ({
  seq,
  name: `tool${seq}`,
  addsTaint: [],
  leftMachine: false,
  ...more,
})

it.each<[JobChannel, boolean, boolean]>([
  ['chat', false, false],
  ['api', false, false],
  ['schedule', false, false],
  ['delegation', false, false],
  ['webhook', false, true],
  ['telegram', false, true],
  ['telegram', true, false],
  ['messenger', false, true],
])('taints a job that starts through %s (by the owner: %s) as untrusted: %s', (channel, fromOwner, isUntrusted) => {
  expect(taintsOf({ channel, fromOwner }, [], []).untrusted).toEqual(
    isUntrusted ? { seq: 0, cause: createMessage('taint_started_by', { channel }) } : null,
  )
})

it('names the first step that added each taint', () => {
  const steps = [
    step(2, { addsTaint: ['private'] }),
    step(3, { leftMachine: true }),
    step(4, { addsTaint: ['private', 'untrusted'] }),
    step(5, { addsTaint: ['untrusted'], leftMachine: true }),
  ]
  expect(taintsOf(OWNER, [], steps)).toEqual({
    private: { seq: 2, cause: createMessage('taint_result', { tool: 'tool2' }) },
    untrusted: { seq: 4, cause: createMessage('taint_result', { tool: 'tool4' }) },
    outside: { seq: 3, cause: quote('tool3') },
  })
})

it('inherits taints at the start of the job, except that data left the machine', () => {
  const above: Taints = { untrusted: { seq: 7, cause: quote('a page') }, private: null, outside: { seq: 8, cause: quote('send') } }
  expect(taintsOf(OWNER, [NO_TAINTS, above], [])).toEqual({ untrusted: { seq: 0, cause: quote('a page') }, private: null, outside: null })
})

it('never loses a taint', () => {
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
      for (const taint of ['untrusted', 'private', 'outside'] as const)
        if (taints[taint] !== null) expect(later[taint]).toEqual(taints[taint])
    }),
  )
})

it('reach a job from the top of a chain, however many jobs a client put under one another', () => {
  const rig = openDomainRig()
  const agentId = rig.addAgent('Ada').id
  const id = transact<string>(rig.db, (tx) => {
    const job = { agentId, task: 'Do it' }
    let parentJobId = rig.store.enqueue(tx, { ...job, channel: 'webhook' }).id
    for (let i = 0; i < 5_000; i++) parentJobId = rig.store.enqueue(tx, { ...job, channel: 'api', parentJobId }).id
    return parentJobId
  })
  expect(readTaints(rig.db, id)).toMatchObject({ untrusted: { seq: 0 }, private: null })
  rig.close()
})

it('reach a turn from the parent of an earlier turn of its conversation, whose text it reads', () => {
  const rig = openDomainRig()
  const agentId = rig.addAgent('Ada').id
  const [later, before] = transact<string[]>(rig.db, (tx) => {
    const job = { agentId, task: 'Do it' }
    const turn = (conversation?: string, parentJobId?: string) =>
      rig.store.enqueue(tx, { ...job, channel: 'chat', ...(conversation && { conversation }), ...(parentJobId && { parentJobId }) })
    const first = turn()
    const source = rig.store.enqueue(tx, { ...job, channel: 'webhook' })
    turn(first.conversationId!, source.id)
    return [turn(first.conversationId!).id, first.id]
  })
  expect(readTaints(rig.db, later!)).toMatchObject({ untrusted: { seq: 0 }, private: null })
  expect(readTaints(rig.db, before!)).toEqual(NO_TAINTS)
  rig.close()
})

it('stay with the jobs below a turn when the conversation is deleted, also when they are retried', () => {
  const rig = openDomainRig()
  const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
  const agentId = rig.addAgent('Ada').id
  const job = { agentId, task: 'Do it' }
  const first = write((tx) => rig.store.enqueue(tx, { ...job, channel: 'webhook', conversation: 'new' }))
  const conversation = first.conversationId!
  const turn = write((tx) => rig.store.enqueue(tx, { ...job, channel: 'chat', conversation }))
  const helper = write((tx) => rig.store.enqueue(tx, { ...job, channel: 'delegation', parentJobId: turn.id }))
  const alone = write((tx) => rig.store.enqueue(tx, { ...job, channel: 'chat', conversation }))
  const before = readTaints(rig.db, helper.id)
  expect(before.untrusted).not.toBeNull()
  write((tx) => {
    rig.store.cancel(tx, helper.id)
    keepTaintsOfTurns(tx, conversation)
    deleteConversation(tx, { jobs: rig.store }, conversation)
  })
  expect(readTaints(rig.db, helper.id)).toEqual(before)
  expect(readTaints(rig.db, write((tx) => rig.store.retry(tx, helper.id)).id)).toEqual(before)
  expect(rig.store.findJob(rig.db, alone.id)!.context).toBeNull()
  rig.close()
})

it('are read once for each job, however the conversations and parents of clients cross', () => {
  const rig = openDomainRig()
  const agentId = rig.addAgent('Ada').id
  const id = transact<string>(rig.db, (tx) => {
    const job = { agentId, task: 'Do it', channel: 'chat' } as const
    const conversations = [1, 2].map(() => rig.store.enqueue(tx, job).conversationId!)
    let parentJobId = rig.store.enqueue(tx, { ...job, channel: 'webhook' }).id
    for (let i = 0; i < 60; i++) parentJobId = rig.store.enqueue(tx, { ...job, conversation: conversations[i % 2]!, parentJobId }).id
    return parentJobId
  })
  expect(readTaints(rig.db, id)).toMatchObject({ untrusted: { seq: 0 } })
  rig.close()
})
