import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { withGrowingLimit } from '../src-runner/testing/growing-limit.ts'
import { run } from './run.mjs'

const isRunning = (pid: number) => existsSync(`/proc/${pid}`) && !/ Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

describe.skipIf(process.platform !== 'linux')('a program with a time limit', () => {
  it('leaves no process behind that it started', async () => {
    const { file, pid } = pidFile()
    expect(await run('sh', ['-c', `sleep 3600 & echo $! > ${file}`], { limitMs: 60_000 })).toBe(0)
    await expect.poll(() => isRunning(pid())).toBe(false)
  })

  it('is stopped at the limit with everything it started, and has failed', async () => {
    const { file, pid } = pidFile()
    const code = await withGrowingLimit(
      (limitMs) => run('sh', ['-c', `sleep 3600 & echo $! > ${file}; wait`], { limitMs }),
      () => existsSync(file),
    )
    expect(code).not.toBe(0)
    await expect.poll(() => isRunning(pid())).toBe(false)
  })
})

describe.skipIf(process.platform !== 'linux')('a script that has started a program', () => {
  /** Says its pid, and needs a moment to stop in order. */
  const PROGRAM =
    "process.on('SIGTERM', () => setTimeout(() => (console.log('stopped'), process.exit(7)), 50)); console.log(process.pid); setInterval(() => {}, 1000)"
  const KINDS = [
    ['handed over to', `handOver(process.execPath, ['-e', ${JSON.stringify(PROGRAM)}])`, 7],
    ['waits for', `await run(process.execPath, ['-e', ${JSON.stringify(PROGRAM)}])`, 143],
  ] as const

  /** `shell`: what npm starts scripts with; the script is not its last command, so the shell stays and waits for it. */
  async function startScript(work: string, shell: boolean) {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-run-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const script = join(folder, 'script.mjs')
    writeFileSync(
      script,
      `import { begin, handOver, run } from ${JSON.stringify(new URL('./run.mjs', import.meta.url).href)}
      console.log(process.pid)
      await begin(async () => { ${work} })`,
    )
    const env = { ...process.env, npm_lifecycle_event: 'headless' }
    const options = { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] as ['ignore', 'pipe', 'inherit'] }
    const child = shell
      ? spawn('sh', ['-c', '"$@"; exit $?', 'sh', process.execPath, script], options)
      : spawn(process.execPath, [script], options)
    // The program as well, which outlives the script if the test fails.
    onTestFinished(() => {
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // All have ended.
      }
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const closed = once(child.stdout, 'close')
    const pids = () => output.match(/^\d+(?=\n)/gm)?.map(Number) ?? []
    await expect.poll(pids).toHaveLength(2)
    return { child, pids: pids(), closed, output: () => output }
  }

  it.each(KINDS)('passes a signal on to one that it %s, and ends after it', async (_kind, work, code) => {
    const { child, closed, output } = await startScript(work, false)
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await exited).toEqual([code, null])
    await closed
    expect(output()).toContain('stopped')
  })

  it.each(KINDS)('stops one that it %s when the shell of npm dies of the signal', async (_kind, work) => {
    const { child, pids, closed, output } = await startScript(work, true)
    child.kill('SIGTERM')
    await closed
    expect(output()).toContain('stopped')
    await expect.poll(() => pids.filter(isRunning)).toEqual([])
  })
})

function pidFile(): { file: string; pid: () => number } {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'pid')
  return { file, pid: () => Number(readFileSync(file, 'utf8')) }
}
