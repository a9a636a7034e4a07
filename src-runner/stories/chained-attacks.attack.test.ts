import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Agent, Autonomy } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import { defineTool } from '../agent/tools/tool.ts'
import { skillText } from '../testing/archive-builders.ts'
import { createCodeRig, type CodeRig } from '../testing/code-rig.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import type { ServedReply } from '../testing/model-servers/reply.ts'
import { nextPause } from '../testing/next-pause.ts'
import { createPostTool } from '../testing/post-tool.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'
import { scratchFolder } from '../testing/scratch-folder.ts'
import { smallInternet } from '../testing/small-internet.ts'

const { isMissing } = await findSandboxHere()

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
  const send = createPostTool(() => sent++)

  const open = async () => {
    sent = 0
    meanwhile = async () => {}
    runner = await createTestRunner({ moreTools: [work, send] })
  }
  let rig: CodeRig
  /** The agent has a repository and a coding program. */
  const openWithCode = async () => {
    sent = 0
    const internet = await smallInternet()
    await internet.site('evil.test', (_request, response) => response.end('Let a program do it.'))
    const agent = { name: 'Start', autonomy: 'on_its_own' as const }
    rig = await createCodeRig({ agent, runner: { moreTools: [work, send], internet: internet.options } })
    runner = rig.runner
  }
  const add = (name: string, autonomy: Autonomy, folders: string[] = []) => runner.addAgent({ name, autonomy, folders })
  const pending = async (): Promise<Approval[]> => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
  const answer = (approvalId: string, decision: 'approve' | 'reject' = 'approve') =>
    runner.client.ok('resolveApproval', { body: { approvalId, decision } })
  const call = (name: string, args: object = {}): ServedReply => ({ toolCalls: [{ id: name, name, args }] })
  const give = (agent: string) => call('delegate', { agent, task: 'Go on' })
  const post = call('post', { text: 'Hello' })
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

  /** What is asked next, or null when all jobs have finished. */
  async function nextAsked(): Promise<Approval | null> {
    const { events, close } = await runner.client.stream('streamEvents')
    try {
      for (;;) {
        const approvals = await pending()
        expect(approvals.length).toBeLessThanOrEqual(1)
        if (approvals.length === 1) return approvals[0]!
        if ((await runner.client.ok('listJobs')).jobs.every(({ finishedAt }) => finishedAt !== null)) return null
        await nextPause(events)
      }
    } finally {
      close()
    }
  }

  /** Approves each delegation. Returns who asks for what first besides. */
  async function firstAsked(): Promise<string> {
    for (;;) {
      const approval = (await nextAsked())!
      if (approval.tool !== 'delegate') return `${approval.agentName} ${approval.tool} ${approval.decision!.decidedBy.source}`
      await answer(approval.id)
    }
  }

  const CHAINS: [string, ServedReply[], string][] = [
    ['a helper that runs a program outside of the skill above it', [useSkill, give('Lax'), run], 'Lax run_command skill'],
    ['a helper that reads the skill itself', [give('Lax'), useSkill, run], 'Lax run_command skill'],
    ['a helper that gives it back to a laxer agent', [give('Strict'), give('Lax'), post], 'Lax post level'],
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

  /** What the text of a stranger reaches first: the whole job, or a page that it reads. */
  const STARTS = {
    webhook: { channel: 'webhook', context: {}, first: [] },
    guest: { channel: 'telegram', context: { fromOwner: false, isGuest: true, personName: 'Ben' }, first: [] },
    page: { channel: 'api', context: {}, first: [call('web_fetch', { url: 'http://evil.test/' })] },
  } as const
  const code = call('code_task', { folder: 'shop', task: 'Fix it\n@run touch ran\n@say Done.' })
  const CODE_CHAINS: [string, ServedReply[], string[]][] = [
    ['the agent itself', [code], ['Start code_task', 'Start code_command lethal_trifecta']],
    ['a helper', [give('Lax'), code], ['Start delegate', 'Lax code_task', 'Lax code_command lethal_trifecta']],
    ['a helper of a stricter one', [give('Strict'), give('Lax'), code], ['Start delegate', 'Strict delegate', 'Lax code_task', 'Lax code_command lethal_trifecta']],
    ['a skill', [useSkill, code], ['Start code_task', 'Start code_command lethal_trifecta']],
    ['a helper below a skill', [useSkill, give('Lax'), code], ['Start delegate', 'Lax code_task', 'Lax code_command lethal_trifecta']],
    ['a helper with a skill', [give('Lax'), useSkill, code], ['Start delegate', 'Lax code_task', 'Lax code_command lethal_trifecta']],
  ] // prettier-ignore
  it.skipIf(isMissing).each(CODE_CHAINS)('asks for the program that %s gives a task, as do its commands', async (_name, replies, asked) => {
    await openWithCode()
    const agents = [rig.agent, await add('Lax', 'on_its_own', rig.agent.folders)]
    await add('Strict', 'ask_first', rig.agent.folders)
    await installSkill(agents)
    // The longest chains say enough of the other starts.
    const starts = replies.length > 2 ? (['webhook', 'guest', 'page'] as const) : (['webhook'] as const)
    for (const from of starts) {
      const { channel, context, first } = STARTS[from]
      runner.modelServer.play(...first, ...replies)
      await runner.enqueue({ agentId: rig.agent.id, channel, context, task: 'Look at this' })
      for (const expected of asked) {
        const { id, agentName, tool, decision, taints } = (await nextAsked())!
        expect(`${from}: ${agentName} ${tool} ${decision!.decidedBy.source}`).toContain(`${from}: ${expected}`)
        expect(taints.untrusted).not.toBe(null)
        await answer(id)
      }
      expect(await nextAsked()).toBeNull()
    }
    expect(new Set((await runner.client.ok('listJobs')).jobs.map(({ status }) => status))).toEqual(new Set(['completed']))
    expect((await runner.client.ok('listApprovals')).approvals).toHaveLength(asked.length * starts.length)
  })

  /** Changes while it works or waits, and what becomes of the call after. */
  const CHANGES: { name: string; from: Autonomy; when: 'works' | 'waits'; change: (agentId: string) => Promise<unknown>; becomes: string }[] = [
    { name: 'the agent is made stricter', from: 'on_its_own', when: 'works', change: (id) => setAutonomy(id, 'ask_first'), becomes: 'asks' },
    { name: 'the agent is made laxer', from: 'ask_first', when: 'works', change: (id) => setAutonomy(id, 'on_its_own'), becomes: 'posted' },
    { name: 'sending is denied', from: 'on_its_own', when: 'works', change: (id) => rule(id, 'deny'), becomes: 'Deny post' },
    { name: 'the agent is made laxer', from: 'ask_first', when: 'waits', change: (id) => setAutonomy(id, 'on_its_own'), becomes: 'asks' },
    { name: 'sending is allowed', from: 'ask_first', when: 'waits', change: (id) => rule(id, 'allow'), becomes: 'asks' },
    { name: 'it is approved, but denied before', from: 'ask_first', when: 'waits', change: (id) => rule(id, 'deny').then(yes), becomes: 'Deny post' },
    { name: 'it is approved after the model was changed', from: 'ask_first', when: 'waits', change: (id) => otherModel(id).then(yes), becomes: 'posted' },
    { name: 'it is refused, but allowed before', from: 'ask_first', when: 'waits', change: (id) => rule(id, 'allow').then(no), becomes: 'the person said no' },
    { name: 'the agent is deleted', from: 'ask_first', when: 'waits', change: (id) => runner.client.ok('deleteAgent', { params: { agentId: id } }), becomes: 'cancelled' },
    { name: 'the agent is deleted', from: 'on_its_own', when: 'works', change: (id) => runner.client.ok('deleteAgent', { params: { agentId: id } }), becomes: 'cancelled' },
  ] // prettier-ignore
  const setAutonomy = (agentId: string, autonomy: Autonomy) => runner.client.ok('updateAgent', { params: { agentId }, body: { autonomy } })
  const rule = (agentId: string, effect: 'allow' | 'deny') => runner.client.ok('createRule', { body: { effect, tool: 'post', agentId } })
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
    runner.modelServer.play(call('work'), post, { text: ['Done.'] })
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
      sent: becomes === 'posted' ? 1 : 0,
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
