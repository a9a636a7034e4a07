import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
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

type Entry = { path: string; bytes: Buffer | null; mode: number }
const templates = new Map<string, Entry[]>()

/**
 * Fills a folder with a repository that has these files in one commit. Git makes it once in a process, and each further one is a copy,
 * because starting Git takes longer than most of what is tested with it.
 */
export function writeRepository(folder: string, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true })
  const key = JSON.stringify(files)
  const template = templates.get(key)
  if (template !== undefined) {
    for (const { path, bytes, mode } of template) {
      if (bytes === null) mkdirSync(join(folder, path), { mode })
      else writeFileSync(join(folder, path), bytes, { mode })
    }
    return
  }
  gitIn(folder, 'init', '--quiet')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  gitIn(folder, 'add', '--all')
  gitIn(folder, 'commit', '--quiet', '-m', 'Begin')
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  templates.set(
    key,
    paths.map((path) => {
      const found = statSync(join(folder, path))
      return { path, bytes: found.isFile() ? readFileSync(join(folder, path)) : null, mode: found.mode & 0o777 }
    }),
  )
}

/** A person's repository with some files and one commit, and our Git beside it. */
export async function createGitRig(name = 'project') {
  const scratch = await scratchFolder()
  const repository = scratch.at(name)
  writeRepository(repository, {
    'README.md': '# Project\n\nOne.\nTwo.\nThree.\nFour.\nFive.\nSix.\nSeven.\n',
    'src/main.ts': 'export const answer = 41\n',
    'src/old.ts': 'export const old = [\n  1,\n  2,\n  3,\n]\n',
  })
  const write = async (path: string, content: string | Uint8Array, mode?: number) => {
    const file = join(repository, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
    if (mode !== undefined) chmodSync(file, mode)
  }
  const home = scratch.at('code')
  const git = createGit({ home, clock: systemClock, listProgramFolders, closedFolders: () => [home] })
  const head = () => gitIn(repository, 'rev-parse', 'HEAD')
  const base = readFileSync(join(repository, '.git/refs/heads/main'), 'utf8').trim()

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
