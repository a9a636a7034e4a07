import { afterEach, describe, expect, it } from 'vitest'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'

describe('lists', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  it('of jobs have each job on one page, even while new ones arrive', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    const submit = async (task: string) => (await runner.client.ok('submitTask', { body: { task, agentId: agent.id } })).jobId
    const ids: string[] = []
    for (let i = 0; i < 25; i++) ids.push(await submit(`task ${i}`))
    const seen: string[] = []
    for (let cursor: string | undefined; ;) {
      const page = await runner.client.ok('listJobs', { query: { limit: 10, cursor } })
      seen.push(...page.jobs.map((job) => job.id))
      await submit('one more')
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    expect(seen).toEqual(ids.toReversed())
    for (const query of [{ limit: 0 }, { limit: 201 }, { limit: 'ten' }, { cursor: 'nonsense' }, { status: 'lost' }, { from: -1 }]) {
      expect([query, (await runner.client.ask('listJobs', { query })).status]).toEqual([query, 400])
    }
  })

  it('of jobs are filtered by status, channel, agent and words', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent({ name: 'One' })
    const other = await runner.addAgent({ name: 'Two' })
    runner.modelServer.play({ text: ['The harbour opens at nine.'] }, { text: ['Nothing.'] })
    const harbour = (await runner.client.ok('submitTask', { body: { task: 'When does it open?', agentId: agent.id } })).jobId
    await runner.ended(harbour)
    const chat = (await runner.client.ok('chat', { body: { agentId: other.id, message: 'Tell me about lighthouses' } })).jobId
    const list = async (query: object) => (await runner.client.ok('listJobs', { query })).jobs.map((job) => job.id)
    expect(await list({ q: 'harbour' })).toEqual([harbour])
    expect(await list({ q: 'lighthou' })).toEqual([chat])
    expect(await list({ q: '"AND (' })).toEqual([])
    expect(await list({ channel: 'chat' })).toEqual([chat])
    expect(await list({ agentId: agent.id })).toEqual([harbour])
    expect(await list({ status: 'completed,failed' })).toEqual([chat, harbour])
    expect(await list({ status: 'running' })).toEqual([])
    expect((await runner.client.ok('listConversations', { query: { q: 'lighthouses' } })).conversations).toHaveLength(1)
    expect((await runner.client.ok('listConversations', { query: { q: 'harbour' } })).conversations).toHaveLength(0)
  })

  it('of conversations omit a deleted one, whose jobs stay', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    const { conversationId, jobId } = await runner.client.ok('chat', { body: { agentId: agent.id, message: 'Hello' } })
    const params = { conversationId }
    await runner.client.ok('deleteConversation', { params })
    expect(await runner.client.ask('getConversation', { params })).toMatchObject({ status: 404, body: { error: 'conversation_not_found' } })
    expect(await runner.client.ask('deleteConversation', { params })).toMatchObject({ status: 404 })
    expect((await runner.client.ok('listJobs')).jobs.map((job) => job.id)).toEqual([jobId])
  })

  it('of steps continue after the last known step', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent({ folders: [runner.makeFolder()] })
    runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'list_files', args: {} }] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Look', agentId: agent.id } })
    await runner.ended(jobId)
    const { steps } = await runner.client.ok('listSteps', { params: { jobId }, query: { after: 1 } })
    expect(steps.map((step) => step.seq)).toEqual([2, 3])
  })

  it('that are short come whole without a limit, and in pages with one', async () => {
    runner = await createTestRunner()
    await runner.addAgent()
    for (const name of ['listProviders', 'listModels', 'listConnectors'] as const) {
      const whole = await runner.client.ok(name)
      const seen: unknown[] = []
      for (let cursor: string | undefined; ;) {
        const page = await runner.client.ok(name, { query: { limit: 2, cursor } })
        expect(itemsOf(page).length).toBeLessThanOrEqual(2)
        seen.push(...itemsOf(page))
        if (page.nextCursor === null) break
        cursor = page.nextCursor
      }
      expect(seen).toEqual(itemsOf(whole))
      expect([name, whole.nextCursor, seen.length > 1]).toEqual([name, null, true])
    }
    const short = ['listChannels', 'listCredentials', 'listSkills', 'listMcpServers', 'listTokens'] as const
    for (const name of [...short, 'listProviders', 'listModels', 'listConnectors'] as const) {
      expect((await runner.client.ok(name, { query: { limit: 200 } })).nextCursor).toBeNull()
      for (const query of [{ limit: 0 }, { limit: 201 }, { cursor: 'nonsense' }]) {
        expect([name, query, (await runner.client.ask(name, { query })).status]).toEqual([name, query, 400])
      }
    }
  })
})

/** The list of an answer, whatever its name. */
function itemsOf(answer: object): unknown[] {
  return Object.values(answer).find(Array.isArray) ?? []
}
