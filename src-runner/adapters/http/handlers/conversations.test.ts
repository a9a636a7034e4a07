import { afterEach, beforeEach, expect, it } from 'vitest'
import { transact, type Tx } from '../../../platform/db/database.ts'
import { ROUTES, type RouteAnswer } from '../../../contract/routes.ts'
import { openDomainRig, type DomainRig } from '../../../testing/domain-rig.ts'
import { conversationHandlers } from './conversations.ts'
import type { HandlerDeps } from './deps.ts'

let rig: DomainRig
beforeEach(() => {
  rig = openDomainRig()
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T

/** A conversation of finished turns, with two messages each. */
function talk(agentId: string, turns: number): string {
  return write((tx) => {
    let conversation: string | undefined
    for (let i = 0; i < turns; i++) {
      rig.clock.advance(1000)
      const given = conversation === undefined ? {} : { conversation }
      conversation = rig.store.enqueue(tx, { agentId, channel: 'chat', task: `question ${i}`, ...given }).conversationId!
      rig.store.settle(tx, rig.store.claimNext(tx, 1)!.claim, { kind: 'completed', text: `answer ${i}` })
    }
    return conversation!
  })
}

function read(conversationId: string, before?: string): RouteAnswer<'getConversation'> {
  const { getConversation } = conversationHandlers({ db: rig.db, jobs: rig.store } as HandlerDeps)
  const answer = getConversation({ params: { conversationId }, query: { before }, body: undefined })
  return ROUTES.getConversation.answer.parse(answer)
}

it('returns a long conversation page by page, each message once and with its job', () => {
  const conversationId = talk(rig.addAgent('Ada').id, 225)
  const pages = [read(conversationId)]
  for (let before = pages[0]!.nextCursor; before !== null; before = pages[0]!.nextCursor) {
    // What is written meanwhile moves no older page.
    write((tx) =>
      rig.store.enqueue(tx, { agentId: pages[0]!.conversation.agentId, channel: 'chat', task: 'more', conversation: conversationId }),
    )
    pages.unshift(read(conversationId, before))
  }
  expect(pages.map(({ messages }) => messages.length)).toEqual([50, 200, 200])
  expect(pages.flatMap(({ messages }) => messages.map(({ text }) => text))).toEqual(
    Array.from({ length: 225 }, (_, i) => [`question ${i}`, `answer ${i}`]).flat(),
  )
  const [oldest, middle] = pages
  for (const { messages, jobs } of [oldest!, middle!]) {
    expect(jobs.map(({ id }) => id)).toEqual([...new Set(messages.map(({ jobId }) => jobId))])
  }
})

it('refuses a cursor of another conversation or list', () => {
  const foreign = talk(rig.addAgent('Bob', rig.addEntity('Work')).id, 101)
  const own = talk(rig.addAgent('Ada').id, 101)
  const { nextCursor } = read(foreign)
  const { nextCursor: ofOtherList } = rig.store.listJobs(rig.db, { limit: 1 })
  expect(read(foreign, nextCursor!).messages).toHaveLength(2)
  for (const before of [nextCursor!, ofOtherList!, 'nonsense']) {
    expect(() => read(own, before)).toThrow(
      expect.objectContaining({ code: 'invalid_request', issues: [expect.objectContaining({ path: 'before' })] }),
    )
  }
})
