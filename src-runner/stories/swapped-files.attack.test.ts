import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createMessage, quote } from '../lib/messages.ts'
import type { Agent } from '../contract/agents.ts'
import type { Approval, ResolveApproval } from '../contract/approvals.ts'
import { noSandbox } from '../platform/sandbox/find-sandbox.ts'
import { skillText } from '../testing/archive-builders.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'
import { scratchFolder } from '../testing/scratch-folder.ts'

const { sandbox, isMissing } = await findSandboxHere()
const NONE = noSandbox(quote('It was removed.'), quote('Install it.'))

/** Somebody swaps what a command would run, after a person has been asked about it and before it runs. */
describe('a command whose files are swapped while a person is asked', () => {
  let runner: TestRunner
  let folder: string
  let agent: Agent
  let calls = 0
  afterEach(() => runner.stop())

  let sandboxNow = sandbox
  const open = async (files: Record<string, string>, found = sandbox) => {
    sandboxNow = found
    runner = await createTestRunner({ findSandbox: async () => sandboxNow })
    folder = runner.makeFolder(files)
    agent = await runner.addAgent({ name: 'Ada', folders: [folder] })
  }
  const path = (name: string) => join(folder, name)
  const put = (name: string, content: string) => {
    mkdirSync(dirname(path(name)), { recursive: true })
    writeFileSync(path(name), content)
  }
  const link = (target: string, name: string) => {
    rmSync(path(name), { force: true })
    symlinkSync(target, path(name))
  }
  const submit = async (command: string[]) => {
    const call = { id: `call_${++calls}`, name: 'run_command', args: { command, folder: 'folder-1' } }
    runner.modelServer.play({ toolCalls: [call] }, { text: ['Done.'] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Go on', agentId: agent.id } })
    await runner.ended(jobId)
    return jobId
  }
  const pending = async (): Promise<Approval[]> => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
  const answer = async (more: Partial<ResolveApproval> = {}) => {
    const [{ id, jobId }] = (await pending()) as [Approval]
    await runner.client.ok('resolveApproval', { body: { approvalId: id, decision: 'approve', ...more } })
    await runner.ended(jobId)
  }
  /** Asks again because of a change, and has run nothing. */
  const expectAskedAgain = async () => {
    const [again] = (await pending()) as [Approval]
    const reason = createMessage('policy_changed', { change: 'changed' })
    expect(again?.decision).toMatchObject({ verdict: 'ask', decidedBy: { source: 'changed', reason } })
    expect(existsSync(path('ran'))).toBe(false)
  }

  /** In the sandbox, `ran` can only be written in the folder. */
  const RUNS = 'require("node:fs").writeFileSync(__dirname.replace(/\\/(sub|tool)$/, "") + "/ran", "")'
  type Swap = { name: string; files: Record<string, string>; command: string[]; before?: () => void; swap: () => void }
  const SWAPS: Swap[] = [
    {
      name: 'a script by a folder of its name, which an interpreter runs too',
      files: { tool: '0' },
      command: ['node', 'tool'],
      swap: () => (rmSync(path('tool')), put('tool/index.js', RUNS)),
    },
    {
      name: 'a script by one of a longer name, which an interpreter finds then',
      files: { tool: '0' },
      command: ['node', 'tool'],
      swap: () => (rmSync(path('tool')), put('tool.js', RUNS)),
    },
    {
      name: 'a script by a link to another file that the command names',
      files: { 'check.js': '0', 'data.js': RUNS },
      command: ['node', 'check.js', 'data.js'],
      swap: () => link('data.js', 'check.js'),
    },
    {
      name: 'the target of a link by another file that the command names',
      files: { 'a.js': '0', 'b.js': RUNS },
      command: ['node', 'run.js', 'a.js', 'b.js'],
      before: () => link('a.js', 'run.js'),
      swap: () => link('b.js', 'run.js'),
    },
    {
      name: 'a script in a folder that a shell line enters',
      files: { 'sub/build.js': '0' },
      command: ['sh', '-c', 'cd sub && node build.js'],
      swap: () => put('sub/build.js', RUNS),
    },
    {
      name: 'a script that a program starts in a folder',
      files: { 'sub/inner/build.js': '0' },
      command: ['env', '-C', 'sub', 'env', '-C', 'inner', 'node', 'build.js'],
      swap: () => put('sub/inner/build.js', RUNS),
    },
  ]

  it.skipIf(isMissing).each(SWAPS)('is asked again: $name', async ({ files, command, before, swap }) => {
    await open(files)
    before?.()
    await submit(command)
    swap()
    await answer()
    await expectAskedAgain()
  })

  it('is asked again without a sandbox for a script outside of its folder, by its path or by a link', async () => {
    await open({ 'a.txt': '' }, NONE)
    const outside = await scratchFolder()
    await outside.write('build.sh', 'true\n')
    link(outside.at('build.sh'), 'build.sh')
    for (const command of [
      ['sh', outside.at('build.sh')],
      ['sh', 'build.sh'],
      ['sh', '-c', `cd ${outside.path} && . ./build.sh`],
    ]) {
      await submit(command)
      appendFileSync(outside.at('build.sh'), `touch ${path('ran')}\n`)
      await answer()
      await expectAskedAgain()
      await answer({ decision: 'reject' })
    }
  })

  it.skipIf(isMissing)('holds if it was shown without a sandbox, and there is one now', async () => {
    await open({ 'a.txt': '' }, NONE)
    await submit(['sh', '-c', 'ls /usr/bin/env > ran'])
    sandboxNow = sandbox
    await answer()
    expect(await pending()).toEqual([])
    expect(existsSync(path('ran'))).toBe(true)
  })

  it.skipIf(isMissing)('is held by the sandbox when a module beside its script is swapped', async () => {
    await open({ 'build.js': 'require("./helper.js")', 'helper.js': '0' })
    const outside = await scratchFolder()
    await outside.write('secret.txt', 'CANARY-4711')
    const swap = () => {
      const tries = [
        `fs.writeFileSync(${JSON.stringify(outside.at('ran'))}, "")`,
        `console.log(fs.readFileSync(${JSON.stringify(outside.at('secret.txt'))}, "utf8"))`,
      ]
      put(
        'helper.js',
        `const fs = require("node:fs"); ${tries.map((one) => `try { ${one} } catch {}`).join('; ')}; fs.writeFileSync("inside", "")`,
      )
    }
    await submit(['node', 'build.js'])
    swap()
    await answer({ remember: 'always' })
    const jobId = await submit(['node', 'build.js'])
    expect(await pending()).toEqual([])
    expect(existsSync(path('inside'))).toBe(true)
    expect(existsSync(outside.at('ran'))).toBe(false)
    expect(JSON.stringify(await runner.client.ok('listSteps', { params: { jobId } }))).not.toContain('CANARY')
  })

  it.skipIf(isMissing)('runs the script of a skill only in the version that was shown', async () => {
    await open({})
    const place = await scratchFolder('sorter')
    const scripted = async (text: string) => {
      await place.write('SKILL.md', skillText('sorter'))
      await place.write('sort.js', text)
    }
    await scripted('0')
    const body = {
      source: place.path,
      expectedDigest: (await runner.client.ok('previewSkill', { body: { source: place.path } })).preview.contents.digest,
    }
    const { skill } = await runner.client.ok('installSkill', { body: { ...body, agents: [{ agentId: agent.id }] } })
    const command = ['node', 'skill:sorter/sort.js']

    // The person updates it between the question and the answer.
    await submit(command)
    await scripted('require("node:fs").writeFileSync("ran", "")')
    const update = await runner.client.ok('previewSkillUpdate', { params: { skillId: skill.id } })
    await runner.client.ok('updateSkill', { params: { skillId: skill.id }, body: { expectedDigest: update.upstreamDigest } })
    await answer()
    await expectAskedAgain()
    await answer({ decision: 'reject' })

    // Somebody changes its file on the disk.
    await submit(command)
    appendFileSync(join(runner.dataDir, 'skills', update.upstreamDigest.slice(7), 'sort.js'), '\nconsole.log("planted")')
    await answer()
    expect(existsSync(path('ran'))).toBe(false)
    expect((await runner.client.ok('listSkills')).skills[0]).toMatchObject({ status: 'changed' })
  })
})
