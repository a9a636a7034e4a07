import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { createGitRig, gitIn } from '../../testing/git-rig.ts'
import { createGit } from './create-git.ts'

describe('finding a repository', () => {
  test('tells root, branch and commit of a folder inside', async () => {
    const { git, repository, base } = await createGitRig()
    const found = { is: 'repository', root: repository, head: base, branch: 'main', dirty: false }
    expect(await git.findRepository(repository)).toEqual(found)
    expect(await git.findRepository(join(repository, 'src'))).toEqual(found)
  })

  test.each([
    ['a changed file', (rig: Rig) => rig.write('README.md', 'other\n')],
    ['a new file', (rig: Rig) => rig.write('new.txt', 'new\n')],
    ['a deleted file', (rig: Rig) => rm(join(rig.repository, 'README.md'))],
    [
      'a staged change that was taken back in the file',
      async (rig: Rig) => {
        const before = readFileSync(join(rig.repository, 'README.md'))
        await rig.write('README.md', 'other\n')
        rig.gitIn('add', 'README.md')
        await rig.write('README.md', before)
      },
    ],
  ])('takes a checkout with %s for dirty', async (_, change) => {
    const rig = await createGitRig()
    await change(rig)
    expect(await rig.git.findRepository(rig.repository)).toMatchObject({ dirty: true })
  })

  test('does not count what the person ignores', async () => {
    const { git, repository, write } = await createGitRig()
    await write('.git/info/exclude', 'notes\n')
    await write('notes/today.txt', 'x')
    expect(await git.findRepository(repository)).toMatchObject({ dirty: false })
  })

  test('knows a repository without commits and a detached HEAD', async () => {
    const { git, repository, base, gitIn: inIt, scratch } = await createGitRig()
    const empty = scratch.at('empty')
    await mkdir(empty)
    gitIn(empty, 'init', '--quiet')
    expect(await git.findRepository(empty)).toEqual({ is: 'repository', root: empty, head: null, branch: 'main', dirty: false })
    inIt('checkout', '--quiet', '--detach')
    expect(await git.findRepository(repository)).toMatchObject({ head: base, branch: null })
  })

  test('refuses what is no checkout of its own, and says why', async () => {
    const { git, repository, scratch, gitIn: inIt } = await createGitRig()
    const bare = scratch.at('bare.git')
    inIt('clone', '--quiet', '--bare', '.', bare)
    const linked = scratch.at('linked')
    inIt('worktree', 'add', '--quiet', linked)
    const forged = await scratch.write('forged/.git', `gitdir: ${repository}/.git\n`)
    const redirected = scratch.at('redirected')
    gitIn(scratch.path, 'init', '--quiet', redirected)
    await scratch.write('redirected/.git/commondir', `${repository}/.git\n`)
    const byLink = scratch.at('by-link')
    await mkdir(byLink)
    symlinkSync(join(repository, '.git'), join(byLink, '.git'))
    await scratch.write('broken/.git/HEAD', 'nonsense')
    await mkdir(scratch.at('plain'))
    const reasonOf = async (folder: string) => {
      const found = await git.findRepository(folder)
      return found.is === 'refused' ? found.reason : 'found'
    }
    expect(await reasonOf(bare)).toBe('bare')
    expect(await reasonOf(join(bare, 'refs'))).toBe('bare')
    expect(await reasonOf(join(repository, '.git'))).toBe('inside_git')
    expect(await reasonOf(join(repository, '.git', 'refs'))).toBe('inside_git')
    expect(await reasonOf(linked)).toBe('git_folder_elsewhere')
    expect(await reasonOf(join(forged, '..'))).toBe('git_folder_elsewhere')
    expect(await reasonOf(redirected)).toBe('git_folder_elsewhere')
    expect(await reasonOf(byLink)).toBe('git_folder_elsewhere')
    expect(await reasonOf(scratch.at('broken'))).toBe('unreadable')
    expect(await reasonOf(scratch.at('plain'))).toBe('not_a_repository')
    expect(await reasonOf(scratch.at('nowhere'))).toBe('not_a_repository')
  })

  test('says that Git is missing, and does not take one from where agents write', async () => {
    const { scratch, repository } = await createGitRig()
    await chmod(await scratch.write('agent/git', '#!/bin/sh\n'), 0o755)
    const folders = { listProgramFolders: async () => [scratch.at('agent')], closedFolders: () => [scratch.at('agent')] }
    const git = createGit({ home: scratch.at('home'), clock: systemClock, ...folders })
    await expect(git.findRepository(repository)).rejects.toMatchObject({ trouble: 'missing' })
  })

  test('refuses a Git that cannot be kept from reading the settings of the person', async () => {
    const { scratch, repository } = await createGitRig()
    await chmod(await scratch.write('bin/git', '#!/bin/sh\necho git version 2.31.9\n'), 0o755)
    const git = createGit({
      home: scratch.at('home'),
      clock: systemClock,
      listProgramFolders: async () => [scratch.at('bin')],
      closedFolders: () => [],
    })
    await expect(git.findRepository(repository)).rejects.toMatchObject({ trouble: 'outdated' })
  })
})

describe('the folder of a task', () => {
  test('has the files of the commit, and the checkout of the person stays as it is', async () => {
    const rig = await createGitRig()
    await rig.write('README.md', 'the person is at work\n')
    const before = rig.gitIn('status', '--porcelain')
    const task = await rig.addTask()
    expect(task.read('README.md')).toContain('# Project')
    expect(rig.gitIn('rev-parse', task.branch)).toBe(rig.base)
    expect(rig.gitIn('status', '--porcelain')).toBe(before)
    expect(gitIn(task.folder, 'status', '--porcelain', '--branch')).toBe(`## ${task.branch}`)
  })

  test('is completed when making it was interrupted, and keeps the work when it was complete', async () => {
    const rig = await createGitRig()
    const task = await rig.addTask()
    // As if it ended after the branch, and in the middle of the files.
    await rm(`${task.folder}.index`)
    await rm(task.at('README.md'))
    await rig.addTask()
    expect(task.read('README.md')).toContain('# Project')
    await task.write('README.md', 'work\n')
    await rig.addTask()
    expect(task.read('README.md')).toBe('work\n')
  })

  test('does not take a branch with other commits', async () => {
    const rig = await createGitRig()
    rig.gitIn('branch', 'deckhand/job-1')
    await rig.addTask()
    rig.gitIn('checkout', '--quiet', '-b', 'deckhand/job-2')
    rig.gitIn('commit', '--quiet', '--allow-empty', '-m', 'Mine')
    await expect(rig.addTask('job-2')).rejects.toMatchObject({ trouble: 'branch_exists' })
    expect(existsSync(join(rig.home, 'job-2'))).toBe(false)
  })

  test('works in paths with spaces, quotes, line ends and other scripts', async () => {
    const rig = await createGitRig('a "b" \'c\'\n$(d) -e 日本語 ü')
    const task = await rig.addTask()
    const name = '-x "y"\\ \t\n z ü 日本.txt'
    await task.write(name, 'content\n')
    const { commit } = await task.commit('Subject\n\nBody "with" \\ and ü')
    expect(task.files()).toContain(name)
    expect(task.show(name)).toBe('content')
    const { files } = await rig.git.changes({ ...task, base: rig.base, commit })
    expect(files).toMatchObject([{ path: name, change: 'added', additions: 1 }])
    expect((await rig.git.diffOf({ ...task, base: rig.base, commit }, { path: name, from: null })).diff).toContain('+content')
    expect(rig.gitIn('log', '-1', '--format=%B', task.branch)).toBe('Subject\n\nBody "with" \\ and ü')
  })

  test('goes with everything that the repository knows of it, and the branch stays', async () => {
    const rig = await createGitRig()
    const other = await rig.addTask('job-2')
    const task = await rig.addTask()
    await task.write('new.txt', 'new\n')
    await task.commit()
    expect((await rig.git.sizeOf(task.folder)).bytes).toBeGreaterThan(0)
    await rig.git.removeWorktree(task)
    await rig.git.removeWorktree(task)
    expect(existsSync(task.folder)).toBe(false)
    expect(rig.gitIn('worktree', 'list', '--porcelain')).not.toContain(task.folder)
    expect(rig.gitIn('worktree', 'list', '--porcelain')).toContain(other.folder)
    expect(task.files()).toContain('new.txt')
    await rig.git.deleteBranch(task)
    await rig.git.deleteBranch(task)
    expect(rig.gitIn('branch', '--list', task.branch)).toBe('')
  })

  test('goes also when the folder or the repository is gone already', async () => {
    const rig = await createGitRig()
    const task = await rig.addTask()
    await rm(task.folder, { recursive: true })
    await rig.git.removeWorktree(task)
    expect(rig.gitIn('worktree', 'list', '--porcelain')).not.toContain(task.folder)
    const second = await rig.addTask('job-2')
    await rename(rig.repository, `${rig.repository}-moved`)
    await rig.git.removeWorktree(second)
    expect(existsSync(second.folder)).toBe(false)
  })

  test('keeps a branch on which the person works', async () => {
    const rig = await createGitRig()
    const task = await rig.addTask()
    await rig.git.removeWorktree(task)
    rig.gitIn('checkout', '--quiet', task.branch)
    await expect(rig.git.deleteBranch(task)).rejects.toMatchObject({ trouble: 'branch_in_use' })
  })
})

describe('committing the work', () => {
  test('stores new, changed, deleted, renamed and executable files and links as the person, and not what is ignored', async () => {
    const rig = await createGitRig()
    rig.gitIn('config', 'user.name', 'Grace <Hopper>')
    rig.gitIn('config', 'user.email', 'grace@example.org')
    const task = await rig.addTask()
    await task.write('.gitignore', 'build/\n')
    await task.write('build/out.js', 'x')
    await task.write('README.md', task.read('README.md').replace('One.', '1.'))
    await rename(task.at('src/old.ts'), task.at('src/renamed.ts'))
    await rm(task.at('src/main.ts'))
    await task.write('run.sh', '#!/bin/sh\n')
    await chmod(task.at('run.sh'), 0o755)
    await task.write('picture.png', Buffer.from([0x89, 0, 1, 2, 3]))
    symlinkSync('README.md', task.at('link'))
    const done = await task.commit()
    expect(done).toMatchObject({ isNew: true, leftOut: [], isCut: false })
    expect(task.files()).toEqual(['.gitignore', 'README.md', 'link', 'picture.png', 'run.sh', 'src/renamed.ts'])
    expect(rig.gitIn('ls-tree', task.branch, 'run.sh', 'link')).toMatch(/^120000 .*link\n100755 .*run\.sh$/)
    expect(rig.gitIn('log', '-1', '--format=%an %ae %cn %at', task.branch)).toBe('Grace Hopper grace@example.org Grace Hopper 1767312000')
    expect(gitIn(task.folder, 'status', '--porcelain')).toBe('')
    expect(await task.commit()).toEqual({ ...done, isNew: false })

    const changes = await rig.git.changes({ ...task, base: rig.base, commit: done.commit })
    expect(changes).toMatchObject({ fileCount: 7, additions: 4, deletions: 2 })
    expect(changes.files.map(({ path, change, from, binary }) => [path, change, from, binary])).toEqual([
      ['.gitignore', 'added', null, false],
      ['README.md', 'modified', null, false],
      ['link', 'added', null, false],
      ['picture.png', 'added', null, true],
      ['run.sh', 'added', null, false],
      ['src/main.ts', 'deleted', null, false],
      ['src/renamed.ts', 'renamed', 'src/old.ts', false],
    ])
    const range = { ...task, base: rig.base, commit: done.commit }
    expect(await rig.git.diffOf(range, { path: 'picture.png', from: null })).toEqual({ diff: '', truncated: false, binary: true })
    expect((await rig.git.diffOf(range, { path: 'README.md', from: null })).diff).toMatch(/^-One\.\n\+1\.$/m)
    expect((await rig.git.diffOf(range, { path: 'src/renamed.ts', from: 'src/old.ts' })).diff).toContain('rename from src/old.ts')
  })

  test('goes on after the work of an earlier attempt', async () => {
    const rig = await createGitRig()
    const task = await rig.addTask()
    await task.write('one.txt', '1\n')
    const first = await task.commit('One')
    await task.write('two.txt', '2\n')
    const second = await task.commit('Two')
    expect(rig.gitIn('log', '--format=%s', `${rig.base}..${task.branch}`)).toBe('Two\nOne')
    expect(rig.gitIn('rev-parse', `${second.commit}^`)).toBe(first.commit)
  })

  test('makes the branch again if it is gone, with all of the work', async () => {
    const rig = await createGitRig()
    const task = await rig.addTask()
    await task.write('one.txt', '1\n')
    await task.commit()
    rig.gitIn('update-ref', '-d', `refs/heads/${task.branch}`)
    await task.commit()
    expect(task.files()).toContain('one.txt')
  })

  test('does not take a folder that is gone for one without files', async () => {
    const rig = await createGitRig()
    const task = await rig.addTask()
    await rm(task.folder, { recursive: true })
    await expect(task.commit()).rejects.toMatchObject({ trouble: 'no_folder' })
    expect(rig.gitIn('rev-parse', task.branch)).toBe(rig.base)
  })

  test('works for two tasks in one repository at once, while its index is locked', async () => {
    const rig = await createGitRig()
    await rig.write('.git/index.lock', '')
    const tasks = await Promise.all(['a', 'b', 'c'].map((id) => rig.addTask(id)))
    await Promise.all(
      tasks.map(async (task) => {
        await task.write('src/main.ts', task.branch)
        await task.commit()
      }),
    )
    for (const task of tasks) expect(task.show('src/main.ts')).toBe(task.branch)
  })

  test('leaves out what is too large, and says so', async () => {
    const rig = await createGitRig()
    const task = await rig.addTask()
    await task.write('large.bin', Buffer.alloc(50_000_001))
    await task.write('small.txt', 'x')
    expect(await task.commit()).toMatchObject({ isNew: true, leftOut: [{ path: 'large.bin', reason: 'too_large' }] })
    expect(task.files()).toContain('small.txt')
  })
})

type Rig = Awaited<ReturnType<typeof createGitRig>>
