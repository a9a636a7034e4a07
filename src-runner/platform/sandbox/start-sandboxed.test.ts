import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findSandboxHere } from '../../testing/sandbox-here.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import type { SandboxState } from './sandbox-types.ts'
import { isRunning } from './process-tree.ts'
import { startSandboxed } from './start-sandboxed.ts'

const { sandbox, isMissing } = await findSandboxHere('bubblewrap')
const NONE: SandboxState = { ...sandbox, kind: 'none', works: false, setup: null }

describe.each([
  ['in the sandbox', sandbox, isMissing],
  ['without a sandbox', NONE, process.platform === 'win32'],
])('a program that is talked to, %s', (_, state, skipped) => {
  async function start(script: string, env: Record<string, string> = {}) {
    const folder = (await scratchFolder('Work')).path
    return startSandboxed({ sandbox: state, command: ['/bin/sh', '-c', script], folder, writable: [folder], env, timeoutMs: 60_000 })
  }

  it.skipIf(skipped)('has input, output and errors of its own', async () => {
    const program = await start('echo "$WORD" >&2; while read line; do echo "got $line"; done', { WORD: 'noise' })
    const errors = text(program.stderr)
    program.stdin.write('one\n')
    expect(String((await once(program.stdout, 'data'))[0])).toBe('got one\n')
    program.stdin.end()
    expect(await program.ended).toEqual({ exitCode: 0, signal: null, limit: null })
    expect(await errors).toBe('noise\n')
  })

  it.skipIf(skipped)('leaves no process behind when it is stopped, also if it ignores that', async () => {
    const program = await start(`trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo started; while :; do sleep 1; done`)
    await once(program.stdout, 'data')
    await program.stop()
    expect(program.stdout.destroyed).toBe(true)
  })
})

it.skipIf(process.platform === 'win32')('ends the whole group of a program without a sandbox', async () => {
  const folder = (await scratchFolder('Work')).path
  const program = await startSandboxed({
    sandbox: NONE,
    command: ['/bin/sh', '-c', 'sleep 60 & echo $!; wait'],
    folder,
    writable: [folder],
    timeoutMs: 60_000,
  })
  const pid = Number(String((await once(program.stdout, 'data'))[0]))
  expect(isRunning(pid)).toBe(true)
  await program.stop()
  expect(isRunning(pid)).toBe(false)
})

it.skipIf(process.platform === 'win32')('stops a program at its limit of processes', async () => {
  const folder = (await scratchFolder('Work')).path
  const command = ['/bin/sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait'] as const
  const program = await startSandboxed({ sandbox: NONE, command, folder, writable: [folder], timeoutMs: 60_000, limits: { processes: 4 } })
  expect((await program.ended).limit).toBe('processes')
})

it.skipIf(isMissing)('ends every process of a program when this process is killed', async () => {
  const folder = (await scratchFolder('Work')).path
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../testing/program-child.ts', import.meta.url)), folder])
  expect(String((await once(child.stdout, 'data'))[0])).toBe('started\n')
  const left = () => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(`300.${child.pid}`))
  expect(left().length).toBeGreaterThan(1)
  child.kill('SIGKILL')
  await expect.poll(left).toEqual([])
})

it.skipIf(isMissing)(
  'renames what a program puts where files run by themselves, while it runs, and in its own folder afterwards',
  async () => {
    const [work, home] = [(await scratchFolder('Work')).path, (await scratchFolder('Home')).path]
    const setAside: string[] = []
    const script = `while read file; do echo x > $file; echo $file; done; echo x > ${work}/.exrc; echo x > ${home}/.exrc`
    const program = await startSandboxed({
      sandbox,
      command: ['/bin/sh', '-c', script],
      folder: work,
      writable: [work, home],
      own: [home],
      timeoutMs: 60_000,
      onSetAside: (found) => setAside.push(...found.map(({ path }) => path)),
    })
    const write = async (file: string) => {
      program.stdin.write(`${file}\n`)
      await once(program.stdout, 'data')
    }
    await write(`${home}/.envrc`)
    await write(`${work}/.envrc`)
    await program.recheck()
    expect(setAside).toEqual([`${work}/.envrc`])
    // Nobody asks again.
    await write(`${work}/.envrc`)
    await expect.poll(() => setAside).toEqual([`${work}/.envrc`, `${work}/.envrc`])
    program.stdin.end()
    expect(await program.ended).toEqual({ exitCode: 0, signal: null, limit: null })
    expect(setAside.slice(2).toSorted()).toEqual([`${home}/.envrc`, `${home}/.exrc`, `${work}/.exrc`].toSorted())
  },
)

it.skipIf(isMissing)('leaves what others put there while the program does nothing, until the program changes it', async () => {
  const work = await scratchFolder('Work')
  await work.write('.exrc', 'before')
  const setAside: string[] = []
  const program = await startSandboxed({
    sandbox,
    command: ['/bin/sh', '-c', 'while read file; do echo x > $file; echo $file; done'],
    folder: work.path,
    writable: [work.path],
    timeoutMs: 60_000,
    onSetAside: (found) => setAside.push(...found.map(({ path }) => path.slice(work.path.length + 1))),
  })
  const write = async (file: string) => {
    program.stdin.write(`${file}\n`)
    await once(program.stdout, 'data')
  }
  await write('started')
  // As editors save: the new file replaces the protected one.
  const saveAs = async (name: string) => {
    await work.write('saved', 'mine')
    await mkdir(dirname(work.at(name)), { recursive: true })
    await rename(work.at('saved'), work.at(name))
    await program.recheck()
    return existsSync(work.at(name))
  }
  // It may just have begun to wait.
  await expect.poll(() => saveAs('.exrc')).toBe(true)
  expect(await saveAs('.vscode/tasks.json')).toBe(true)
  setAside.length = 0
  await write('.vscode/tasks.json')
  await program.recheck()
  expect(setAside).toEqual(['.vscode'])
  await write('.exrc')
  await program.recheck()
  expect(setAside).toEqual(['.vscode', '.exrc'])
  await program.stop()
})

it.skipIf(isMissing)('renames the list of a rebase to which a program adds a command, while it runs', async () => {
  const work = await scratchFolder('Work')
  const todo = '.git/rebase-merge/git-rebase-todo'
  await work.write(todo, 'pick 1234567 one\n')
  const setAside: string[] = []
  const program = await startSandboxed({
    sandbox,
    command: ['/bin/sh', '-c', `echo "x touch x" >> ${todo}; echo done; read line`],
    folder: work.path,
    writable: [work.path],
    timeoutMs: 60_000,
    onSetAside: (found) => setAside.push(...found.map(({ path }) => path.slice(work.path.length + 1))),
  })
  await once(program.stdout, 'data')
  await program.recheck()
  expect(setAside).toEqual([todo])
  await program.stop()
})

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}
