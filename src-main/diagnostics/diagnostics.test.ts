import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strFromU8, unzipSync } from 'fflate'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readEnvironment } from '../settings/environment.ts'
import { keepCrashReport, readCrashReports } from './crash-reports.ts'
import { collectDiagnostics, summarizeDiagnostics, type DiagnosticsSource } from './diagnostics.ts'
import { readLogLines } from './log-lines.ts'
import { reduceLogLine } from './reduce-line.ts'

let folder: string
let logs: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-diagnostics-'))
  logs = join(folder, 'logs')
  mkdirSync(logs)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const JOB_ID = '0199a2f0-0b6e-7c3a-8d21-3f1f4a5b6c7d'
const mainLine = (level: number, time: number, msg: string, more = {}) =>
  `${JSON.stringify({ level, time, process: 'main', msg, ...more })}\n`
const runnerLine = (level: string, at: number, msg: string, more = {}) =>
  `${JSON.stringify({ level, time: new Date(at).toISOString(), ...more, msg })}\n`

describe('reading the logs', () => {
  beforeEach(() => {
    writeFileSync(join(logs, 'main.log'), mainLine(30, 1000, 'app starts') + mainLine(50, 3000, 'runner crashed', { reason: 'exit 7' }))
    const lines = [runnerLine('info', 2000, 'ready', { port: 3001 }), runnerLine('debug', 2500, 'a detail'), 'half a li']
    writeFileSync(join(logs, 'runner.log'), lines.join(''))
  })
  const messages = async (level: 'error' | 'warn' | 'info' | 'debug', text = '') =>
    (await readLogLines(logs, { level, text })).map(({ message }) => message)

  it('mixes both by time, the newest first, down to the chosen level', async () => {
    expect(await messages('debug')).toEqual(['runner crashed', 'a detail', 'ready', 'app starts'])
    expect(await messages('info')).toEqual(['runner crashed', 'ready', 'app starts'])
    expect(await messages('error')).toEqual(['runner crashed'])
  })

  it('finds words in the message and in the fields', async () => {
    expect(await messages('debug', 'EXIT 7')).toEqual(['runner crashed'])
    expect(await messages('debug', ' 3001 ')).toEqual(['ready'])
    expect(await messages('debug', 'nowhere')).toEqual([])
    expect((await readLogLines(logs, { level: 'info', text: '3001' }))[0]).toMatchObject({ process: 'runner', at: 2000, level: 'info' })
  })

  it('reads the end of a large log only, and nothing of one that is missing', async () => {
    rmSync(join(logs, 'main.log'))
    const long = Array.from({ length: 30_000 }, (_, n) => runnerLine('info', n, `line ${n} ${'x'.repeat(60)}`)).join('')
    writeFileSync(join(logs, 'runner.log'), long)
    const lines = await readLogLines(logs, { level: 'debug', text: '' })
    expect(lines).toHaveLength(500)
    expect(lines[0]!.message).toContain('line 29999 ')
    expect(new Set(lines.map(({ id }) => id)).size).toBe(500)
    expect(await messages('debug', 'line 0 ')).toEqual([])
  })
})

describe('a log line in a report', () => {
  it.each([
    [
      { msg: 'job started', jobId: JOB_ID, attempt: 2 },
      { msg: 'job started', jobId: JOB_ID, attempt: 2 },
    ],
    [
      { msg: 'x', agentName: 'ada', title: 'divorce', model: 'My own model' },
      { agentName: '(text)', title: '(text)', model: '(text)' },
    ],
    [{ msg: 'cannot read /home/ada/taxes 2025/list.xlsx' }, { msg: 'cannot read (path)' }],
    [{ msg: 'Model “Secret plan” of https://intra.example/v1?key=1 failed' }, { msg: 'Model (text) of (address) failed' }],
    [
      {
        msg: 'x',
        error: {
          code: 'ENOENT',
          message: "no 'C:\\Users\\ada\\x.txt'",
          stack: 'Error: a\n    at f (file:///opt/deckhand/out/main/runner.js:1:2)',
        },
      },
      { error: { code: 'ENOENT', message: 'no (text)', stack: 'Error: a\n    at f (out/main/runner.js:1:2)' } },
    ],
    [{ msg: 'x', list: [{ deep: 'private words' }, 7, 'ok'] }, { list: [{ deep: '(text)' }, 7, 'ok'] }],
    [{ msg: 'x', key: 'sk-ant-abc0123' }, { key: '(text)' }],
    [
      {
        msg: 'x',
        problem: { code: 'outside_name_unknown', params: { host: 'hooks.example.org', why: { code: 'quoted', params: { words: 'ada' } } } },
      },
      { problem: { code: 'outside_name_unknown', params: { host: '(text)', why: { params: { words: '(text)' } } } } },
    ],
    [
      { msg: 'x', reason: { code: 'runner_killed', params: { signal: 'SIGKILL' } } },
      { reason: { code: 'runner_killed', params: { signal: 'SIGKILL' } } },
    ],
  ])('keeps codes, ids and numbers of %j', (line, reduced) => {
    expect(JSON.parse(reduceLogLine(JSON.stringify(line))!)).toMatchObject(reduced)
  })

  it('is left out if it is not ours', () => {
    expect(reduceLogLine('Segmentation fault in /home/ada')).toBeNull()
  })
})

it('keeps the newest ten crash reports, readable only by their owner', () => {
  for (let n = 10; n < 23; n++) {
    keepCrashReport(logs, { at: `2026-11-23T05:00:${n}.000Z`, appVersion: '1', reason: `crash ${n}`, lastLines: [] })
  }
  const reports = readCrashReports(logs)
  expect(reports.map(({ report }) => report.reason)).toEqual(Array.from({ length: 10 }, (_, n) => `crash ${n + 13}`))
  if (process.platform !== 'win32') expect(statSync(join(logs, 'crashes', reports[0]!.name)).mode & 0o077).toBe(0)
})

describe('the zip', () => {
  const source = (changes: Partial<DiagnosticsSource> = {}): DiagnosticsSource => ({
    environment: readEnvironment({
      env: { DECKHAND_DATA_DIR: folder, DECKHAND_VAULT: 'file' },
      args: [],
      platform: 'linux',
      home: folder,
      cwd: folder,
    }),
    logsDir: logs,
    appVersion: '1.2.3',
    electronVersion: null,
    settings: { runnerPort: 3001, theme: 'dark', folder: '/home/ada/x' },
    state: { runner: 'ready', dashboard: 'ready', vault: 'ok' },
    runner: null,
    ...changes,
  })
  const open = async (changes: Partial<DiagnosticsSource> = {}) =>
    Object.fromEntries(
      Object.entries(unzipSync(await collectDiagnostics(source(changes)))).map(([name, bytes]) => [name, strFromU8(bytes)]),
    )

  it('holds versions, settings, files, logs and crashes, also without a runner', async () => {
    writeFileSync(join(logs, 'runner.log'), runnerLine('info', 1, 'ready', { folder: '/home/ada/taxes' }))
    writeFileSync(join(folder, 'deckhand.db'), 'x'.repeat(7))
    writeFileSync(join(folder, 'my diary.txt'), 'private')
    keepCrashReport(logs, {
      at: '2026-11-23T05:00:00.000Z',
      appVersion: '1',
      reason: 'ended in /home/ada/x/y',
      lastLines: ['at /home/ada/x/y'],
    })
    const files = await open()
    expect(JSON.parse(files['about.json']!)).toMatchObject({
      appVersion: '1.2.3',
      state: { runner: 'ready' },
      settings: { runnerPort: 3001, theme: 'dark', folder: '(text)' },
    })
    expect(JSON.parse(files['files.json']!)).toEqual([{ name: 'deckhand.db', bytes: 7 }])
    expect(JSON.parse(files['runner.json']!)).toEqual({ problem: 'the runner is not ready' })
    expect(files['runner.log']).toContain('ready')
    expect(files['crashes.json']).toContain('ended in (path)')
    for (const text of Object.values(files)) expect(text).not.toMatch(/ada|taxes|diary/)
    expect(readdirSync(folder)).not.toContain('deckhand-diagnostics.zip')
  })

  it('has its most important part as text, short enough for an issue', async () => {
    const lines = Array.from({ length: 500 }, (_, n) => runnerLine('warn', n, `trouble ${n} with '/home/ada/taxes'`, { title: 'divorce' }))
    writeFileSync(join(logs, 'runner.log'), runnerLine('info', 1, 'ready') + lines.join(''))
    writeFileSync(join(logs, 'main.log'), mainLine(50, 3000, 'runner crashed', { reason: 'exit 7' }))
    keepCrashReport(logs, { at: '2026-11-23T05:00:00.000Z', appVersion: '1', reason: 'x', lastLines: ['at /home/ada/x/y'] })
    const text = await summarizeDiagnostics(source())
    for (const part of ['appVersion: 1.2.3', 'the runner is not ready', 'runner crashed', 'trouble 499 with', '2026-11-23T05:00'])
      expect(text).toContain(part)
    expect(text).not.toMatch(/"msg":"ready"|trouble 3 with/)
    expect(text).not.toMatch(/ada|taxes|divorce/)
    expect(text.length).toBeLessThan(21_000)
  })

  it('says why the runner gave nothing', async () => {
    const server = createServer((_, response) => void response.writeHead(503).end('{}')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const { 'runner.json': runner } = await open({ runner: { url: `http://127.0.0.1:${port}`, secret: 'x' } })
    expect(JSON.parse(runner!)).toEqual({ problem: 'the runner responded with 503' })
    server.close()
  })
})
