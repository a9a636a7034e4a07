import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Step } from '../contract/jobs.ts'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'
import { createCodeRig, worktreeOf, type CodeRig } from '../testing/code-rig.ts'
import { createHandClock } from '../testing/hand-clock.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'

const { sandbox, isMissing } = await findSandboxHere()
const NO_SANDBOX: SandboxState = { ...sandbox, kind: 'none', works: false, setup: null }

let rig: CodeRig
const open = async (...given: Parameters<typeof createCodeRig>) => (rig = await createCodeRig(...given))
afterEach(() => rig.runner.stop())

const onItsOwn = { agent: { autonomy: 'on_its_own' as const } }
/** Commands reach the service of the program, so without a rule they ask at every level. */
const allowCommands = () => rig.runner.client.ok('createRule', { body: { effect: 'allow', tool: 'code_command', agentId: rig.agent.id } })
const ONLY_GOOGLE =
  'in the sandbox, with network only to generativelanguage.googleapis.com, cloudcode-pa.googleapis.com, oauth2.googleapis.com'
const callsOf = (steps: Step[]) => steps.flatMap((step) => (step.kind === 'reply' ? step.toolCalls.map(({ name }) => name) : []))
/** Processes of this machine whose command has the word in it. */
const runningWith = (word: string) =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)
    } catch {
      return false
    }
  })

describe.skipIf(isMissing)('a task for a coding program', () => {
  it('leaves a branch, a diff, the commands and a bill, and the checkout as it was', async () => {
    await open(onItsOwn)
    await allowCommands()
    const { job, code, steps } = await rig.run('Fix the tax\n@say I look.\n@write till.ts export const tax = 20\\n\n@run echo tested\n@usage 1200 300 0.25\n@say Done, all green.') // prettier-ignore
    expect(job).toMatchObject({
      status: 'completed',
      channel: 'api',
      isCodeTask: true,
      costUsd: 0.25,
      inputTokens: 1200,
      outputTokens: 300,
      priced: true,
    })
    expect(job.result).toBe('Done, all green.')
    expect(code).toMatchObject({
      cli: 'gemini', repository: rig.repository, baseBranch: 'main', baseCommit: rig.git('rev-parse', 'main'), sandboxed: true, internet: false,
      result: 'ready', fileCount: 1, additions: 1, deletions: 1, commands: [{ command: 'echo tested', exitCode: 0 }],
      files: [{ path: 'till.ts', change: 'modified', from: null, additions: 1, deletions: 1, binary: false, runsByItself: false }],
      folder: worktreeOf(rig, job.id),
    }) // prettier-ignore
    expect(code.branch).toMatch(/^deckhand\/fix-the-tax-[0-9a-f]{8}$/)
    expect(rig.git('show', `${code.branch}:till.ts`)).toBe('export const tax = 20')
    expect(readFileSync(join(rig.repository, 'till.ts'), 'utf8')).toBe('export const tax = 19\n')
    expect(rig.git('status', '--porcelain')).toBe('')
    expect(callsOf(steps)).toEqual(['code_start', 'code_edit', 'code_command'])
    expect(steps.filter(({ kind }) => kind === 'tool_result')).toMatchObject([
      { name: 'code_start', ok: true },
      { name: 'code_edit', ok: true },
      { name: 'code_command', ok: true, output: expect.stringContaining('tested') as string },
    ])
  })

  it('leaves what would run by itself on its branch under its own name, and marks it', async () => {
    await open(onItsOwn)
    const { code } = await rig.run(
      'Add checks\n@put .vscode/tasks.json {}\n@put .github/workflows/ci.yml on: push\n@put a.txt one\n@say Done.',
    )
    expect(code.files.map(({ path, runsByItself }) => [path, runsByItself])).toEqual([
      ['.github/workflows/ci.yml', true],
      ['.vscode/tasks.json', true],
      ['a.txt', false],
    ])
  })

  it.skipIf(process.platform === 'win32')('tells what the branch cannot keep', async () => {
    await open(onItsOwn)
    const { code } = await rig.run(`Look\n@put a.txt one\n@run-unasked touch "$(printf 'bad\\377')"\n@say Done.`)
    expect(code).toMatchObject({ fileCount: 1, leftOut: [{ path: 'bad\uFFFD', reason: 'bad_name' }] })
  })

  it('asks for what the agent must ask, answers the program itself, and goes on in the same conversation', async () => {
    await open()
    const asked = await rig.run('Look\n@write a.txt one\n@run touch ran\n@write b.txt two\n@turns')
    expect(asked.job.status).toBe('awaiting_approval')
    const [approval] = await rig.pending(asked.job.id)
    expect(approval).toMatchObject({ tool: 'code_command', args: { command: 'touch ran' }, facts: { subject: 'touch ran', runsCode: true, sandboxed: true, leavesMachine: true } }) // prettier-ignore
    expect(approval!.facts!.summary).toBe(`Gemini CLI says it will run “touch ran”, ${ONLY_GOOGLE}`)
    expect(existsSync(join(worktreeOf(rig, asked.job.id), 'ran'))).toBe(false)
    const { job, code } = await rig.answer(asked.job.id, 'approve')
    expect(job.result).toContain('turn 1:')
    expect(code.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'ran'])
  })

  it('asks once for commands that reach the service of the program, whatever the agent may do by itself', async () => {
    await open(onItsOwn)
    const asked = await rig.run('Look\n@run touch one\n@run touch two\n@say Done.')
    const [approval, ...others] = await rig.pending(asked.job.id)
    expect(others).toEqual([])
    expect(approval).toMatchObject({ tool: 'code_command', decision: { decidedBy: { source: 'lethal_trifecta' } } })
    const { job, code } = await rig.answer(asked.job.id, 'approve', { remember: 'job' })
    expect(job.status).toBe('completed')
    expect(code.files.map(({ path }) => path)).toEqual(['one', 'two'])
  })

  it('tells the program a no, and runs nothing', async () => {
    await open()
    const asked = await rig.run('Look\n@run touch ran\n@say went on')
    const { job, code, steps } = await rig.answer(asked.job.id, 'reject', { note: 'Not now.' })
    expect(job).toMatchObject({ status: 'completed', result: 'went on' })
    expect(code).toMatchObject({ result: 'none', files: [] })
    expect(steps.find((step) => step.kind === 'tool_result' && step.name === 'code_command')).toMatchObject({ ok: false, refused: true, output: expect.stringContaining('Not now.') as string }) // prettier-ignore
  })

  it('refuses files outside of its folder, whatever the agent may do', async () => {
    await open(onItsOwn)
    const { job, code, steps } = await rig.run('Look\n@write ../out.txt x\n@write .git/hooks/x y\n@write in.txt z')
    expect(job.status).toBe('completed')
    expect(code.files.map(({ path }) => path)).toEqual(['in.txt'])
    const refused = steps.filter((step) => step.kind === 'tool_result' && !step.ok)
    expect(refused).toMatchObject([{ output: expect.stringContaining('outside of the folder') as string }, { output: expect.stringContaining('belongs to Git') as string }]) // prettier-ignore
  })

  it('goes on with the loaded conversation after a restart, and does not ask again', async () => {
    await open({ script: '@turns\n@run touch ran\n@say done' })
    const asked = await rig.run('Look')
    await rig.runner.restart()
    const { job, code, steps } = await rig.answer(asked.job.id, 'approve')
    expect(job.status).toBe('completed')
    expect(job.result).toContain('done')
    expect(JSON.stringify(steps)).toContain('turn 2: Look')
    expect(code.files.map(({ path }) => path)).toEqual(['ran'])
    expect((await rig.runner.client.ok('listApprovals', { query: { jobId: job.id } })).approvals).toHaveLength(1)
  })

  it('asks a person if the program cannot load its conversation', async () => {
    await open({ script: '@start no-load' })
    const asked = await rig.run('Look\n@put a.txt one\n@run touch ran')
    await rig.runner.restart()
    const unknown = await rig.answer(asked.job.id, 'approve')
    expect(unknown.job.status).toBe('awaiting_approval')
    expect(await rig.pending(asked.job.id)).toMatchObject([{ kind: 'unknown_outcome', tool: 'code_start' }])
    const { job, code } = await rig.answer(asked.job.id, 'approve', { answer: 'happened' })
    expect(job.status).toBe('completed')
    expect(code.files.map(({ path }) => path)).toEqual(['a.txt'])
  })

  it.skipIf(process.platform !== 'linux')(
    'ends with all its children when it is cancelled, also if they ignore it, and keeps what it did',
    async () => {
      await open(onItsOwn)
      const seconds = `10${process.pid}`
      const jobId = await rig.begin(
        `Look\n@ignore-term\n@put a.txt one\n@run-unasked trap '' TERM HUP; sleep ${seconds} & sleep ${seconds}`,
      )
      await expect.poll(() => runningWith(seconds).length).toBeGreaterThan(2)
      await rig.runner.client.ok('cancelJob', { params: { jobId } })
      expect((await rig.runner.ended(jobId)).status).toBe('cancelled')
      await expect.poll(() => runningWith(seconds)).toEqual([])
      await expect.poll(async () => (await rig.look(jobId)).code.files.map(({ path }) => path)).toEqual(['a.txt'])
    },
  )

  it('is cancelled while a person is asked, and its program ends', async () => {
    await open()
    const { job } = await rig.run('Look\n@run touch ran')
    const isRunning = () => runningWith(join(rig.programs, 'gemini')).length > 0
    expect(isRunning()).toBe(process.platform === 'linux')
    await rig.runner.client.ok('cancelJob', { params: { jobId: job.id } })
    expect((await rig.look(job.id)).job.status).toBe('cancelled')
    await expect.poll(isRunning).toBe(false)
    await expect.poll(() => existsSync(join(rig.runner.dataDir, 'code', `${job.id}.home`))).toBe(false)
  })

  it('asks for more when a limit is reached', async () => {
    await open({ agent: { autonomy: 'on_its_own', limits: { maxCostUsd: 0.1 } }, script: '@say finished' })
    const asked = await rig.run('Look\n@put a.txt one\n@usage 1000 100 0.15\n@hang')
    expect(asked.job).toMatchObject({ status: 'awaiting_approval', costUsd: 0.15 })
    expect(await rig.pending(asked.job.id)).toMatchObject([{ kind: 'budget', budget: { scope: 'job', spentUsd: 0.15 } }])
    const { job, code } = await rig.answer(asked.job.id, 'approve')
    expect(job).toMatchObject({ status: 'completed', costUsd: 0.15, result: expect.stringContaining('finished') as string })
    expect(code.files.map(({ path }) => path)).toEqual(['a.txt'])
  })

  it('ends without more money, and keeps what it did', async () => {
    await open({ agent: { autonomy: 'on_its_own', limits: { maxCostUsd: 0.1 } } })
    const asked = await rig.run('Look\n@put a.txt one\n@usage 1000 100 0.15\n@hang')
    const { job } = await rig.answer(asked.job.id, 'reject')
    expect(job).toMatchObject({ status: 'failed', error: 'cost_limit' })
    await expect.poll(async () => (await rig.look(job.id)).code.files.map(({ path }) => path)).toEqual(['a.txt'])
  })

  it('fails with a reason if the program dies, and keeps what it did', async () => {
    await open(onItsOwn)
    const { job } = await rig.run('Look\n@put a.txt one\n@die 7')
    expect(job).toMatchObject({ status: 'failed', error: 'coding_program_failed' })
    await expect.poll(async () => (await rig.look(job.id)).code.files.map(({ path }) => path)).toEqual(['a.txt'])
  })

  it('reaches the network only where the person allowed it, and asks for each command then', async () => {
    await open()
    // Where commands have a network, Python forwards it; curl may not be there.
    const command = `python3 -c 'import urllib.request as u; u.urlopen("https://no-such-host.invalid")' 2>&1 | grep -o 'failed: [0-9]*'`
    const answerOfProxy = async (more: object) => {
      const asked = await rig.run(`Look\n@run-unasked ${command}\n@run true`, more)
      const [approval] = await rig.pending(asked.job.id)
      const result = asked.steps.find((step) => step.kind === 'tool_result' && step.name === 'code_command')
      return [/(\d{3})\s*$/.exec((result as { output: string }).output)?.[1], approval!.facts!.leavesMachine, approval!.facts!.summary]
    }
    // Refused by name, or looked up and not found.
    expect(await answerOfProxy({})).toEqual(['403', true, `Gemini CLI says it will run “true”, ${ONLY_GOOGLE}`])
    expect(await answerOfProxy({ internet: true })).toEqual(['502', true, 'Gemini CLI says it will run “true”, in the sandbox, with network']) // prettier-ignore
  })

  it('ends at the limit of its working time, and keeps what it did', async () => {
    const clock = createHandClock()
    const machine = { uptimeMs: () => clock.monotonic(), bootId: () => 'one boot' }
    await open({ agent: { autonomy: 'on_its_own', limits: { maxWorkingMs: 60_000 } }, runner: { clock, machine } })
    const jobId = await rig.begin('Look\n@put a.txt one\n@hang')
    await expect.poll(() => existsSync(join(worktreeOf(rig, jobId), 'a.txt'))).toBe(true)
    clock.advance(60_000)
    await expect.poll(async () => (await rig.look(jobId)).job.error).toBe('time_limit')
    await expect.poll(async () => (await rig.look(jobId)).code.files.map(({ path }) => path)).toEqual(['a.txt'])
  })

  it('shows no login that the program prints, plain or encoded', async () => {
    await open(onItsOwn)
    const token = 'ya29.canary+of/a=login-0123456789'
    mkdirSync(join(rig.home, '.gemini'))
    writeFileSync(join(rig.home, '.gemini', 'oauth_creds.json'), JSON.stringify({ access_token: token }))
    const read = `T=$(sed 's/.*:"//; s/".*//' "$GEMINI_CLI_HOME/.gemini/oauth_creds.json")`
    const print = `echo "$T"; printf %s "$T" | base64 -w0; echo; printf %s "x$T" | base64 -w0; echo; printf %s "$T" | sed 's#+#%2B#g; s#/#%2F#g; s#=#%3D#g'`
    const { job, steps } = await rig.run(`Look\n@run-unasked ${read}; ${print}\n@say ${token} and ${encodeURIComponent(token)}`)
    const output = steps.find((step) => step.kind === 'tool_result' && step.name === 'code_command')
    expect(output).toMatchObject({ ok: true, output: 'Exit code 0.\n***\n***\neH***Q==\n***' })
    const base64 = Buffer.from(token).toString('base64')
    const inBase64 = Buffer.from(`x${token}`).toString('base64').slice(4, -4)
    const kept = JSON.stringify([job.result, steps])
    for (const spelling of [token, encodeURIComponent(token), base64, inBase64]) expect(kept).not.toContain(spelling)
  })

  it('keeps a file with a login off the branch, and the folder with it', async () => {
    await open(onItsOwn)
    const token = 'ya29.canary+of/a=login-0123456789'
    mkdirSync(join(rig.home, '.gemini'))
    const scope = 'https://www.googleapis.com/auth/cloud-platform'
    writeFileSync(join(rig.home, '.gemini', 'oauth_creds.json'), JSON.stringify({ access_token: token, scope }))
    const { job, code } = await rig.run(
      `Look\n@put .env KEY="${token}"\n@put scope.txt ${scope}\n@put till.ts export const key = '${token}'`,
    )
    expect(code.leftOut.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: '.env', reason: 'login' },
      { path: 'till.ts', reason: 'login' },
    ])
    expect(code.files.map(({ path }) => path)).toEqual(['scope.txt'])
    expect(rig.git('show', `${code.branch}:till.ts`)).toBe('export const tax = 19')
    expect(rig.git('log', '--all', '-p')).not.toContain(token)
    const { status, body } = await rig.runner.client.ask('removeCodeTaskFolder', { params: { jobId: job.id } })
    expect([status, body]).toMatchObject([409, { error: 'code_folder_unsaved' }])
    expect(existsSync(join(worktreeOf(rig, job.id), '.env'))).toBe(true)
  })

  it('asks about a command without the login that it holds', async () => {
    await open()
    const token = 'ya29.canary+of/a=login-0123456789'
    mkdirSync(join(rig.home, '.gemini'))
    writeFileSync(join(rig.home, '.gemini', 'oauth_creds.json'), JSON.stringify({ access_token: token }))
    const { job } = await rig.run(`Look\n@run echo ${token}`)
    const [approval] = await rig.pending(job.id)
    expect(approval).toMatchObject({ tool: 'code_command', args: { command: 'echo ***' }, facts: { subject: 'echo ***' } })
    expect(JSON.stringify(approval)).not.toContain(token)
  })

  it('works in one repository beside another one', async () => {
    await open(onItsOwn)
    const done = await Promise.all([rig.run('One\n@write a.txt one'), rig.run('Two\n@write a.txt two')])
    expect(done.map(({ job }) => job.status)).toEqual(['completed', 'completed'])
    expect(done.map(({ code }) => rig.git('show', `${code.branch}:a.txt`)).toSorted()).toEqual(['one', 'two'])
  })

  it('can be given again', async () => {
    await open(onItsOwn)
    const first = await rig.run('Look\n@die 7')
    const { job } = await rig.runner.client.ok('retryJob', { params: { jobId: first.job.id } })
    await rig.runner.ended(job.id)
    const { code } = await rig.look(job.id)
    expect(code).toMatchObject({ cli: 'gemini', repository: rig.repository, baseCommit: first.code.baseCommit })
    expect(code.branch).not.toBe(first.code.branch)
  })
})

it('is refused where it cannot work', async () => {
  await open()
  const plain = rig.runner.makeFolder()
  const ask = async (more: object) => {
    const body = { agentId: rig.agent.id, cli: 'gemini' as const, folder: rig.repository, task: 'Look', ...more }
    const { status, body: answer } = await rig.runner.client.ask('createCodeTask', { body })
    return [status, (answer as { error: string }).error]
  }
  expect(await ask({ folder: plain })).toEqual([400, 'folder_not_open'])
  expect(await ask({ folder: join(rig.repository, '..') })).toEqual([400, 'folder_not_open'])
  expect(await ask({ cli: 'opencode' })).toEqual([400, 'program_missing'])
  await rig.runner.client.ok('updateAgent', { params: { agentId: rig.agent.id }, body: { folders: [rig.repository, plain] } })
  expect(await ask({ folder: plain })).toEqual([400, 'not_a_repository'])
  expect(await ask({ agentId: '018f4e9a-7b1c-7c3d-8e4f-0123456789ab' })).toEqual([404, 'agent_not_found'])
})

it.skipIf(process.platform === 'win32')(
  'starts outside of the sandbox only after a person was asked, until a rule of its own allows it',
  async () => {
    await open({ ...onItsOwn, runner: { findSandbox: async () => NO_SANDBOX } })
    await rig.runner.client.ok('createRule', { body: { effect: 'allow', tool: '*' } })
    const asked = await rig.run('Look\n@put a.txt one')
    expect(asked.job.status).toBe('awaiting_approval')
    expect(asked.code.sandboxed).toBe(false)
    const [approval] = await rig.pending(asked.job.id)
    expect(approval).toMatchObject({
      tool: 'code_start',
      facts: { sandboxed: false, runsCode: true },
      decision: { decidedBy: { source: 'sandbox' } },
    })
    expect(approval!.facts!.summary).toContain('without a sandbox: it can do anything you can')
    expect(approval!.mayRemember).toContain('always')
    const refused = await rig.answer(asked.job.id, 'reject')
    expect(refused.job).toMatchObject({ status: 'failed', error: 'coding_not_allowed' })
    expect(existsSync(join(worktreeOf(rig, asked.job.id), 'a.txt'))).toBe(false)

    const again = await rig.run('Look\n@put a.txt one')
    const { job, code } = await rig.answer(again.job.id, 'approve', { remember: 'always' })
    expect([job.status, code.files.map(({ path }) => path)]).toEqual(['completed', ['a.txt']])
    // Each command is still asked.
    const third = await rig.run('Look\n@run touch b.txt')
    expect(await rig.pending(third.job.id)).toMatchObject([{ tool: 'code_command', facts: { sandboxed: false, leavesMachine: true } }])
  },
)

it('has calls that rules can be tried on before a program runs', async () => {
  await open()
  const { tools } = await rig.runner.client.ok('listTools')
  const classes = Object.fromEntries(tools.map(({ name, effect }) => [name, effect]))
  expect(classes).toMatchObject({ code_task: 'idempotent', code_start: 'once', code_read: 'read', code_edit: 'idempotent', code_command: 'once', code_fetch: 'once', code_other: 'once', find_tools: 'read', read_result: 'read', use_skill: 'read' }) // prettier-ignore
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)

  const rules = [{ effect: 'allow', tool: 'code_command', pattern: 'npm *' } as const]
  const simulate = async (tool: string, args: object) => {
    const { decision, facts } = await rig.runner.client.ok('simulateCall', {
      body: { agentId: rig.agent.id, tool, args: { ...args }, rules },
    })
    return [decision.verdict, facts.summary]
  }
  expect(await simulate('code_command', { command: 'npm test' })).toEqual(['run', 'Claude Code says it will run “npm test”, in the sandbox, with network only to api.anthropic.com, platform.claude.com, console.anthropic.com']) // prettier-ignore
  expect(await simulate('code_command', { command: 'make', program: 'codex', internet: true })).toMatchObject(['ask', expect.stringContaining('Codex')]) // prettier-ignore
  expect(await simulate('code_edit', { path: 'till.ts' })).toMatchObject(['run', expect.stringContaining('till.ts')])
  expect((await simulate('code_fetch', { url: 'https://example.org/' }))[0]).toBe('ask')
  expect((await simulate('code_other', { title: 'Something' }))[0]).toBe('ask')
  expect((await simulate('code_start', { sandboxed: false }))[0]).toBe('ask')
  expect((await simulate('code_start', {}))[0]).toBe('run')
  const outside = { agentId: rig.agent.id, tool: 'code_read', args: { path: '../secret' } }
  expect(await rig.runner.client.ask('simulateCall', { body: outside })).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})
