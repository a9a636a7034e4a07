import { createMessage, quote } from '../lib/messages.ts'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'
import { noSandbox } from '../platform/sandbox/find-sandbox.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'
import type { CreateAgent } from '../contract/agents.ts'
import type { Approval, ResolveApproval } from '../contract/approvals.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import type { ServedToolCall } from '../testing/model-servers/reply.ts'

const { sandbox, isMissing } = await findSandboxHere()

/** An approval holds for what the person was shown, and for nothing else. */
describe('an approval', () => {
  let runner: TestRunner
  let folder: string
  let sandboxNow: SandboxState
  let calls: number
  afterEach(() => runner.stop())

  const open = async (files: Record<string, string> = {}, fields: Partial<CreateAgent> = {}) => {
    sandboxNow = sandbox
    calls = 0
    runner = await createTestRunner({ findSandbox: async () => sandboxNow })
    folder = runner.makeFolder(files)
    return runner.addAgent({ name: 'Ada', autonomy: 'ask_first', folders: [folder], ...fields })
  }
  const call = (name: string, args: unknown): ServedToolCall => ({ id: `call_${++calls}`, name, args })
  const run = (...command: string[]) => call('run_command', { command, folder: 'folder-1' })
  const pending = async (): Promise<Approval[]> => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
  const answer = async (more: Partial<ResolveApproval> = {}) => {
    const [{ id }] = (await pending()) as [Approval]
    return runner.client.ok('resolveApproval', { body: { approvalId: id, decision: 'approve', ...more } })
  }
  const submit = async (agentId: string, ...replies: ServedToolCall[][]) => {
    runner.modelServer.play(...replies.map((toolCalls) => ({ toolCalls })), { text: ['Done.'] })
    return (await runner.client.ok('submitTask', { body: { task: 'Tidy up', agentId } })).jobId
  }
  /** Submits the calls, and waits for the question about the first. */
  const askAbout = async (...toolCalls: ServedToolCall[]) => {
    const agentId = (await runner.client.ok('listAgents')).agents.find(({ name }) => name === 'Ada')!.id
    const jobId = await submit(agentId, toolCalls)
    expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval' })
    return jobId
  }
  const path = (name: string) => join(folder, name)
  const read = (name: string) => readFileSync(path(name), 'utf8')
  const script = (name: string, words: string) => {
    writeFileSync(path(name), `#!/bin/sh\necho ${words}\n`)
    chmodSync(path(name), 0o755)
  }
  const expectAskedAgain = async (jobId: string, change: string) => {
    expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval' })
    const [again] = (await pending()) as [Approval]
    expect(again.decision).toMatchObject({
      verdict: 'ask',
      decidedBy: { source: 'changed', reason: createMessage('policy_changed', { change }) },
    })
    return again
  }

  it('to create a file does not replace one that has come meanwhile', async () => {
    await open()
    const jobId = await askAbout(call('write_file', { path: 'folder-1/plan.md', content: 'ours' }))
    writeFileSync(path('plan.md'), 'the person’s')
    await answer()
    const again = await expectAskedAgain(jobId, 'appeared')
    expect(again.facts!.summary).toMatch(/^Overwrite folder-1\/plan\.md/)
    expect(read('plan.md')).toBe('the person’s')
    await answer()
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
    expect(read('plan.md')).toBe('ours')
  })

  it('to delete, move, edit or replace a file is asked again when another content is there', async () => {
    await open()
    for (const toolCall of [
      call('delete_file', { path: 'folder-1/a.txt' }),
      call('move_file', { from: 'folder-1/a.txt', to: 'folder-1/b.txt' }),
      call('edit_file', { path: 'folder-1/a.txt', oldText: 'old', newText: 'new' }),
      call('write_file', { path: 'folder-1/a.txt', content: 'x' }),
    ]) {
      writeFileSync(path('a.txt'), 'old')
      const jobId = await askAbout(toolCall)
      writeFileSync(path('a.txt'), 'old and dear')
      await answer()
      await expectAskedAgain(jobId, 'changed')
      expect(read('a.txt')).toBe('old and dear')
      await answer({ decision: 'reject' })
      expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
      expect(read('a.txt')).toBe('old and dear')
    }
  })

  it('to move a file is asked again when its target is taken, and never replaces it', async () => {
    await open({ 'a.txt': 'a' })
    const jobId = await askAbout(call('move_file', { from: 'folder-1/a.txt', to: 'folder-1/b.txt' }))
    writeFileSync(path('b.txt'), 'b')
    await answer()
    await expectAskedAgain(jobId, 'appeared')
    await answer()
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
    expect([read('a.txt'), read('b.txt')]).toEqual(['a', 'b'])
  })

  it('is asked again when a folder on the way leads elsewhere', async () => {
    await open({ 'sub/a.txt': 'same', 'other/a.txt': 'same' })
    const jobId = await askAbout(call('delete_file', { path: 'folder-1/sub/a.txt' }))
    renameSync(path('sub'), path('kept'))
    symlinkSync(path('other'), path('sub'))
    await answer()
    await expectAskedAgain(jobId, 'place')
    expect(read('other/a.txt')).toBe('same')
  })

  it('holds when what would be replaced is gone, which is no worse', async () => {
    await open({ 'a.txt': 'old' })
    const jobId = await askAbout(call('write_file', { path: 'folder-1/a.txt', content: 'new' }))
    rmSync(path('a.txt'))
    await answer()
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
    expect(read('a.txt')).toBe('new')
  })

  it('of two edits in one reply holds for the second after the first', async () => {
    await open({ 'a.txt': 'one two' })
    const edit = (oldText: string, newText: string) => call('edit_file', { path: 'folder-1/a.txt', oldText, newText })
    const jobId = await askAbout(edit('one', '1'), edit('two', '2'))
    for (const { id: approvalId } of await pending())
      await runner.client.ok('resolveApproval', { body: { approvalId, decision: 'approve' } })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
    expect(read('a.txt')).toBe('1 2')
  })

  it('covers a restart between the answer and the run', async () => {
    await open({ 'a.txt': 'old' })
    const jobId = await askAbout(call('delete_file', { path: 'folder-1/a.txt' }))
    writeFileSync(path('a.txt'), 'other')
    await runner.restart({ crash: true })
    await answer()
    await expectAskedAgain(jobId, 'changed')
  })

  it('for the rest of a job allows no more than was shown', async () => {
    await open({ 'a.txt': 'theirs' })
    const agentId = (await runner.client.ok('listAgents')).agents.find(({ name }) => name === 'Ada')!.id
    const write = (name: string) => call('write_file', { path: `folder-1/${name}`, content: 'ours' })
    const jobId = await submit(agentId, [write('new.txt')], [write('newer.txt')], [write('a.txt')])
    expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval' })
    await answer({ remember: 'job' })
    await expect.poll(async () => (await pending()).map(({ facts }) => facts!.subject)).toEqual(['folder-1/a.txt'])
    expect([existsSync(path('newer.txt')), read('a.txt')]).toEqual([true, 'theirs'])
  })

  describe.skipIf(isMissing)('of a command', () => {
    it('is asked again when there is no sandbox any more', async () => {
      await open()
      const jobId = await askAbout(run('true'))
      sandboxNow = noSandbox(quote('It was removed.'), quote('Install it.'))
      await answer()
      const again = await expectAskedAgain(jobId, 'no_sandbox')
      expect(again.facts!.sandboxed).toBe(false)
    })

    it('is asked again when a network was opened', async () => {
      await open()
      const jobId = await askAbout(run('true'))
      await runner.client.ok('createRule', { body: { effect: 'allow', tool: 'run_command_network' } })
      await answer()
      if (sandbox.network.works) await expectAskedAgain(jobId, 'network')
      else expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
    })

    it('to run again what broke off is asked as a call of its own when there is no sandbox any more', async () => {
      await open()
      const jobId = await askAbout(run('sleep', '20'))
      await answer()
      await expect
        .poll(async () => (await runner.client.ok('listSteps', { params: { jobId } })).steps.map(({ kind }) => kind))
        .toContain('tool_started')
      await runner.restart({ crash: true })
      await expect.poll(async () => (await pending()).map(({ kind }) => kind)).toEqual(['unknown_outcome'])
      sandboxNow = noSandbox(quote('It was removed.'), quote('Install it.'))
      await answer({ answer: 'again' })
      const again = await expectAskedAgain(jobId, 'no_sandbox')
      expect(again).toMatchObject({ kind: 'tool', facts: { sandboxed: false } })
      await answer({ decision: 'reject' })
      expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
    })

    it('is asked again when its program has changed, or a script that it names', async () => {
      await open()
      for (const command of [['./build.sh'], ['sh', 'build.sh'], ['sh', '-c', 'echo start; ./build.sh']]) {
        script('build.sh', 'shown')
        const jobId = await askAbout(run(...command))
        script('build.sh', 'planted')
        await answer()
        await expectAskedAgain(jobId, 'changed')
        await answer({ decision: 'reject' })
        expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
      }
    })

    /** Approves the command with "Always", and answers what is asked when it comes again. */
    async function askedAfterAlways(first: ServedToolCall, then: ServedToolCall, meanwhile: () => void = () => {}): Promise<number> {
      const jobId = await askAbout(first)
      expect((await pending())[0]!.mayRemember).toContain('always')
      await answer({ remember: 'always' })
      await runner.ended(jobId)
      meanwhile()
      const agentId = (await runner.client.ok('listAgents')).agents.find(({ name }) => name === 'Ada')!.id
      await runner.ended(await submit(agentId, [then]))
      return (await pending()).length
    }

    it('for always holds for the same script, and not for another content', async () => {
      await open()
      script('build.sh', 'one')
      expect(await askedAfterAlways(run('./build.sh'), run('./build.sh'))).toBe(0)
      expect(await askedAfterAlwaysAgain()).toBe(1)
      async function askedAfterAlwaysAgain() {
        script('build.sh', 'two')
        const agentId = (await runner.client.ok('listAgents')).agents.find(({ name }) => name === 'Ada')!.id
        await runner.ended(await submit(agentId, [run('./build.sh')]))
        return (await pending()).length
      }
      await answer({ remember: 'always' })
      const { rules } = await runner.client.ok('listRules')
      expect(rules).toMatchObject([{ tool: 'run_command', pattern: './build.sh', folder, origin: 'approval' }])
    })

    it('for always does not hold for a script that an interpreter is given', async () => {
      await open({ 'build.sh': 'echo one' })
      const plant = () => writeFileSync(path('build.sh'), 'echo two')
      expect(await askedAfterAlways(run('sh', 'build.sh'), run('sh', 'build.sh'), plant)).toBe(1)
    })

    it('cannot be for always if not all that it runs is named', async () => {
      await open({ 'tool.py': '', 'tool.js': '', 'build.js': '', 'pkg/__main__.py': '', 'pkg/index.js': '', 'sub/x.sh': '' })
      script('build.sh', 'one')
      const commands: [string, string[]][] = [
        ['a script that is not there yet', ['sh', 'later.sh']],
        ['a module', ['python3', '-m', 'tool']],
        ['the main file of a folder', ['python3', 'pkg']],
        ['a file whose extension the program adds', ['node', 'tool']],
        ['the package of a folder', ['node', './pkg']],
        ['a program text', ['python3', '-c', 'import tool']],
        ['a program text of one word', ['python3', '-cimport\ttool']],
        ['a script after an option', ['node', '-r', './tool', 'build.js']],
        ['a script in another folder', ['sh', '-c', 'cd sub && ./x.sh']],
        ['a pattern of names', ['sh', '-c', './build.*']],
        ['a pattern with one letter open', ['sh', '-c', './bu?ld.sh']],
        ['a name with an escape', ['sh', '-c', String.raw`./bu\ild.sh`]],
        ['a shell behind another program', ['env', 'sh', '-c', './build.*']],
        ['an interpreter behind another program', ['nice', '/usr/bin/python3.12', 'pkg']],
        ['a line for another program', ['git', '-c', 'alias.x=!./bu?ld.sh', 'x']],
        ['a module for another program', ['uv', 'run', '-m', 'tool']],
      ]
      await askAbout(...commands.map(([, command]) => run(...command)))
      const asked = await pending()
      for (const [what, command] of commands) {
        const { mayRemember, alwaysRule } = asked.find(({ args }) => isDeepStrictEqual((args as { command: string[] }).command, command))!
        expect([what, mayRemember, alwaysRule]).toEqual([what, ['once', 'job'], null])
      }
    })

    it('can be for always if all that it runs is named', async () => {
      await open({ 'tool.py': '', 'build.js': '', 'sub/x.sh': '' })
      script('build.sh', 'one')
      for (const command of [
        ['git', 'status'],
        ['npm', 'test', '--', '--reporter=dot'],
        ['make', 'all'],
        ['python3', 'tool.py', '--fast', 'it'],
        ['node', './build.js'],
        ['env', 'LANG=C', 'sh', 'sub/x.sh'],
        ['./build.sh', 'Übung'],
      ]) {
        expect([command, await askedAfterAlways(run(...command), run(...command))]).toEqual([command, 0])
      }
    })

    it('for always holds in the folder in which it was asked', async () => {
      await open({ 'x.txt': '' })
      mkdirSync(path('inner'))
      const inside = { ...run('true'), args: { command: ['true'], folder: 'folder-1/inner' } }
      expect(await askedAfterAlways(run('true'), inside)).toBe(1)
    })
  })
})
