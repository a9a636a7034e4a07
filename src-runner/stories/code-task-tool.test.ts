import { cpSync, mkdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createCodeRig, type CodeRig } from '../testing/code-rig.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'

const { isMissing } = await findSandboxHere()

let rig: CodeRig
const open = async (...given: Parameters<typeof createCodeRig>) => (rig = await createCodeRig(...given))
afterEach(() => rig.runner.stop())

const onItsOwn = { agent: { autonomy: 'on_its_own' as const } }
const give = (args: object) => ({ toolCalls: [{ id: 'c1', name: 'code_task', args: { folder: 'shop', ...args } }] })
const submit = async () => {
  const { jobId } = await rig.runner.client.ok('submitTask', { body: { task: 'Lead', agentId: rig.agent.id } })
  return jobId
}
const jobOf = async (jobId: string) => (await rig.runner.client.ok('getJob', { params: { jobId } })).job
const childOf = async (jobId: string) => (await rig.runner.client.ok('listJobs', { query: { parentJobId: jobId } })).jobs[0]
const offeredTools = () => JSON.stringify(rig.runner.modelServer.received.at(-1))

describe.skipIf(isMissing)('an agent that gives a task to a coding program', () => {
  it('gets what it says and its branch, and pays for it', async () => {
    await open(onItsOwn)
    rig.runner.modelServer.play(give({ task: 'Fix it\n@write a.txt one\n@usage 100 10 0.5\n@say All done.' }), { text: ['Finished.'] })
    const jobId = await submit()
    await expect.poll(async () => (await jobOf(jobId)).status).toBe('completed')
    const child = await childOf(jobId)
    const { code, job } = await rig.look(child!.id)
    expect(job).toMatchObject({ channel: 'delegation', agentId: rig.agent.id, parentJobId: jobId, costUsd: 0.5, status: 'completed' })
    expect(code.files.map(({ path }) => path)).toEqual(['a.txt'])
    expect((await jobOf(jobId)).childrenCostUsd).toBe(0.5)
    expect(offeredTools()).toContain(`All done.\\n\\nBranch ${code.branch}: 1 file changed`)
  })

  it('is asked first, and what was approved runs once', async () => {
    await open()
    rig.runner.modelServer.play(give({ task: 'Fix it\n@put a.txt one\n@say Done.' }), { text: ['Finished.'] })
    const jobId = await submit()
    await rig.runner.ended(jobId)
    const [approval] = await rig.pending(jobId)
    expect(approval).toMatchObject({
      tool: 'code_task',
      facts: { subject: 'gemini', paths: [rig.repository], runsCode: true, leavesMachine: true, costsMoney: true },
    })
    expect(approval!.facts!.summary).toBe(`Give Gemini CLI a task in ${rig.repository}: “Fix it\n@put a.txt one\n@say Done.”`)
    await rig.runner.client.ok('resolveApproval', { body: { approvalId: approval!.id, decision: 'approve' } })
    await expect.poll(async () => (await jobOf(jobId)).status).toBe('completed')
    expect((await rig.runner.client.ok('listJobs', { query: { parentJobId: jobId } })).jobs).toHaveLength(1)
  })

  it('asks its person when a guest wants it, whatever it may do by itself, and works for the guest', async () => {
    await open(onItsOwn)
    rig.runner.modelServer.play(give({ task: 'Fix it\n@put a.txt one\n@say Done.' }), { text: ['Finished.'] })
    const context = { fromOwner: false, isGuest: true, personName: 'Ben' }
    const jobId = await rig.runner.enqueue({ agentId: rig.agent.id, channel: 'telegram', task: 'Please code', context })
    await rig.runner.ended(jobId)
    expect(await rig.pending(jobId)).toMatchObject([{ tool: 'code_task', decision: { decidedBy: { source: 'lethal_trifecta' } } }])
    expect((await rig.runner.client.ok('listJobs', { query: { parentJobId: jobId } })).jobs).toEqual([])
    for (const { id } of await rig.pending(jobId))
      await rig.runner.client.ok('resolveApproval', { body: { approvalId: id, decision: 'approve' } })
    await expect.poll(async () => (await jobOf(jobId)).status).toBe('completed')
    expect(await jobOf((await childOf(jobId))!.id)).toMatchObject({ status: 'completed', context: { isGuest: true, personName: 'Ben' } })
  })

  it.each([
    ['opens no folder to the program', (repository: string) => ({ folder: join(repository, 'secret') }), 'Permission|No such file'],
    [
      'opens no folder of a pattern to the program',
      (repository: string) => ({ pattern: `${basename(repository)}/secret/*` }),
      'Permission|No such file',
    ],
    ['starts no program in a repository', (folder: string) => ({ folder }), null],
  ])('%s that is closed to the agent on whose behalf it works', async (_, closed, refusal) => {
    await open(onItsOwn)
    await mkdir(join(rig.repository, 'secret'))
    await writeFile(join(rig.repository, 'secret/plan.txt'), 'the plan')
    rig.git('add', '.')
    rig.git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'plan')
    const lead = await rig.runner.addAgent({ name: 'Lead', folders: [rig.runner.makeFolder()], autonomy: 'on_its_own' })
    await rig.runner.client.ok('createRule', { body: { effect: 'deny', tool: '*', agentId: lead.id, ...closed(rig.repository) } })
    rig.runner.modelServer.play(
      { toolCalls: [{ id: 'd1', name: 'delegate', args: { agent: 'Coder', task: 'Fix it' } }] },
      give({ task: 'Fix it\n@run-unasked cat secret/plan.txt\n@say Done.' }),
      { text: ['Finished.'] },
      { text: ['Finished.'] },
    )
    const { jobId } = await rig.runner.client.ok('submitTask', { body: { task: 'Lead', agentId: lead.id } })
    await expect.poll(async () => (await jobOf(jobId)).status).toBe('completed')
    const program = await childOf((await childOf(jobId))!.id)
    if (refusal === null) return expect(program).toBeUndefined()
    const { steps } = await rig.look(program!.id)
    const result = steps.find((step) => step.kind === 'tool_result' && step.name === 'code_command')
    expect(result).toMatchObject({ output: expect.stringMatching(refusal) as string })
    expect(JSON.stringify(steps)).not.toContain('the plan')
  })

  it('stops the program when it is cancelled itself', async () => {
    await open(onItsOwn)
    rig.runner.modelServer.play(give({ task: 'Fix it\n@hang' }))
    const jobId = await submit()
    await expect.poll(async () => (await childOf(jobId))?.turns ?? 0).toBe(1)
    await rig.runner.client.ok('cancelJob', { params: { jobId } })
    await expect.poll(async () => (await jobOf((await childOf(jobId))!.id)).status).toBe('cancelled')
  })
})

describe('the tool for coding programs', () => {
  it.each([
    ['an agent with a repository', '.', true],
    ['an agent with a folder that has one', '../below', true],
    ['an agent with a part of one alone', 'docs', false],
    ['an agent without one', 'plain', false],
  ])('is offered to %s: %s', async (_, which, isOffered) => {
    await open()
    mkdirSync(join(rig.repository, 'docs'))
    cpSync(rig.repository, join(rig.repository, '../below/shop'), { recursive: true })
    const folders = [which === 'plain' ? rig.runner.makeFolder() : join(rig.repository, which)]
    await rig.runner.client.ok('updateAgent', { params: { agentId: rig.agent.id }, body: { folders } })
    rig.runner.modelServer.play({ text: ['Hello.'] })
    await rig.runner.ended(await submit())
    expect(offeredTools().includes('"code_task"')).toBe(isOffered)
  })

  it('is not offered where no program is installed', async () => {
    await open({ runner: { listProgramFolders: async () => [] } })
    rig.runner.modelServer.play({ text: ['Hello.'] })
    await rig.runner.ended(await submit())
    expect(offeredTools()).not.toContain('"code_task"')
  })

  it('says what is wrong, and starts nothing', async () => {
    await open(onItsOwn)
    const plain = rig.runner.makeFolder()
    await rig.runner.client.ok('updateAgent', { params: { agentId: rig.agent.id }, body: { folders: [rig.repository, plain] } })
    rig.runner.modelServer.play(
      give({ task: 'Fix it', folder: plain.split('/').at(-1) }),
      give({ task: 'Fix it', program: 'codex' }),
      give({ task: 'Fix it', folder: '../..' }),
      { text: ['Finished.'] },
    )
    const jobId = await submit()
    expect((await rig.runner.ended(jobId)).status).toBe('completed')
    expect(offeredTools()).toContain('not in a Git repository')
    expect(offeredTools()).toContain('not installed')
    expect((await rig.runner.client.ok('listJobs', { query: { parentJobId: jobId } })).jobs).toEqual([])
  })
})
