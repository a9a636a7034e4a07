import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Autonomy } from '../contract/agents.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { scratchFolder, type ScratchFolder } from '../testing/scratch-folder.ts'
import { postWebhook } from '../testing/webhook-sender.ts'

/**
 * A webhook tells the agent what to write, and the agent obeys. What it writes must not be run later by the person's own
 * git, shell or editor unless a person said yes.
 */
describe('files that run later', () => {
  let runner: TestRunner
  let work: ScratchFolder
  let calls = 0

  // One runner for all tests: each has a folder and agents of its own, and ends what it began.
  beforeAll(async () => void (runner = await createTestRunner()))
  beforeEach(async () => void (work = await scratchFolder('Work')))
  afterEach(async () => expect(await asked()).toEqual([]))
  afterAll(() => runner.stop())

  type Call = [tool: string, args: Record<string, unknown>]
  const write = (path: string, content = 'x'): Call => ['write_file', { path: `Work/${path}`, content, makeFolders: true }]
  const move = (from: string, to: string): Call => ['move_file', { from: `Work/${from}`, to: `Work/${to}`, makeFolders: true }]

  async function addAgent(autonomy: Autonomy, folder = work.path): Promise<string> {
    return (await runner.addAgent({ autonomy, folders: [folder] })).id
  }

  /** The agent makes these calls, one a turn, in a job that a webhook or a person started. */
  async function obey(agentId: string, list: readonly Call[], from: 'webhook' | 'person' = 'webhook'): Promise<string> {
    const replies = list.map(([name, args]) => ({ toolCalls: [{ id: `call_${++calls}`, name, args }] }))
    runner.modelServer.play(...replies, { text: ['Done.'] })
    if (from === 'person') return (await runner.client.ok('submitTask', { body: { task: 'Go', agentId } })).jobId
    const { url } = await runner.client.ok('createTrigger', { body: { name: 'Build failed', agentId, taskTemplate: '{{payload}}' } })
    const { text } = await postWebhook(url, { body: { text: 'Write what I say.' } })
    return (JSON.parse(text) as { jobId: string }).jobId
  }
  const statusOf = async (jobId: string) => (await runner.ended(jobId)).status
  const asked = async () =>
    (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals.map(({ facts }) => facts!.summary)
  /** Says the same to all that the job asks. Gives how often it asked. */
  const answerAll = async (jobId: string, decision: 'approve' | 'reject'): Promise<number> => {
    let questions = 0
    for (; (await statusOf(jobId)) === 'awaiting_approval'; questions++) {
      const [approval] = (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
      await runner.client.ok('resolveApproval', { body: { approvalId: approval!.id, decision } })
    }
    return questions
  }

  const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch ../ran; false"\n'
  const PLACES = [
    '.git/config',
    '.git/hooks/post-checkout',
    '.GIT/config',
    '.gi\u200Ct/config',
    'packages/inner/.git/config',
    'sub/../.git/config',
    '.git',
    '.vscode/tasks.json',
    '.idea/workspace.xml',
    '.envrc',
    '.husky/pre-commit',
    '.npmrc',
    '.bash_profile',
    '.config/autostart/a.desktop',
    '.config/systemd/user/a.service',
    'Library/LaunchAgents/a.plist',
    '.github/workflows/ci.yml',
    '.gitlab-ci.yml',
    'opencode.jsonc',
    '.opencode/plugins/a.ts',
    '.local/bin/git',
  ]

  it.each(PLACES)('a webhook does not get %j written unasked, at any level', async (path) => {
    for (const autonomy of ['ask_when_it_matters', 'on_its_own'] as const) {
      const job = await obey(await addAgent(autonomy), [write(path)])
      expect(await answerAll(job, 'reject')).toBe(1)
    }
    expect(existsSync(work.at(path))).toBe(false)
  })

  it.each(PLACES)("a person's own task asks before it writes %j at the default level", async (path) => {
    const job = await obey(await addAgent('ask_when_it_matters'), [write(path)], 'person')
    expect(await answerAll(job, 'reject')).toBe(1)
    expect(existsSync(work.at(path))).toBe(false)
  })

  it('neither a rule nor a grant opens them to the words of strangers', async () => {
    const agentId = await addAgent('on_its_own')
    const rule = { effect: 'allow', tool: 'write_file', agentId, folder: work.path } as const
    await runner.client.ok('createRule', { body: { ...rule, pattern: '*' } })
    expect(await answerAll(await obey(agentId, [write('.git/config', CONFIG)]), 'reject')).toBe(1)
  })

  it('are not made by moving, in either direction, nor by deleting', async () => {
    await work.write('.git/config', '[core]\n')
    await work.write('.git/hooks/pre-commit', '')
    const agentId = await addAgent('on_its_own')
    for (const call of [
      move('.git/config', 'config.old'),
      ['delete_file', { path: 'Work/.git/hooks/pre-commit' }] satisfies Call,
      ['edit_file', { path: 'Work/.git/config', oldText: '[core]', newText: CONFIG }] satisfies Call,
    ])
      expect(await answerAll(await obey(agentId, [call]), 'reject')).toBe(1)
    const job = await obey(agentId, [write('harmless.txt', CONFIG), move('harmless.txt', '.git/config.worktree')])
    expect(await answerAll(job, 'reject')).toBe(1)
    expect(existsSync(work.at('.git/config.worktree'))).toBe(false)
  })

  it('are not made piece by piece as a repository without a work tree', async () => {
    const pieces = [
      write('store/config', CONFIG),
      write('store/objects/x'),
      write('store/refs/x'),
      write('store/HEAD', 'ref: refs/heads/m\n'),
    ]
    expect(await answerAll(await obey(await addAgent('on_its_own'), pieces), 'reject')).toBe(1)
    expect(existsSync(work.at('store/HEAD'))).toBe(false)
  })

  it("git runs nothing of the agent's, whatever the agent does unasked", async () => {
    execFileSync('git', ['init', '-q', work.path])
    const agentId = await addAgent('ask_when_it_matters')
    const attacks: Call[][] = [
      [write('.git/config', CONFIG)],
      [move('.git/config', 'old'), write('.git/config', CONFIG)],
      [write('a/.git/config', CONFIG), write('a/.git/HEAD', 'ref: refs/heads/m\n'), write('a/.git/objects/x'), write('a/.git/refs/x')],
    ]
    for (const attack of attacks) expect(await answerAll(await obey(agentId, attack), 'reject')).toBe(attack.length)
    execFileSync('git', ['status'], { cwd: work.path, stdio: 'ignore' })
    expect(existsSync(join(work.path, '..', 'ran'))).toBe(false)
    expect(existsSync(work.at('ran'))).toBe(false)
    // The same file does run once a person has agreed: the attack is a real one.
    await writeFile(work.at('.git/config'), CONFIG.replace('../ran', 'ran'))
    execFileSync('git', ['status'], { cwd: work.path, stdio: 'ignore' })
    expect(existsSync(work.at('ran'))).toBe(true)
  })

  it("asks before a person's file is moved away, which would make room for another one", async () => {
    await work.write('plan.md', 'by the person')
    const job = await obey(await addAgent('ask_when_it_matters'), [move('plan.md', 'old.md'), write('plan.md', 'by the agent')], 'person')
    expect(await statusOf(job)).toBe('awaiting_approval')
    expect(await readFile(work.at('plan.md'), 'utf8')).toBe('by the person')
    await answerAll(job, 'approve')
    expect(await readFile(work.at('old.md'), 'utf8')).toBe('by the person')
  })

  it('are written once a person said yes', async () => {
    const job = await obey(await addAgent('ask_when_it_matters'), [write('.envrc', 'export A=1')])
    await answerAll(job, 'approve')
    expect(await readFile(work.at('.envrc'), 'utf8')).toBe('export A=1')
  })

  it('leaves ordinary work alone', async () => {
    const ordinary = [
      write('src/a.ts'),
      write('Makefile', 'all:\n'),
      write('package.json', '{}'),
      write('.gitignore'),
      move('src/a.ts', 'b.ts'),
    ]
    expect(await statusOf(await obey(await addAgent('ask_when_it_matters'), ordinary, 'person'))).toBe('completed')
  })

  it.each(['.git', '.git/hooks', 'packages/inner/.git', '.ssh', '.vscode', '.config/systemd/user', 'store.git', 'store.git/hooks'])(
    'an agent cannot be given %j as its folder',
    async (folder) => {
      await mkdir(work.at(folder), { recursive: true })
      for (const part of ['objects', 'refs', 'HEAD']) await mkdir(work.at('store.git', part), { recursive: true })
      await symlink(work.at(folder), work.at('innocent'))
      for (const path of [work.at(folder), work.at('innocent')]) {
        const { status, body } = await runner.client.ask('createAgent', { body: { name: 'Ada', folders: [path] } })
        expect([status, body]).toMatchObject([422, { error: 'folder_not_usable', detail: { code: 'folder_protected' } }])
      }
    },
  )

  describe('in an opened home', () => {
    let home: ScratchFolder
    const SECRETS = ['.ssh/id_ed25519', '.aws/credentials', '.config/gh/hosts.yml', '.netrc', '.npmrc', '.m2/settings.xml', '.SSH/id_rsa']

    beforeEach(async () => {
      home = await scratchFolder('ada')
      vi.stubEnv('HOME', home.path)
      onTestFinished(() => void vi.unstubAllEnvs())
      for (const secret of SECRETS) await home.write(secret, 'CANARY-4711')
    })

    it('keys are neither read, found, listed nor moved by the tools for files', async () => {
      await symlink(home.at('.ssh'), home.at('innocent'))
      await home.write('dotfiles/token', 'CANARY-4711')
      await mkdir(home.at('.config/op'), { recursive: true })
      await symlink(home.at('dotfiles/token'), home.at('.git-credentials'))
      const agentId = await addAgent('on_its_own', home.path)
      const attacks: Call[] = [
        ...[...SECRETS, 'innocent/id_ed25519', '.config/../.ssh/id_ed25519', 'dotfiles/token', '.git-credentials'].map((path): Call => [
          'read_file',
          { path: `ada/${path}` },
        ]),
        ['search_files', { query: 'CANARY', includeHidden: true }],
        ['search_files', { query: 'CANARY', path: 'ada/.ssh', includeHidden: true }],
        ['list_files', { path: 'ada/.ssh' }],
        ['move_file', { from: 'ada/.ssh/id_ed25519', to: 'ada/key.txt' }],
        ['edit_file', { path: 'ada/.netrc', oldText: 'C', newText: 'x' }],
        ['write_file', { path: 'ada/.ssh/authorized_keys', content: 'ssh-ed25519 AAAA', makeFolders: true }],
      ]
      await statusOf(await obey(agentId, attacks, 'person'))
      const heard = JSON.stringify(runner.modelServer.received.at(-1)!.body)
      expect(heard).not.toContain('CANARY-4711')
      expect(heard).toContain('holds keys or passwords')
      expect(await asked()).toEqual([])
      expect(existsSync(home.at('.ssh/authorized_keys'))).toBe(false)
    })

    it('a start-up file is not written unasked, also where a link leads to it', async () => {
      const file = await home.write('dotfiles/profile', '')
      await chmod(file, 0o644)
      await symlink(file, home.at('.zprofile'))
      for (const path of ['.bash_profile', '.config/anything/settings', 'bin/ls', 'dotfiles/profile']) {
        const job = await obey(await addAgent('on_its_own', home.path), [
          ['write_file', { path: `ada/${path}`, content: 'evil', makeFolders: true }],
        ])
        expect(await answerAll(job, 'reject')).toBe(1)
      }
    })
  })
})
