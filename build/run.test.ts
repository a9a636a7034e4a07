import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { run } from './run.mjs'

const isRunning = (pid: number) => existsSync(`/proc/${pid}`) && !/ Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

describe.skipIf(process.platform !== 'linux')('a program with a time limit', () => {
  it('leaves no process behind that it started', async () => {
    const { file, pid } = pidFile()
    expect(await run('sh', ['-c', `sleep 3600 & echo $! > ${file}`], { limitMs: 60_000 })).toBe(0)
    await vi.waitFor(() => expect(isRunning(pid())).toBe(false))
  })

  it('is stopped at the limit with everything it started, and has failed', async () => {
    const { file, pid } = pidFile()
    expect(await run('sh', ['-c', `sleep 3600 & echo $! > ${file}; wait`], { limitMs: 500 })).not.toBe(0)
    await vi.waitFor(() => expect(isRunning(pid())).toBe(false))
  })
})

function pidFile(): { file: string; pid: () => number } {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'pid')
  return { file, pid: () => Number(readFileSync(file, 'utf8')) }
}
