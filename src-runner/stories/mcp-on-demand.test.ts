import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Agent } from '../contract/agents.ts'
import { systemClock } from '../lib/clock.ts'
import { recordTools, type ListedTool } from '../domain/mcp/mcp-tools.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'

let runner: TestRunner
let agent: Agent
let params: { mcpServerId: string }
beforeAll(async () => {
  runner = await createTestRunner()
  agent = await runner.addAgent({ autonomy: 'on_its_own' })
  const transport = { kind: 'http' as const, url: 'https://tools.example/mcp' }
  const { server } = await runner.client.ok('createMcpServer', { body: { name: 'Hub', transport, agents: [{ agentId: agent.id }] } })
  params = { mcpServerId: server.id }
})
afterAll(() => runner.stop())
beforeEach(() => void (runner.modelServer.received.length = 0))

/** The server lists these tools, and a person accepts all of them. */
async function offer(...names: string[]) {
  const tools = names.map((name): ListedTool => {
    const description = `Does ${name.replaceAll('_', ' ')}. ${'Long words. '.repeat(200)}`
    return { name, title: null, description, inputSchema: { type: 'object', properties: {} }, proposal: 'read', problem: null }
  })
  runner.write((tx) => recordTools(tx, { clock: systemClock }, params.mcpServerId, tools))
  const { server } = await runner.client.ok('getMcpServer', { params })
  const accepted = server.tools
    .filter(({ status }) => status !== 'gone')
    .map(({ name, digest }) => ({ name, digest, effect: 'read' as const }))
  await runner.client.ok('acceptMcpTools', { params, body: { tools: accepted } })
}

const MANY = ['create_issue', 'close_issue', ...Array.from({ length: 18 }, (_, i) => `other_${i}`)]
const find = (words: string) => ({ toolCalls: [{ id: `find ${words}`, name: 'find_tools', args: { words } }] })
const askPerson = { toolCalls: [{ id: 'q', name: 'ask_person', args: { question: 'Go on?' } }] }

/** The names of the tools in each request of the model so far. */
function offered(): string[][] {
  return runner.modelServer.received.flatMap(({ body }) => {
    // It is also asked for its context window.
    if (body === null) return []
    const { tools } = body as { tools: { function: { name: string } }[] }
    return [tools.map((tool) => tool.function.name).filter((name) => name === 'find_tools' || name.startsWith('hub__'))]
  })
}

it('has few tools in the prompt at once, and says what they cost', async () => {
  await offer('create_issue', 'close_issue')
  runner.modelServer.play({ text: ['Done.'] })
  await runner.ended((await runner.client.ok('submitTask', { body: { task: 'Do it', agentId: agent.id } })).jobId)
  expect(offered()).toEqual([['hub__close_issue', 'hub__create_issue']])
  const use = await runner.client.ok('getMcpToolUse', { params: { agentId: agent.id } })
  expect(use).toEqual({ onDemand: false, tools: 2, tokens: use.tokens, tokensPerTurn: use.tokens })
})

it('adds what was found to the end of the list for the rest of the job, also after a restart', async () => {
  await offer(...MANY)
  const use = await runner.client.ok('getMcpToolUse', { params: { agentId: agent.id } })
  expect(use).toMatchObject({ onDemand: true, tools: 20 })
  expect(use.tokens).toBeGreaterThan(8_000)
  expect(use.tokensPerTurn).toBeLessThan(400)
  runner.modelServer.play(find('close issue'), find('other 7'), askPerson)
  const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Do it', agentId: agent.id } })
  expect((await runner.ended(jobId)).status).toBe('awaiting_approval')
  const found = ['find_tools', 'hub__close_issue', 'hub__create_issue']
  expect(offered()[0]).toEqual(['find_tools'])
  expect(offered()[1]).toEqual(found)
  expect(offered()[2]!.slice(0, 4)).toEqual([...found, 'hub__other_7'])
  expect(JSON.stringify(runner.modelServer.received.find(({ body }) => body !== null))).not.toContain('Long words')

  await runner.restart({ crash: true })
  const [approval] = (await runner.client.ok('listApprovals', { query: { status: 'pending', jobId } })).approvals
  runner.modelServer.play({ text: ['Done.'] })
  await runner.client.ok('resolveApproval', { body: { approvalId: approval!.id, decision: 'approve', answer: 'yes' } })
  expect((await runner.ended(jobId)).status).toBe('completed')
  expect(offered().at(-1)).toEqual(offered()[2])
})

it('does not find a tool that the person withdrew while the job waited', async () => {
  await offer(...MANY)
  runner.modelServer.play(find('close'), askPerson)
  const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Do it', agentId: agent.id } })
  expect((await runner.ended(jobId)).status).toBe('awaiting_approval')
  const { server } = await runner.client.ok('getMcpServer', { params })
  const { digest } = server.tools.find(({ name }) => name === 'close_issue')!
  await runner.client.ok('acceptMcpTools', { params, body: { tools: [{ name: 'close_issue', digest, effect: null }] } })
  const [approval] = (await runner.client.ok('listApprovals', { query: { status: 'pending', jobId } })).approvals
  runner.modelServer.play(find('close'), { text: ['Done.'] })
  await runner.client.ok('resolveApproval', { body: { approvalId: approval!.id, decision: 'approve', answer: 'yes' } })
  expect((await runner.ended(jobId)).status).toBe('completed')
  expect(offered().at(-1)).toEqual(['find_tools'])
  const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
  const last = steps.findLast(({ kind }) => kind === 'tool_result')
  expect(last).toMatchObject({ ok: true, output: expect.stringContaining('No tool fits') })
})

it('lists accepted tools with the others, and tells how a call of one would be decided', async () => {
  await offer('create_issue')
  const { tools } = await runner.client.ok('listTools')
  expect(tools.filter(({ name }) => name.startsWith('hub__'))).toMatchObject([{ name: 'hub__create_issue', effect: 'read' }])
  const simulate = (args: object, rules: { effect: 'deny'; tool: string }[] = []) =>
    runner.client.ask('simulateCall', { body: { agentId: agent.id, tool: 'hub__create_issue', args, rules } })
  expect((await simulate({})).body).toMatchObject({ decision: { verdict: 'run' }, facts: { leavesMachine: true } })
  expect((await simulate({}, [{ effect: 'deny', tool: 'hub__*' }])).body).toMatchObject({ decision: { verdict: 'deny' } })
  const unknown = await runner.client.ask('simulateCall', { body: { agentId: agent.id, tool: 'hub__other_1', args: {} } })
  expect(unknown.body).toMatchObject({ error: 'tool_not_found' })
})
