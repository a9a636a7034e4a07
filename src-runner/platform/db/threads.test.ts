import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { builtChild } from '../../testing/built-children.ts'
import { createThreads } from './threads.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-threads-'))
  file = join(folder, 'some.db')
  new Sqlite(file).exec('CREATE TABLE notes (text)').close()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('stopping a thread while it loads SQLite does not end the process', () => {
  // Terminating it there aborts the process about one time in eight.
  const child = spawnSync(process.execPath, [builtChild('end-threads-child'), file, '60'], { encoding: 'utf8' })
  expect([child.signal, child.stderr, child.stdout]).toEqual([null, '', 'all ended'])
})

test('a thread that has not begun is stopped at once', async () => {
  const threads = createThreads()
  const answer = threads.run('query-thread', { file, sql: 'SELECT 1', params: {} })
  threads.stop()
  await expect(answer).rejects.toThrow('it was stopped')
})
