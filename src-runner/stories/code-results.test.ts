import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished, describe, expect, it } from 'vitest'
import { listProgramFolders } from '../platform/programs/program-folders.ts'
import { changeCodeTask, insertCodeTask } from '../domain/code-tasks/code-tasks.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createGitRig, gitIn } from '../testing/git-rig.ts'
import { createHandClock } from '../testing/hand-clock.ts'

type HandClock = ReturnType<typeof createHandClock>

/** A runner, an agent with a repository, and tasks as if a coding program had worked on them. */
async function createResultsRig(options: { findsGit?: boolean; clock?: HandClock } = {}) {
  const git = await createGitRig()
  const runner: TestRunner = await createTestRunner({
    ...(options.findsGit === false ? {} : { listProgramFolders }),
    ...(options.clock && { clock: options.clock, machine: { uptimeMs: () => options.clock!.monotonic(), bootId: () => 'one boot' } }),
  })
  onTestFinished(() => runner.stop())
  const agent = await runner.addAgent({ name: 'Coder', folders: [git.repository] })

  /** `work`: what the program does in its folder. */
  async function addTask(work: (write: (path: string, content: string) => Promise<void>, folder: string) => unknown, name = 'one') {
    runner.modelServer.play({ text: ['Done.'] })
    const { jobId } = await runner.client.ok('submitTask', { body: { agentId: agent.id, task: 'Code' } })
    await runner.ended(jobId)
    const task = { repository: git.repository, branch: `deckhand/${name}`, folder: join(runner.dataDir, 'code', name) }
    await git.git.addWorktree({ ...task, commit: git.base })
    const write = async (path: string, content: string) => {
      await mkdir(join(task.folder, path, '..'), { recursive: true })
      await writeFile(join(task.folder, path), content)
    }
    await work(write, task.folder)
    const { commit } = await git.git.commitAll({ ...task, base: git.base, message: 'Work', now: 0 })
    const changes = await git.git.changes({ ...task, base: git.base, commit })
    runner.write((tx) => {
      const { branch, repository, folder } = task
      insertCodeTask(tx, jobId, { cli: 'gemini', repository, branch, baseCommit: git.base, baseBranch: 'main', internet: false })
      changeCodeTask(tx, jobId, { folder, result: 'ready', ...changes })
    })
    return { jobId, ...task, write }
  }
  const params = (jobId: string) => ({ params: { jobId } })
  return {
    git,
    runner,
    agent,
    addTask,
    read: (path: string) => readFileSync(join(git.repository, path), 'utf8'),
    taskOf: async (jobId: string) => (await runner.client.ok('getCodeTask', params(jobId))).codeTask,
    apply: (jobId: string) => runner.client.ask('applyCodeTask', params(jobId)),
    discard: (jobId: string) => runner.client.ask('discardCodeTask', params(jobId)),
    removeFolder: (jobId: string) => runner.client.ask('removeCodeTaskFolder', params(jobId)),
    diff: (jobId: string, path: string) => runner.client.ask('getCodeTaskDiff', { ...params(jobId), query: { path } }),
  }
}

describe('the work of a coding program', () => {
  it('is looked at, and brought into the checkout twice with the same result', async () => {
    const rig = await createResultsRig()
    const { jobId } = await rig.addTask(async (write, folder) => {
      await write('src/main.ts', 'export const answer = 42\n')
      await rename(join(folder, 'src/old.ts'), join(folder, 'src/new.ts'))
    })
    const diff = await rig.diff(jobId, 'src/main.ts')
    expect(diff).toMatchObject({ status: 200, body: { path: 'src/main.ts', truncated: false, binary: false } })
    expect((diff.body as { diff: string }).diff).toContain('-export const answer = 41\n+export const answer = 42\n')
    expect(((await rig.diff(jobId, 'src/new.ts')).body as { diff: string }).diff).toContain('rename from src/old.ts')
    expect(await rig.apply(jobId)).toEqual({ status: 200, body: { ok: true, files: 3 } })
    expect(rig.read('src/main.ts')).toBe('export const answer = 42\n')
    expect(await rig.taskOf(jobId)).toMatchObject({ result: 'applied' })
    expect(await rig.apply(jobId)).toEqual({ status: 200, body: { ok: true, files: 0 } })
  })

  it('is refused with the paths if it does not fit, and two tasks share a file', async () => {
    const rig = await createResultsRig()
    const readme = rig.read('README.md')
    const one = await rig.addTask((write) => write('README.md', readme.replace('One.', '1.')))
    const two = await rig.addTask((write) => write('README.md', readme.replace('Seven.', '7.')), 'two')
    const three = await rig.addTask((write) => write('README.md', readme.replace('One.', 'I.')), 'three')
    expect((await Promise.all([rig.apply(one.jobId), rig.apply(two.jobId)])).map(({ status }) => status)).toEqual([200, 200])
    expect(await rig.apply(three.jobId)).toMatchObject({
      status: 409,
      body: {
        error: 'code_does_not_apply',
        message: 'One file does not fit your checkout: README.md.',
        issues: [{ path: 'README.md', message: 'Changed in your checkout' }],
      },
    })
    expect(await rig.taskOf(three.jobId)).toMatchObject({ result: 'ready' })
    expect(rig.read('README.md')).toBe(readme.replace('One.', '1.').replace('Seven.', '7.'))
  })

  it('goes with its folder and its branch when it is discarded, also when that was interrupted', async () => {
    const rig = await createResultsRig()
    const { jobId, folder, branch, repository } = await rig.addTask((write) => write('new.txt', 'x'))
    // It ended after the folder.
    await rig.git.git.removeWorktree({ repository, folder })
    expect(await rig.discard(jobId)).toEqual({ status: 200, body: { ok: true } })
    expect(await rig.taskOf(jobId)).toMatchObject({ result: 'discarded', folder: null, sizeBytes: null })
    expect(rig.git.gitIn('branch', '--list', branch)).toBe('')
    expect(await rig.discard(jobId)).toMatchObject({ status: 200 })
    expect(await rig.apply(jobId)).toMatchObject({
      status: 409,
      body: { error: 'code_not_available', message: `The branch ${branch} no longer exists.` },
    })
    expect(await rig.diff(jobId, 'new.txt')).toMatchObject({ status: 409 })
  })

  it('keeps its branch when its folder is removed, with what was not committed', async () => {
    const rig = await createResultsRig()
    const { jobId, folder, branch, write } = await rig.addTask((write) => write('new.txt', 'x'))
    await write('late.txt', 'late\n')
    expect(await rig.removeFolder(jobId)).toEqual({ status: 200, body: { ok: true } })
    expect(existsSync(folder)).toBe(false)
    expect(rig.git.gitIn('show', `${branch}:late.txt`)).toBe('late')
    expect(await rig.taskOf(jobId)).toMatchObject({ folder: null, fileCount: 2, result: 'ready' })
    expect(await rig.removeFolder(jobId)).toMatchObject({ status: 200 })
    expect(await rig.apply(jobId)).toEqual({ status: 200, body: { ok: true, files: 2 } })
  })

  it('keeps a folder with files that the branch cannot keep', async () => {
    const rig = await createResultsRig()
    const { jobId, folder } = await rig.addTask((write) => write('large.bin', 'x'.repeat(50_000_001)))
    expect(await rig.removeFolder(jobId)).toMatchObject({
      status: 409,
      body: { error: 'code_folder_unsaved', issues: [{ path: 'large.bin', message: 'Too large' }] },
    })
    expect(existsSync(join(folder, 'large.bin'))).toBe(true)
    expect(await rig.discard(jobId)).toMatchObject({ status: 200 })
    expect(existsSync(folder)).toBe(false)
  })

  it('can be cleaned up when the folder was removed by hand, and when the repository is gone', async () => {
    const rig = await createResultsRig()
    const one = await rig.addTask((write) => write('new.txt', 'x'))
    await rm(one.folder, { recursive: true })
    expect(await rig.removeFolder(one.jobId)).toMatchObject({ status: 200 })
    expect(rig.git.gitIn('worktree', 'list')).not.toContain(one.folder)
    expect(rig.git.gitIn('show', `${one.branch}:new.txt`)).toBe('x')
    const two = await rig.addTask((write) => write('new.txt', 'x'), 'two')
    await rename(rig.git.repository, `${rig.git.repository}-moved`)
    const gone = { status: 409, body: { error: 'code_not_available', message: 'The repository was not found in its place.' } }
    expect(await rig.apply(two.jobId)).toMatchObject(gone)
    expect(await rig.removeFolder(two.jobId)).toMatchObject(gone)
    expect(existsSync(two.folder)).toBe(true)
    expect(await rig.discard(two.jobId)).toMatchObject({ status: 200 })
    expect(existsSync(two.folder)).toBe(false)
  })

  it('keeps a branch that the person has checked out', async () => {
    const rig = await createResultsRig()
    const { jobId, branch } = await rig.addTask((write) => write('new.txt', 'x'))
    await rig.removeFolder(jobId)
    rig.git.gitIn('checkout', '--quiet', branch)
    expect(await rig.discard(jobId)).toMatchObject({ status: 409, body: { error: 'code_branch_in_use' } })
    rig.git.gitIn('checkout', '--quiet', 'main')
    expect(await rig.discard(jobId)).toMatchObject({ status: 200 })
  })

  it('is not touched while the job runs, and not found for another job', async () => {
    const rig = await createResultsRig()
    const jobId = await rig.runner.enqueue({ agentId: rig.agent.id, channel: 'api', task: 'Code' })
    for (const ask of [rig.apply, rig.discard, rig.removeFolder])
      expect(await ask(jobId)).toMatchObject({ status: 404, body: { error: 'code_task_not_found' } })
    await rig.runner.ended(jobId)
    await rig.runner.client.ok('setPauseAll', { body: { pauseAll: true } })
    const waiting = await rig.runner.client.ok('submitTask', { body: { agentId: rig.agent.id, task: 'Code' } })
    const { repository, base } = rig.git
    rig.runner.write((tx) =>
      insertCodeTask(tx, waiting.jobId, {
        cli: 'gemini',
        repository,
        branch: 'deckhand/x',
        baseCommit: base,
        baseBranch: null,
        internet: false,
      }),
    )
    for (const ask of [rig.apply, rig.discard, rig.removeFolder])
      expect(await ask(waiting.jobId)).toMatchObject({ status: 409, body: { error: 'job_not_finished' } })
  })

  it('says that Git is missing', async () => {
    const rig = await createResultsRig({ findsGit: false })
    const { jobId } = await rig.addTask((write) => write('new.txt', 'x'))
    expect(await rig.apply(jobId)).toMatchObject({ status: 400, body: { error: 'git_missing' } })
  })
})

describe('the folders of code tasks', () => {
  it('go when they are older than their time to keep, and nothing is lost with them', async () => {
    const clock = createHandClock()
    const rig = await createResultsRig({ clock })
    const { runner } = rig
    const nothing = () => {}
    const late = await rig.addTask(nothing)
    await late.write('late.txt', 'late\n')
    const unsaved = await rig.addTask(nothing, 'two')
    await unsaved.write('large.bin', 'x'.repeat(50_000_001))
    await runner.runner.stop({ graceMs: 0 })
    clock.advance(15 * 86_400_000)
    await runner.restart()
    const young = await rig.addTask(nothing, 'three')
    const byHand = await rig.addTask(nothing, 'four')
    await rm(byHand.folder, { recursive: true })

    const retained = (days?: number) => runner.client.ok('getRetained', { query: { kind: 'folders', days } })
    expect((await runner.client.ok('getSettings')).settings.retention.folders).toBe(14)
    expect(await retained()).toMatchObject({ all: { count: 4 }, due: { count: 0 } })
    expect(await retained(14)).toMatchObject({ all: { count: 4 }, due: { count: 3 } })
    await runner.client.ok('deleteDue', { body: { kind: 'folders' } })
    await expect.poll(async () => (await retained()).isDeleting).toBe(false)
    expect([late, unsaved, young, byHand].map(({ folder }) => existsSync(folder))).toEqual([false, true, true, false])
    expect(rig.git.gitIn('show', `${late.branch}:late.txt`)).toBe('late')
    expect(await rig.taskOf(late.jobId)).toMatchObject({ folder: null, result: 'ready' })
    const known = rig.git.gitIn('worktree', 'list')
    expect([late, unsaved, young, byHand].map(({ folder }) => known.includes(folder))).toEqual([false, true, true, false])
    expect(await retained(14)).toMatchObject({ all: { count: 2 }, due: { count: 1 } })
  })
})

describe('the repositories of an agent', () => {
  it('are its folders and those up to two levels below, with branch and state', async () => {
    const rig = await createResultsRig()
    await rig.git.write('README.md', 'changed\n')
    const parent = rig.git.scratch.at('parent')
    for (const name of ['a', 'b', 'plain', 'of/c', 'of/more/d', 'node_modules/e']) await mkdir(join(parent, name), { recursive: true })
    for (const name of ['a', 'b', 'of/c', 'of/more/d', 'node_modules/e']) gitIn(join(parent, name), 'init', '--quiet')
    for (const name of ['a', 'of/c', 'of/more/d', 'node_modules/e'])
      gitIn(join(parent, name), 'commit', '--quiet', '--allow-empty', '-m', 'Begin')
    const { id: agentId } = await rig.runner.addAgent({ name: 'Two', folders: [rig.git.repository, parent] })
    const { repositories } = await rig.runner.client.ok('listCodeRepositories', { query: { agentId } })
    expect(repositories).toEqual([
      { folder: rig.git.repository, branch: 'main', dirty: true },
      { folder: join(parent, 'a'), branch: 'main', dirty: false },
      { folder: join(parent, 'of/c'), branch: 'main', dirty: false },
    ])
    const { id: narrow } = await rig.runner.addAgent({ name: 'Narrow', folders: [join(rig.git.repository, 'src')] })
    expect(await rig.runner.client.ok('listCodeRepositories', { query: { agentId: narrow } })).toEqual({ repositories: [] })
  })
})
