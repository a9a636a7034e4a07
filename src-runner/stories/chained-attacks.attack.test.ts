import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Agent, Autonomy } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import { defineTool, NO_EFFECTS } from '../agent/tools/tool.ts'
import { skillText } from '../testing/archive-builders.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import type { ServedReply } from '../testing/model-servers/reply.ts'
import { scratchFolder } from '../testing/scratch-folder.ts'

/** What one agent may not do in a job that a stranger started, several agents, skills and changes in a row may not do either. */
describe('a job that a stranger started', () => {
  let runner: TestRunner
  let sent: number
  /** What the person does while the job works. */
  let meanwhile: () => Promise<unknown>
  afterEach(() => runner.stop())

  const work = defineTool({
    name: 'work',
    description: 'Works for a while.',
    args: z.object({}),
    effect: 'read',
    parallel: false,
    async run() {
      await meanwhile()
      return { ok: true, output: 'worked' }
    },
  })
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    args: z.object({}),
    effect: 'once',
    parallel: false,
    facts: () => ({ ...NO_EFFECTS, subject: 'https://x.example/', summary: 'Send', leavesMachine: true }),
    run: async () => ({ ok: true, output: `sent ${++sent}` }),
  })

  const open = async () => {
    sent = 0
    meanwhile = async () => {}
    runner = await createTestRunner({ moreTools: [work, send] })
  }
  const add = (name: string, autonomy: Autonomy, folders: string[] = []) => runner.addAgent({ name, autonomy, folders })
  const pending = async (): Promise<Approval[]> => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
  const answer = (approvalId: string, decision: 'approve' | 'reject' = 'approve') =>
    runner.client.ok('resolveApproval', { body: { approvalId, decision } })
  const call = (name: string, args: object = {}): ServedReply => ({ toolCalls: [{ id: name, name, args }] })
  const give = (agent: string) => call('delegate', { agent, task: 'Go on' })
  const useSkill = call('use_skill', { skill: 'sorter' })
  const run = call('run_command', { command: ['true'], folder: 'folder-1' })
  const fromStranger = (agent: Agent) => runner.enqueue({ agentId: agent.id, channel: 'webhook', task: 'Look at this' })
  const outputsOf = async (jobId: string) =>
    (await runner.client.ok('listSteps', { params: { jobId } })).steps.flatMap((step) => (step.kind === 'tool_result' ? [step.output] : []))

  /** Installs a skill that lists only reading, for these agents. */
  async function installSkill(agents: Agent[]): Promise<void> {
    const place = await scratchFolder('sorter')
    await place.write('SKILL.md', skillText('sorter', { more: 'allowed-tools: Read Task\n' }))
    const { preview } = await runner.client.ok('previewSkill', { body: { source: place.path } })
    const body = { source: place.path, expectedDigest: preview.contents.digest, agents: agents.map(({ id }) => ({ agentId: id })) }
    await runner.client.ok('installSkill', { body })
  }

  /** Approves each delegation. Returns who asks for what first besides. */
  async function firstAsked(): Promise<string> {
    for (;;) {
      await expect.poll(async () => (await pending()).length, { timeout: 10_000 }).toBe(1)
      const [approval] = (await pending()) as [Approval]
      if (approval.tool !== 'delegate') return `${approval.agentName} ${approval.tool} ${approval.decision!.decidedBy.source}`
      await answer(approval.id)
    }
  }

  const CHAINS: [string, ServedReply[], string][] = [
    ['a helper that runs a program outside of the skill above it', [useSkill, give('Lax'), run], 'Lax run_command skill'],
    ['a helper that reads the skill itself', [give('Lax'), useSkill, run], 'Lax run_command skill'],
    ['a helper that gives it back to a laxer agent', [give('Strict'), give('Lax'), call('send')], 'Lax send level'],
    ['a skill, then three levels of agents', [useSkill, give('Strict'), give('Lax'), give('Start'), run], 'Start run_command skill'],
    ['a skill that the second level read', [give('Lax'), useSkill, give('Lax2'), give('Lax'), run], 'Lax run_command skill'],
  ]
  it.each(CHAINS)('gets no further over %s', async (_name, replies, asked) => {
    await open()
    const folders = [runner.makeFolder({})]
    const start = await add('Start', 'on_its_own', folders)
    const lax = await add('Lax', 'on_its_own', folders)
    await add('Lax2', 'on_its_own', folders)
    await add('Strict', 'ask_first', folders)
    await installSkill([start, lax])
    runner.modelServer.play(...replies)
    await fromStranger(start)
    expect(await firstAsked()).toBe(asked)
  })

  /** Changes while it works or waits, and what becomes of the call after. */
  const CHANGES: { name: string; from: Autonomy; when: 'works' | 'waits'; change: (agentId: string) => Promise<unknown>; becomes: string }[] = [
    { name: 'the agent is made stricter', from: 'on_its_own', when: 'works', change: (id) => setAutonomy(id, 'ask_first'), becomes: 'asks' },
    { name: 'the agent is made laxer', from: 'ask_first', when: 'works', change: (id) => setAutonomy(id, 'on_its_own'), becomes: 'sent 1' },
    { name: 'sending is denied', from: 'on_its_own', when: 'works', change: (id) => rule(id, 'deny'), becomes: 'Deny send' },
    { name: 'the agent is made laxer', from: 'ask_first', when: 'waits', change: (id) => setAutonomy(id, 'on_its_own'), becomes: 'asks' },
    { name: 'sending is allowed', from: 'ask_first', when: 'waits', change: (id) => rule(id, 'allow'), becomes: 'asks' },
    { name: 'it is approved, but denied before', from: 'ask_first', when: 'waits', change: (id) => rule(id, 'deny').then(yes), becomes: 'Deny send' },
    { name: 'it is approved after the model was changed', from: 'ask_first', when: 'waits', change: (id) => otherModel(id).then(yes), becomes: 'sent 1' },
    { name: 'it is refused, but allowed before', from: 'ask_first', when: 'waits', change: (id) => rule(id, 'allow').then(no), becomes: 'the person said no' },
    { name: 'the agent is deleted', from: 'ask_first', when: 'waits', change: (id) => runner.client.ok('deleteAgent', { params: { agentId: id } }), becomes: 'cancelled' },
    { name: 'the agent is deleted', from: 'on_its_own', when: 'works', change: (id) => runner.client.ok('deleteAgent', { params: { agentId: id } }), becomes: 'cancelled' },
  ] // prettier-ignore
  const setAutonomy = (agentId: string, autonomy: Autonomy) => runner.client.ok('updateAgent', { params: { agentId }, body: { autonomy } })
  const rule = (agentId: string, effect: 'allow' | 'deny') => runner.client.ok('createRule', { body: { effect, tool: 'send', agentId } })
  const otherModel = async (agentId: string) => {
    const { model } = (await runner.client.ok('getAgent', { params: { agentId } })).agent
    return runner.client.ok('updateAgent', { params: { agentId }, body: { model: { ...model!, model: 'another' } } })
  }
  const yes = async () => answer((await pending())[0]!.id)
  const no = async () => answer((await pending())[0]!.id, 'reject')

  it.each(CHANGES)('that $when is decided by what holds now: $name', async ({ from, when, change, becomes }) => {
    await open()
    const agent = await add('Agent', from)
    if (when === 'works') meanwhile = () => change(agent.id)
    runner.modelServer.play(call('work'), call('send'), { text: ['Done.'] })
    const jobId = await fromStranger(agent)
    await runner.ended(jobId)
    if (when === 'waits') {
      await change(agent.id)
      await runner.ended(jobId)
    }
    const { job } = await runner.client.ok('getJob', { params: { jobId } })
    const last = (await outputsOf(jobId)).at(-1) ?? ''
    const states: Record<string, string> = { awaiting_approval: 'asks', cancelled: 'cancelled' }
    expect({ became: states[job.status] ?? last, sent }).toEqual({
      became: expect.stringContaining(becomes),
      sent: becomes === 'sent 1' ? 1 : 0,
    })
  })

  it('that works loses a folder at once when the person takes it away', async () => {
    await open()
    const agent = await add('Agent', 'on_its_own', [runner.makeFolder({ 'a.txt': 'secret' })])
    meanwhile = () => runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { folders: [] } })
    runner.modelServer.play(call('work'), call('read_file', { path: 'folder-1/a.txt' }), { text: ['Done.'] })
    const jobId = await fromStranger(agent)
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
    expect((await outputsOf(jobId)).at(-1)).not.toContain('secret')
  })
})
