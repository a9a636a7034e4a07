import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { transact } from '../platform/db/database.ts'
import type { CodeTask } from '../contract/code-tasks.ts'
import { changeCodeTask, insertCodeTask } from '../domain/code-tasks/code-tasks.ts'
import { builtChild } from '../testing/built-children.ts'
import { createGitRig } from '../testing/git-rig.ts'
import { openDomainRig } from '../testing/domain-rig.ts'

const CHILD = builtChild('code-kill-child')
/** `npm run test:long` kills before every change. */
const isLong = process.env['CODE_KILLS'] !== undefined
const TEST_MS = isLong ? 900_000 : 120_000

/**
 * A finished task of which nothing is committed yet: a file is changed, one is added, one is gone. The person has changed the
 * first too.
 */
async function createKillRig() {
  const git = await createGitRig()
  const task = await git.addTask()
  const domain = openDomainRig()
  const { id: agentId } = domain.addAgent('Coder')
  const jobId = transact(domain.db, (tx) => {
    const job = domain.store.enqueue(tx, { agentId, channel: 'api', task: 'Code' })
    const { repository, branch, folder } = task
    insertCodeTask(tx, job.id, { cli: 'gemini', repository, branch, baseCommit: git.base, baseBranch: 'main', internet: false })
    changeCodeTask(tx, job.id, { folder })
    domain.store.cancel(tx, job.id)
    return job.id
  })
  domain.db.close()
  const file = git.scratch.at('deckhand.db')
  copyFileSync(domain.file, file)
  rmSync(domain.folder, { recursive: true })
  const readme = readFileSync(join(git.repository, 'README.md'), 'utf8')
  await task.write('README.md', readme.replace('One.', '1.'))
  await task.write('deep/er/new.txt', 'new\n')
  await rm(task.at('src/old.ts'))
  await git.write('README.md', readme.replace('Seven.', 'VII.'))
  await git.write('own.txt', 'mine\n')

  const parts = ['project', 'code', 'deckhand.db']
  const copy = (from: string, to: string) => cpSync(join(git.scratch.path, from), join(git.scratch.path, to), { recursive: true, preserveTimestamps: true, verbatimSymlinks: true }) // prettier-ignore
  for (const part of parts) copy(part, join('kept', part))
  return {
    git,
    task,
    readme,
    reset() {
      for (const part of [...parts, 'deckhand.db-wal', 'deckhand.db-shm']) rmSync(git.scratch.at(part), { recursive: true, force: true })
      for (const part of parts) copy(join('kept', part), part)
    },
    /** Returns null if it was killed. */
    run(way: string, nth = Infinity): { changes: number; task: CodeTask } | null {
      const done = spawnSync(process.execPath, [CHILD, file, git.home, way, jobId, String(nth)], { encoding: 'utf8' })
      if (done.signal === 'SIGKILL') return null
      expect(done.stderr).toBe('')
      return JSON.parse(done.stdout) as { changes: number; task: CodeTask }
    },
    read: (path: string) => (existsSync(join(git.repository, path)) ? readFileSync(join(git.repository, path), 'utf8') : null),
    hasBranch: () => git.gitIn('branch', '--list', task.branch) !== '',
  }
}

type KillRig = Awaited<ReturnType<typeof createKillRig>>

/** Kills `way` before each change of a file, or in the middle, and looks at what is left. */
function killDuring(rig: KillRig, way: string, look: () => void): void {
  const { changes } = rig.run(way)!
  expect(changes).toBeGreaterThan(3)
  const moments = Array.from({ length: changes }, (_, at) => at + 1)
  for (const nth of isLong ? moments : moments.slice(changes >> 1, (changes >> 1) + 1)) {
    rig.reset()
    expect(rig.run(way, nth)).toBeNull()
    look()
  }
}

describe('a runner that is killed', { timeout: TEST_MS }, () => {
  it('while it applies leaves each file old or new, and applies the rest the next time', async () => {
    const rig = await createKillRig()
    const { readme, read } = rig
    const mine = readme.replace('Seven.', 'VII.')
    killDuring(rig, 'apply', () => {
      expect([mine, mine.replace('One.', '1.')]).toContain(read('README.md'))
      expect([null, 'new\n']).toContain(read('deep/er/new.txt'))
      expect(read('own.txt')).toBe('mine\n')
      expect(rig.run('apply')!.task).toMatchObject({ result: 'applied', fileCount: 3, folder: rig.task.folder })
      expect(read('README.md')).toBe(mine.replace('One.', '1.'))
      expect([read('deep/er/new.txt'), read('src/old.ts'), read('own.txt')]).toEqual(['new\n', null, 'mine\n'])
      expect(readdirSync(join(rig.git.repository, '.git')).filter((name) => name.startsWith('deckhand'))).toEqual([])
    })
  })

  it('while it removes a folder loses nothing of the work, and takes no deleted file for work', async () => {
    const rig = await createKillRig()
    killDuring(rig, 'removeFolder', () => {
      rig.run('recover')
      expect(rig.run('removeFolder')!.task).toMatchObject({ folder: null, result: 'ready', fileCount: 3 })
      expect(existsSync(rig.task.folder)).toBe(false)
      expect(rig.task.files()).toEqual(['README.md', 'deep/er/new.txt', 'src/main.ts'])
      expect(rig.git.gitIn('rev-list', '--count', `main..${rig.task.branch}`)).toBe('1')
    })
  })

  it('while it discards has nothing half, and discards the rest the next time', async () => {
    const rig = await createKillRig()
    killDuring(rig, 'discard', () => {
      rig.run('recover')
      if (rig.hasBranch()) {
        const whole = [['README.md', 'src/main.ts', 'src/old.ts'], ['README.md', 'deep/er/new.txt', 'src/main.ts']] // prettier-ignore
        expect(whole).toContainEqual(rig.task.files())
      }
      expect(rig.run('discard')!.task).toMatchObject({ folder: null, result: 'discarded' })
      expect([existsSync(rig.task.folder), rig.hasBranch()]).toEqual([false, false])
      expect(rig.read('own.txt')).toBe('mine\n')
    })
  })
})
