import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startProgram, type StartedProgram } from './start-program.ts'

const MODULE = fileURLToPath(new URL('./start-program.ts', import.meta.url))

let folder: string
const started: StartedProgram[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-program-'))
})
afterEach(async () => {
  await Promise.all(started.splice(0).map((program) => program.stop(0)))
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a script in Node, which then prints its pid. */
function start(source: string, { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {}) {
  const lines: string[] = []
  const pids: number[] = []
  const program = startProgram({
    file: process.execPath,
    args: ['-e', `${source};console.log('pid', process.pid)`, ...args],
    env,
    onLine: (line) => (line.startsWith('pid ') ? pids.push(Number(line.slice(4))) : lines.push(line)),
  })
  started.push(program)
  return { program, lines, pid: async () => (await expect.poll(() => pids, { interval: 5 }).toHaveLength(1), pids[0]!) }
}

/** A zombie counts as gone: the process that adopts it may be slow to reap it. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform === 'linux' && / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

const FOREVER = 'setInterval(() => {}, 1000)'

describe.skipIf(process.platform === 'win32')('a started program', () => {
  it('reports the lines of both outputs and its exit code', async () => {
    const { program, lines } = start("console.error('to err');console.log('out');process.exitCode = 7")
    expect(await program.ended).toEqual({ code: 7, signal: null, error: null })
    expect(lines.toSorted()).toEqual(['out', 'to err'])
  })

  it('gets its arguments unchanged and only the given environment', async () => {
    const args = ['a b', '$HOME', '`id`', "'", '"; exit 1', '*']
    const { program, lines } = start('console.log(JSON.stringify([process.argv.slice(1), process.env.ONLY, process.env.PATH]))', {
      args,
      env: { ONLY: 'this' },
    })
    await program.ended
    expect(JSON.parse(lines[0]!)).toEqual([args, 'this', expect.not.stringContaining(process.env['PATH']!)])
  })

  it('ends with 127 when the program does not exist', async () => {
    const program = startProgram({ file: join(folder, 'none'), args: [], env: {}, onLine: () => {} })
    expect((await program.ended).code).toBe(127)
  })

  it('may shut down cleanly when it is stopped', async () => {
    const file = join(folder, 'ended')
    const { program, pid } = start(
      `process.on('SIGTERM', () => setTimeout(() => { require('fs').writeFileSync(${JSON.stringify(file)}, 'in order'); process.exit(0) }, 100));${FOREVER}`,
    )
    const child = await pid()
    await program.stop(60_000)
    expect([readFileSync(file, 'utf8'), isGone(child)]).toEqual(['in order', true])
  })

  it('is killed when it ignores SIGTERM', async () => {
    const { program, lines, pid } = start(`process.on('SIGTERM', () => console.log('no'));${FOREVER}`)
    const child = await pid()
    process.kill(child, 'SIGTERM')
    await expect.poll(() => lines).toEqual(['no'])
    await program.stop(300)
    await expect.poll(() => isGone(child)).toBe(true)
  })

  it('ends when the process that started it is killed', async () => {
    const pidFile = join(folder, 'pid')
    const parent = join(folder, 'parent.mjs')
    writeFileSync(
      parent,
      `import { startProgram } from ${JSON.stringify(MODULE)}
       startProgram({ file: process.execPath, args: ['-e', ${JSON.stringify(`require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));${FOREVER}`)}], env: {}, onLine() {} })`,
    )
    const child = fork(parent, [], { execArgv: [], stdio: 'ignore' })
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/^\d+$/)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    expect(isGone(pid)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => isGone(pid)).toBe(true)
  })
})
