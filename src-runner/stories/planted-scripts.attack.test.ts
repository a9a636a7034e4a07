import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Agent } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import { quote } from '../lib/messages.ts'
import { noSandbox } from '../platform/sandbox/find-sandbox.ts'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'
import { createCodeRig, type CodeRig } from '../testing/code-rig.ts'
import type { ServedReply } from '../testing/model-servers/reply.ts'
import { createPostTool } from '../testing/post-tool.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'
import { scratchFolder, type ScratchFolder } from '../testing/scratch-folder.ts'

const { sandbox, isMissing } = await findSandboxHere()

/** What somebody planted in a repository is run by another agent, which may do everything alone and has read nothing. */
describe('an autonomous agent in a folder where somebody planted scripts', () => {
  let rig: CodeRig
  let sandboxNow: SandboxState
  let elsewhere: ScratchFolder
  let posts = 0
  let calls = 0
  afterEach(() => rig.runner.stop())

  async function open(): Promise<Agent> {
    posts = 0
    sandboxNow = sandbox
    elsewhere = await scratchFolder()
    await elsewhere.write('secret.txt', 'CANARY-4711')
    const tools = { moreTools: [createPostTool(() => posts++)], findSandbox: async () => sandboxNow }
    rig = await createCodeRig({ agent: { name: 'Inbox', autonomy: 'on_its_own' }, runner: tools })
    return rig.runner.addAgent({ name: 'Builder', autonomy: 'on_its_own', folders: [rig.repository] })
  }

  /** Leaves a mark in the folder, and tries everything that it may not do. */
  const evil = () =>
    [
      'const fs = require("node:fs"); const [mark] = process.argv.slice(2)',
      'const attempt = (work) => { try { work() } catch {} }',
      'fs.writeFileSync("ran-" + mark, "")',
      `attempt(() => fs.writeFileSync(${JSON.stringify(elsewhere.at('ran'))}, ""))`,
      `attempt(() => console.log(fs.readFileSync(${JSON.stringify(elsewhere.at('secret.txt'))}, "utf8")))`,
      'attempt(() => fs.writeFileSync(".git/hooks/post-checkout", "#!/bin/sh", { mode: 0o755 }))',
      'attempt(() => fs.appendFileSync(".git/config", "[core] fsmonitor = touch ran-monitor"))',
      'attempt(() => fs.writeFileSync(".envrc", "touch ran-envrc"))',
      'attempt(() => fs.writeFileSync(".npmrc", "script-shell=./evil"))',
      `fetch(${JSON.stringify(`${rig.runner.modelServer.url}/planted`)}).catch(() => {})`,
    ].join('; ')

  const scripts = Object.fromEntries(['preinstall', 'prepare', 'test'].map((name) => [name, `node evil.js ${name}`]))
  /** Run by name, so they are written like any file. */
  const ordinary = (): Record<string, string> => ({
    'evil.js': evil(),
    'package.json': JSON.stringify({ name: 'shop', version: '1.0.0', scripts }),
    'conftest.py': 'open("ran-conftest", "w")',
    Makefile: 'all: ; node evil.js make',
    '.gitattributes': '* filter=evil diff=evil merge=evil',
  })
  const RUNS_LATER = {
    '.envrc': 'touch ran-envrc',
    '.npmrc': 'script-shell=./evil',
    '.git/hooks/post-checkout': '#!/bin/sh\ntouch ran-hook',
    '.git/config': '[filter "evil"]\n\tclean = touch ran-filter\n',
    '.git/info/attributes': '* filter=evil',
  }

  const call = (name: string, args: object): ServedReply => ({ toolCalls: [{ id: `call_${++calls}`, name, args }] })
  const write = ([path, content]: [string, string]) => call('write_file', { path: `shop/${path}`, content, makeFolders: true })
  const run = (...command: string[]) => call('run_command', { command, folder: 'shop' })
  const pending = async (): Promise<Approval[]> => (await rig.runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
  async function play(agent: Agent, channel: 'webhook' | 'api', replies: ServedReply[]): Promise<string> {
    rig.runner.modelServer.play(...replies, { text: ['Done.'] })
    const jobId = await rig.runner.enqueue({ agentId: agent.id, channel, task: 'Go on' })
    await rig.runner.ended(jobId)
    return jobId
  }

  const PLANTERS = {
    /** Refused where it is asked, which must be for exactly what runs later. */
    async 'a job of a webhook'() {
      const jobId = await play(rig.agent, 'webhook', Object.entries({ ...ordinary(), ...RUNS_LATER }).map(write))
      for (const path of Object.keys(RUNS_LATER)) {
        const [{ id, facts }] = (await pending()) as [Approval]
        expect(facts).toMatchObject({ subject: `shop/${path}`, runsLater: true })
        await rig.runner.client.ok('resolveApproval', { body: { approvalId: id, decision: 'reject' } })
        await rig.runner.ended(jobId)
      }
      expect(await rig.runner.ended(jobId)).toMatchObject({ status: 'completed' })
    },
    /** The person takes over what it left. */
    async 'a coding program'() {
      const puts = Object.entries(ordinary()).map(([path, content]) => `@put ${path} ${content}`)
      const { code } = await rig.run(['Look', ...puts, '@put .git/config x', '@put .git/hooks/post-checkout x', '@say Done.'].join('\n'))
      expect(code.files.map(({ path }) => path).toSorted()).toEqual(Object.keys(ordinary()).toSorted())
      await rig.runner.client.ok('applyCodeTask', { params: { jobId: code.jobId } })
    },
  }

  it.skipIf(isMissing).each(Object.keys(PLANTERS) as (keyof typeof PLANTERS)[])(
    'runs what %s planted in the sandbox alone',
    async (planter) => {
      const builder = await open()
      await PLANTERS[planter]()
      const git = ['config', 'hooks'].map((name) => join(rig.repository, '.git', name))
      const state = () => JSON.stringify([readFileSync(git[0]!, 'utf8'), readdirSync(git[1]!)])
      const before = state()

      const commands = [run('git', 'status'), run('git', 'add', '--all'), run('npm', 'install'), run('npm', 'test')]
      const jobId = await play(builder, 'api', [...commands, call('post', { text: 'Built' })])

      // The attack is a real one: all of it ran.
      const marks = readdirSync(rig.repository).filter((name) => name.startsWith('ran-'))
      expect(marks.toSorted()).toEqual(['ran-preinstall', 'ran-prepare', 'ran-test'])
      expect(existsSync(elsewhere.at('ran'))).toBe(false)
      expect(state()).toBe(before)
      expect(['.envrc', '.npmrc'].filter((name) => existsSync(join(rig.repository, name)))).toEqual([])
      expect(rig.runner.modelServer.received.filter(({ path }) => path.includes('planted'))).toEqual([])
      expect(JSON.stringify(await rig.runner.client.ok('listSteps', { params: { jobId } }))).not.toContain('CANARY')
      // What it printed is somebody else's text, so nothing leaves the machine after it.
      expect(await pending()).toMatchObject([{ tool: 'post', decision: { decidedBy: { source: 'lethal_trifecta' } } }])
      expect(posts).toBe(0)
    },
  )

  it.each([
    ['git', 'status'],
    ['npm', 'install'],
    ['npm', 'test'],
  ])('asks without a sandbox before it runs %s %s, also after "Always"', async (...command) => {
    const builder = await open()
    await play(rig.agent, 'webhook', Object.entries(ordinary()).map(write))
    sandboxNow = noSandbox(quote('It was removed.'), quote('Install it.'))
    await rig.runner.client.ok('createRule', {
      body: { effect: 'allow', tool: 'run_command', agentId: builder.id, folder: rig.repository },
    })
    await play(builder, 'api', [run(...command)])
    expect(await pending()).toMatchObject([{ tool: 'run_command', decision: { decidedBy: { source: 'sandbox' } }, mayRemember: ['once'] }])
    expect(readdirSync(rig.repository).filter((name) => name.startsWith('ran-'))).toEqual([])
  })
})
