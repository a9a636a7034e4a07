import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { createGit } from '../platform/git/create-git.ts'
import { listProgramFolders } from '../platform/programs/program-folders.ts'
import { scratchFolder } from './scratch-folder.ts'

/** What a person's own Git does, without the settings of whoever runs the tests. */
export function gitIn(folder: string, ...args: string[]): string {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'init.defaultBranch=main', '-c', 'commit.gpgsign=false']
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  return execFileSync('git', [...who, ...args], { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

/** A person's repository with some files and one commit, and our Git beside it. */
export async function createGitRig(name = 'project') {
  const scratch = await scratchFolder()
  const repository = scratch.at(name)
  await mkdir(repository, { recursive: true })
  gitIn(repository, 'init', '--quiet')
  const write = async (path: string, content: string | Uint8Array, mode?: number) => {
    const file = join(repository, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
    if (mode !== undefined) chmodSync(file, mode)
  }
  await write('README.md', '# Project\n\nOne.\nTwo.\nThree.\nFour.\nFive.\nSix.\nSeven.\n')
  await write('src/main.ts', 'export const answer = 41\n')
  await write('src/old.ts', 'export const old = [\n  1,\n  2,\n  3,\n]\n')
  gitIn(repository, 'add', '--all')
  gitIn(repository, 'commit', '--quiet', '-m', 'Begin')
  const home = scratch.at('code')
  const git = createGit({ home, clock: systemClock, listProgramFolders, closedFolders: () => [home] })
  const head = () => gitIn(repository, 'rev-parse', 'HEAD')
  const base = head()

  /** A folder with the files of the first commit. */
  async function addTask(id = 'job-1', commit = base) {
    const worktree = { repository, folder: join(home, id), branch: `deckhand/${id}` }
    await git.addWorktree({ ...worktree, commit })
    return {
      ...worktree,
      at: (path: string) => join(worktree.folder, path),
      read: (path: string) => readFileSync(join(worktree.folder, path), 'utf8'),
      async write(path: string, content: string | Uint8Array) {
        await mkdir(dirname(join(worktree.folder, path)), { recursive: true })
        await writeFile(join(worktree.folder, path), content)
      },
      commit: (message = 'Work') => git.commitAll({ ...worktree, base: commit, message, now: Date.UTC(2026, 0, 2) }),
      /** The files of the branch. */
      files: () => gitIn(repository, 'ls-tree', '-r', '-z', '--name-only', worktree.branch).split('\0').filter((path) => path !== ''), // prettier-ignore
      show: (path: string) => gitIn(repository, 'show', `${worktree.branch}:${path}`),
    }
  }

  /** A program that leaves a trace. Nothing may ever run it. */
  async function plantTrap() {
    const trace = scratch.at('trace')
    const trap = await scratch.write('trap.sh', `#!/bin/sh\necho "$0 $*" >> '${trace}'\ncat\n`)
    chmodSync(trap, 0o755)
    return { trap, traces: () => (existsSync(trace) ? readFileSync(trace, 'utf8') : '') }
  }

  /** Everything in a folder, with its content: to see that nothing of it changed. */
  const snapshot = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return entry.isFile() ? `${path} ${readFileSync(path).toString('base64')}` : path
      })
      .sort()

  return {
    scratch,
    repository,
    write,
    git,
    home,
    base,
    head,
    addTask,
    plantTrap,
    snapshot,
    gitIn: (...args: string[]) => gitIn(repository, ...args),
  }
}
