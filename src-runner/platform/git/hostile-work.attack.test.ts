import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { removeEmptyAbove } from './checkout-files.ts'
import { createGitRig, gitIn } from '../../testing/git-rig.ts'

type Rig = Awaited<ReturnType<typeof createGitRig>>
type Task = Awaited<ReturnType<Rig['addTask']>>

/** What a program can name as a filter, driver, hook or monitor, everywhere that Git would look. */
const TRAPS = (trap: string) => `
[core]
	fsmonitor = ${trap}
	hooksPath = hooks
	sshCommand = ${trap}
	pager = ${trap}
	editor = ${trap}
	askPass = ${trap}
	gitProxy = ${trap}
	alternateRefsCommand = ${trap}
	attributesFile = attributes
[filter "trap"]
	clean = ${trap}
	smudge = ${trap}
	process = ${trap}
	required = true
[filter "lfs"]
	clean = ${trap}
	smudge = ${trap}
	process = ${trap}
	required = true
[diff "trap"]
	command = ${trap}
	textconv = ${trap}
[diff]
	external = ${trap}
[merge "trap"]
	driver = ${trap}
[merge]
	default = trap
[credential]
	helper = !${trap}
[gpg]
	program = ${trap}
[commit]
	gpgSign = true
[tag]
	gpgSign = true
[user]
	signingKey = 0123456789ABCDEF
[pager]
	diff = ${trap}
	branch = ${trap}
	config = ${trap}
[alias]
	read-tree = !${trap}
	ls-files = !${trap}
	fast-import = !${trap}
	diff-tree = !${trap}
[uploadpack]
	packObjectsHook = ${trap}
[remote "origin"]
	url = ext::${trap}
	promisor = true
	partialclonefilter = blob:none
	uploadpack = ${trap}
[interactive]
	diffFilter = ${trap}
[trailer "x"]
	command = ${trap}
[submodule "sub"]
	update = !${trap}
	active = true
	url = ext::${trap}
`
const ATTRIBUTES = '* filter=trap diff=trap merge=trap\n*.ts filter=lfs\n'
const HOOKS = [
  'pre-commit',
  'post-commit',
  'commit-msg',
  'prepare-commit-msg',
  'post-checkout',
  'post-merge',
  'post-index-change',
  'reference-transaction',
  'pre-auto-gc',
  'fsmonitor-watchman',
  'post-rewrite',
  'post-update',
  'pre-receive',
]

/** Everything that is done with a task, from the first question to the last. */
async function goThroughAll(rig: Rig, task: Task): Promise<void> {
  await rig.git.findRepository(rig.repository)
  const { commit } = await task.commit()
  const range = { repository: rig.repository, base: rig.base, commit }
  const { files } = await rig.git.changes(range)
  for (const { path, from } of files.slice(0, 20)) await rig.git.diffOf(range, { path, from })
  await rig.git.applyTo(range)
  await rig.git.sizeOf(task.folder)
  await rig.git.removeWorktree(task)
  expect(existsSync(task.folder)).toBe(false)
  await rig.git.deleteBranch(task)
}

function plantHooks(folder: string, trap: string): void {
  mkdirSync(folder, { recursive: true })
  for (const hook of HOOKS) symlinkSync(trap, join(folder, hook))
}

describe('a repository whose settings name programs', () => {
  test.each<[string, (rig: Rig, trap: string) => unknown]>([
    ['in its configuration', ({ repository }, trap) => appendTo(join(repository, '.git/config'), TRAPS(trap))],
    [
      'in a configuration that it includes',
      async (rig, trap) => {
        await rig.write('settings', TRAPS(trap))
        appendTo(join(rig.repository, '.git/config'), '[include]\n\tpath = ../settings\n')
      },
    ],
    [
      'in the configuration of its worktrees',
      ({ repository }, trap) => {
        gitIn(repository, 'config', 'extensions.worktreeConfig', 'true')
        writeFileSync(join(repository, '.git/config.worktree'), TRAPS(trap))
      },
    ],
    [
      'as hooks',
      ({ repository }, trap) => (
        rmSync(join(repository, '.git/hooks'), { recursive: true, force: true }),
        plantHooks(join(repository, '.git/hooks'), trap)
      ),
    ],
    [
      'as hooks elsewhere',
      ({ repository, scratch }, trap) => {
        plantHooks(scratch.at('hooks'), trap)
        gitIn(repository, 'config', 'core.hooksPath', scratch.at('hooks'))
      },
    ],
  ])('%s: none is run', async (_, plant) => {
    const rig = await createGitRig()
    const { trap, traces } = await rig.plantTrap()
    await rig.write('.gitattributes', ATTRIBUTES)
    rig.gitIn('add', '--all')
    rig.gitIn('commit', '--quiet', '-m', 'Attributes')
    const commit = rig.head()
    await rig.write('.git/info/attributes', ATTRIBUTES)
    await plant(rig, trap)
    const task = await rig.addTask('job-1', commit)
    expect(readFileSync(task.at('README.md'), 'utf8')).toContain('# Project')
    await task.write('README.md', 'changed\n')
    await task.write('src/main.ts', 'changed\n')
    await goThroughAll(rig, task)
    expect(traces()).toBe('')
  })

  test('would run them under a plain Git', async () => {
    const rig = await createGitRig()
    const { trap, traces } = await rig.plantTrap()
    appendTo(join(rig.repository, '.git/config'), TRAPS(trap))
    await rig.write('.gitattributes', ATTRIBUTES)
    await rig.write('README.md', 'changed\n')
    expect(() => rig.gitIn('add', '--all')).toThrow()
    expect(traces()).not.toBe('')
  })

  test('runs nothing for objects that are missing, and says so', async () => {
    const rig = await createGitRig()
    const { trap, traces } = await rig.plantTrap()
    appendTo(join(rig.repository, '.git/config'), TRAPS(trap))
    const blob = gitIn(rig.scratch.path, '--git-dir', join(rig.repository, '.git'), 'rev-parse', 'HEAD:README.md')
    rmSync(join(rig.repository, '.git/objects', blob.slice(0, 2), blob.slice(2)))
    await expect(rig.addTask()).rejects.toMatchObject({ trouble: 'failed' })
    expect(traces()).toBe('')
  })

  test('reads no replaced objects', async () => {
    const rig = await createGitRig()
    const other = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: rig.repository,
      input: 'replaced\n',
      encoding: 'utf8',
    }).trim()
    rig.gitIn('replace', rig.gitIn('rev-parse', 'HEAD:README.md'), other)
    expect((await rig.addTask()).read('README.md')).toContain('# Project')
  })
})

describe('work that attacks', () => {
  /** Each: what the program does in its folder, and what must be in the branch then. */
  test.each<[string, (task: Task, rig: Rig, trap: string) => unknown, { has?: string[]; lacks?: string[]; leftOut?: string[] }]>([
    [
      'a .git file that leads to a repository with traps',
      (task, rig, trap) => {
        gitIn(rig.scratch.path, 'init', '--quiet', 'evil')
        appendTo(rig.scratch.at('evil/.git/config'), TRAPS(trap))
        writeFileSync(task.at('.git'), `gitdir: ${rig.scratch.at('evil/.git')}\n`)
        writeFileSync(task.at('.gitattributes'), ATTRIBUTES)
      },
      { has: ['.gitattributes'] },
    ],
    [
      'a .git folder with traps',
      (task, _, trap) => {
        rmSync(task.at('.git'))
        gitIn(task.folder, 'init', '--quiet')
        appendTo(task.at('.git/config'), TRAPS(trap))
        writeFileSync(task.at('.gitattributes'), ATTRIBUTES)
      },
      { lacks: ['.git/config'] },
    ],
    ['no .git at all', (task) => rmSync(task.at('.git')), {}],
    ['a .git that is a link', (task, rig) => (rmSync(task.at('.git')), symlinkSync(join(rig.repository, '.git'), task.at('.git'))), {}],
    [
      'a nested repository with traps and hooks',
      (task, _, trap) => {
        mkdirSync(task.at('nested'))
        gitIn(task.at('nested'), 'init', '--quiet')
        writeFileSync(task.at('nested/file'), 'x')
        gitIn(task.at('nested'), 'add', 'file')
        gitIn(task.at('nested'), 'commit', '--quiet', '-m', 'x')
        appendTo(task.at('nested/.git/config'), TRAPS(trap))
        mkdirSync(task.at('nested/deeper'))
        gitIn(task.at('nested/deeper'), 'init', '--quiet')
        writeFileSync(task.at('nested/deeper/file'), 'x')
      },
      { has: ['nested/file', 'nested/deeper/file'], lacks: ['nested', 'nested/.git/config'] },
    ],
    [
      'a bare repository as a folder',
      (task, _, trap) => {
        gitIn(task.folder, 'init', '--quiet', '--bare', 'bare')
        appendTo(task.at('bare/config'), TRAPS(trap))
      },
      { has: ['bare/config', 'bare/HEAD'] },
    ],
    [
      'a .GIT folder',
      (task, _, trap) => (mkdirSync(task.at('.GIT')), writeFileSync(task.at('.GIT/config'), TRAPS(trap))),
      { lacks: ['.GIT/config'], leftOut: ['.GIT/config'] },
    ],
    ['a git~1 file', (task) => writeFileSync(task.at('git~1'), 'x'), { lacks: ['git~1'], leftOut: ['git~1'] }],
    ['a link to a file outside', (task, rig) => symlinkSync(rig.scratch.at('secret'), task.at('link')), { has: ['link'] }],
    [
      'a folder replaced by a link to one outside with the same names',
      (task, rig) => {
        mkdirSync(rig.scratch.at('outside'))
        writeFileSync(rig.scratch.at('outside/main.ts'), 'SECRET\n')
        rmSync(task.at('src'), { recursive: true })
        symlinkSync(rig.scratch.at('outside'), task.at('src'))
      },
      { has: ['src'], lacks: ['src/main.ts'] },
    ],
    [
      'a file replaced by a link to a device',
      (task) => (rmSync(task.at('README.md')), symlinkSync('/dev/zero', task.at('README.md'))),
      { has: ['README.md'] },
    ],
    ['a pipe', (task) => (execFileSync('mkfifo', [task.at('pipe')]), writeFileSync(task.at('x'), 'x')), { has: ['x'], lacks: ['pipe'] }],
    [
      'a file that becomes a pipe',
      (task) => (rmSync(task.at('README.md')), execFileSync('mkfifo', [task.at('README.md')])),
      { lacks: ['pipe'] },
    ],
    [
      '.gitignore and .gitattributes that are links out',
      (task, rig) => (
        symlinkSync(rig.scratch.at('secret'), task.at('.gitignore')),
        symlinkSync(rig.scratch.at('secret'), task.at('.gitattributes'))
      ),
      { has: ['.gitignore'] },
    ],
    [
      'an encoding that does not exist',
      (task) => (
        writeFileSync(task.at('.gitattributes'), '* working-tree-encoding=NONSENSE eol=crlf text ident\n'),
        writeFileSync(task.at('README.md'), 'a\r\n$Id$\n')
      ),
      { has: ['README.md'] },
    ],
    [
      '.gitmodules with an option as address',
      (task) => writeFileSync(task.at('.gitmodules'), '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n'),
      { has: ['.gitmodules'] },
    ],
    [
      'names with line ends, escapes and directions',
      (task) => writeFileSync(task.at('a\nM 100644 inline "x"\u001B[31m\u202Ex'), 'x'),
      { has: ['a\nM 100644 inline "x"\u001B[31m\u202Ex'] },
    ],
    [
      'names that look like options',
      (task) => (writeFileSync(task.at('-rf'), 'x'), writeFileSync(task.at('--exec=x'), 'x'), writeFileSync(task.at(':(glob)**'), 'x')),
      { has: ['-rf', '--exec=x', ':(glob)**'] },
    ],
    [
      'a name that is no text',
      (task) => writeFileSync(Buffer.concat([Buffer.from(task.at('bad-')), Buffer.from([0xff])]), 'x'),
      { leftOut: ['bad-\uFFFD'] },
    ],
    [
      'twins in upper and lower case',
      (task) => (writeFileSync(task.at('twin'), 'a'), writeFileSync(task.at('TWIN'), 'b')),
      { has: ['TWIN', 'twin'] },
    ],
    [
      'a huge file with a hole',
      (task) => (writeFileSync(task.at('huge'), ''), truncateSync(task.at('huge'), 2 ** 40)),
      { lacks: ['huge'], leftOut: ['huge'] },
    ],
    [
      'folders without permissions',
      (task) => (mkdirSync(task.at('closed')), writeFileSync(task.at('closed/file'), 'x'), chmodSync(task.at('closed'), 0)),
      {},
    ],
    ['a deep folder', (task) => mkdirSync(task.at(Array.from({ length: 300 }, () => 'deep').join('/')), { recursive: true }), {}],
    [
      'the whole folder replaced by a link to the checkout',
      (task, rig) => (renameSync(task.folder, `${task.folder}-moved`), symlinkSync(rig.repository, task.folder)),
      {},
    ],
  ])('%s: no program runs, and nothing outside of it changes', async (name, attack, { has = [], lacks = [], leftOut = [] }) => {
    const rig = await createGitRig()
    const { trap, traces } = await rig.plantTrap()
    await rig.scratch.write('secret', 'SECRET\n')
    const task = await rig.addTask()
    await attack(task, rig, trap)
    const outside = () => rig.snapshot(rig.repository).filter((line) => !/\/\.git\/(objects|refs|logs|worktrees)(\/| |$)/.test(line))
    const before = outside()
    const isReplaced = name.startsWith('the whole folder')
    if (isReplaced) await expect(task.commit()).rejects.toMatchObject({ trouble: 'no_folder' })
    else {
      const done = await task.commit()
      const files = task.files()
      expect(files).toEqual(expect.arrayContaining(has))
      for (const path of lacks) expect(files).not.toContain(path)
      expect(done.leftOut.map(({ path }) => path)).toEqual(expect.arrayContaining(leftOut))
      const input = rig.gitIn('ls-tree', '-r', '--object-only', task.branch)
      const contents = execFileSync('git', ['cat-file', '--batch'], { cwd: rig.repository, input, encoding: 'latin1' })
      expect(contents.match(/ blob /g)!.length).toBeGreaterThanOrEqual(files.length)
      expect(contents).not.toContain('SECRET')
      const range = { repository: rig.repository, base: rig.base, commit: done.commit }
      for (const { path, from } of (await rig.git.changes(range)).files.slice(0, 10)) await rig.git.diffOf(range, { path, from })
    }
    await rig.git.sizeOf(task.folder)
    await rig.git.removeWorktree(task)
    expect(existsSync(task.folder)).toBe(false)
    expect(outside()).toEqual(before)
    expect(readFileSync(rig.scratch.at('secret'), 'utf8')).toBe('SECRET\n')
    expect(traces()).toBe('')
  })

  test('what runs by itself is marked', async () => {
    const rig = await createGitRig()
    const task = await rig.addTask()
    const marked = [
      '.eslintrc.json',
      '.github/workflows/ci.yml',
      '.gitmodules',
      '.husky/pre-commit',
      '.pre-commit-config.yaml',
      '.vscode/tasks.json',
      'Makefile',
      'bare/HEAD',
      'tsconfig.base.json',
      'web/PACKAGE.json',
      'web/package-lock.json',
      'web/vite.config.mts',
    ]
    for (const path of [...marked, 'src/new.ts', 'src/config.ts', 'src/package.ts', 'package.json/note.txt']) await task.write(path, 'x\n')
    const { commit } = await task.commit()
    const { files } = await rig.git.changes({ ...task, base: rig.base, commit })
    expect(files.filter(({ runsByItself }) => runsByItself).map(({ path }) => path)).toEqual(marked)
  })

  test('what runs by itself comes first, however many files would hide it', async () => {
    const rig = await createGitRig()
    rig.gitIn('config', 'core.hooksPath', 'zz-hooks')
    const marked = ['z/package.json', 'zz-hooks/pre-commit']
    const paths = [
      ...Array.from({ length: Number(process.env['REPOSITORY_FILES'] ?? 1_100) }, (_, at) => `a/${at % 100}/${at}.txt`),
      ...marked,
    ]
    const files = paths.map((path) => `M 644 inline ${path}\ndata 1\nx\n`).join('')
    const input = `commit refs/heads/many\ncommitter A <a@b> 0 +0000\ndata 1\nx\nfrom ${rig.base}\n${files}\ndone\n`
    execFileSync('git', ['fast-import', '--quiet', '--done'], { cwd: rig.repository, input })
    const range = { repository: rig.repository, base: rig.base, commit: rig.gitIn('rev-parse', 'many') }
    const changes = await rig.git.changes(range)
    expect([changes.fileCount, changes.additions, changes.files.length]).toEqual([paths.length, paths.length, 1_000])
    expect(changes.files.slice(0, 3).map(({ path, runsByItself }) => [path, runsByItself])).toEqual([
      ...marked.map((path) => [path, true]),
      ['a/0/0.txt', false],
    ])
  })

  test('a branch that a program made by itself with paths out of the repository is not applied', async () => {
    const rig = await createGitRig()
    const blob = rig.gitIn('rev-parse', 'HEAD:README.md')
    const tree = (entry: string) => execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], { cwd: rig.repository, input: Buffer.concat([Buffer.from(entry), Buffer.from([0]), Buffer.from(blob, 'hex')]), encoding: 'utf8' }).trim() // prettier-ignore
    for (const path of ['..', '.git', 'a\\..\\b/../..']) {
      const commit = rig.gitIn('commit-tree', tree(`100644 ${path}`), '-m', 'x')
      const before = rig.snapshot(rig.repository)
      expect(await rig.git.applyTo({ repository: rig.repository, base: commit, commit })).toEqual({ is: 'applied', files: 0 })
      const applied = await rig.git.applyTo({ repository: rig.repository, base: rig.base, commit })
      expect(applied).toMatchObject({ is: 'refused', misfits: expect.arrayContaining([{ path, why: 'bad_name' }]) as unknown })
      expect(rig.snapshot(rig.repository)).toEqual(before)
    }
  })
})

test.skipIf(process.platform === 'win32')(
  'a folder that became a link while files were deleted loses none of its empty folders',
  async () => {
    const rig = await createGitRig()
    const outside = join(dirname(rig.repository), 'outside')
    mkdirSync(join(outside, 'empty'), { recursive: true })
    mkdirSync(join(rig.repository, 'plain/empty'), { recursive: true })
    symlinkSync(outside, join(rig.repository, 'link'))
    await removeEmptyAbove(rig.repository, 'plain/empty/gone.txt')
    await removeEmptyAbove(rig.repository, 'link/empty/gone.txt')
    expect([existsSync(join(rig.repository, 'plain')), existsSync(join(outside, 'empty'))]).toEqual([false, true])
  },
)

describe('a large repository', () => {
  const FILES = Number(process.env['REPOSITORY_FILES'] ?? 500)
  const CHANGED = FILES / 5

  test(`of ${FILES} files is checked out, changed, committed and looked at`, async () => {
    const rig = await createGitRig()
    const files = Array.from({ length: FILES }, (_, at) => `M 644 inline ${at % 100}/${at}.txt\ndata 10\ncontent ${at % 10}\n\n`).join('')
    const from = `commit refs/heads/large\ncommitter A <a@b> 0 +0000\ndata 1\nx\n${files}\ndone\n`
    execFileSync('git', ['fast-import', '--quiet', '--done'], { cwd: rig.repository, input: from })
    const commit = rig.gitIn('rev-parse', 'large')
    const task = await rig.addTask('job-1', commit)
    for (let at = 0; at < FILES; at += 5) await task.write(`${at % 100}/${at}.txt`, `changed ${at}\n`)
    for (let at = 0; at < 100; at++) await task.write(`new/${at}.txt`, 'new\n')
    const done = await task.commit()
    const changes = await rig.git.changes({ ...task, base: commit, commit: done.commit })
    expect(changes).toMatchObject({ fileCount: CHANGED + 100, additions: CHANGED + 100, deletions: CHANGED })
    expect(changes.files).toHaveLength(Math.min(CHANGED + 100, 1_000))
    rig.gitIn('checkout', '--quiet', 'large')
    expect(await rig.git.applyTo({ repository: rig.repository, base: commit, commit: done.commit })).toEqual({
      is: 'applied',
      files: CHANGED + 100,
    })
    expect(await rig.git.findRepository(rig.repository)).toMatchObject({ dirty: true })
  })
})

function appendTo(file: string, text: string): void {
  writeFileSync(file, (existsSync(file) ? readFileSync(file, 'utf8') : '') + text)
}
