import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startRunnerProcess } from './runner-process.ts'

it('a runner process ends when its test is aborted, and none is started afterwards', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-process-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const hanging = join(dataDir, 'hanging.mjs')
  writeFileSync(hanging, 'setInterval(() => {}, 1_000)')
  const test = new AbortController()
  const child = startRunnerProcess(hanging, { dataDir, port: 0, signal: test.signal })
  const exited = once(child, 'exit')
  test.abort()
  expect(await exited).toEqual([null, 'SIGKILL'])
  expect(() => startRunnerProcess(hanging, { dataDir, port: 0, signal: test.signal })).toThrow('aborted')
})
