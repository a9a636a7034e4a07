import { readdirSync, statSync } from 'node:fs'
import { arch, cpus, freemem, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { Diagnostics } from '../../src-runner/contract/diagnostics.ts'
import type { Environment } from '../settings/environment.ts'
import { messageOf } from '../log/log.ts'
import { readCrashReports } from './crash-reports.ts'
import { readLogEnd } from './log-lines.ts'
import { reduceFields, reduceLogLine, reduceText } from './reduce-line.ts'

/** What the parts of a report are read from. The runner may be down. */
export type DiagnosticsSource = {
  environment: Environment
  logsDir: string
  appVersion: string
  electronVersion: string | null
  /** null: the runner's state is not known here. */
  state: { runner: string; dashboard: string; vault: string } | null
  settings: object
  /** null: no runner of ours is ready. */
  runner: { url: string; secret: string } | null
}

const RUNNER_LIMIT_MS = 20_000
const LOG_BYTES = 512 * 1024
const OWN_FILES = /^(deckhand\.db.*|auth\.db.*|settings\.json|window\.json|vault-.*)$/

const README = `Made by Deckhand for a report about a problem. It holds versions, sizes, settings, health checks, and log lines
that were reduced to ids, codes and numbers. It holds no keys, no texts of jobs or messages, and no names of files
outside of Deckhand's own folder. Look through it before you send it.
`

/** A zip with everything that helps to find a problem and nothing private. Parts that cannot be read say why. */
export async function collectDiagnostics(source: DiagnosticsSource): Promise<Uint8Array> {
  // Its build for Node declares `require` again, which our bundle has already.
  const { zipSync, strToU8 } = await import('fflate/browser')
  const json = (value: unknown) => strToU8(`${JSON.stringify(value, null, 2)}\n`)
  const log = async (process: 'main' | 'runner') => strToU8((await readReducedLog(source, process)).join('\n'))
  return zipSync({
    'README.txt': strToU8(README),
    'about.json': json(describeMachine(source)),
    'files.json': json(listOwnFiles(source.environment.dataDir)),
    'runner.json': json(await askRunner(source.runner)),
    'crashes.json': json(listCrashes(source)),
    'main.log': await log('main'),
    'runner.log': await log('runner'),
  })
}

const LATEST_CRASHES = 3
const LATEST_TROUBLE = 30
/** An issue of GitHub holds 65,536. */
const MAX_SUMMARY_CHARS = 20_000

/** The parts that a report is read for first, as Markdown for the text of a report. It holds nothing that the zip does not. */
export async function summarizeDiagnostics(source: DiagnosticsSource): Promise<string> {
  const fields = (value: object) =>
    Object.entries(value)
      .map(([name, part]) => `- ${name}: ${typeof part === 'object' ? JSON.stringify(part) : String(part)}`)
      .join('\n')
  const block = (lines: readonly string[]) => (lines.length === 0 ? 'none' : ['```', ...lines, '```'].join('\n'))
  const { checks, tables: _tables, ...runner } = (await askRunner(source.runner)) as Partial<Diagnostics>
  const isTrouble = (line: string) => /"level":("warn"|"error"|[4-6]0)/.test(line)
  const trouble = (await Promise.all((['main', 'runner'] as const).map((process) => readReducedLog(source, process)))).map((lines) =>
    lines.filter(isTrouble).slice(-LATEST_TROUBLE),
  )
  const text = [
    '### Deckhand diagnostics',
    fields(describeMachine(source)),
    '#### Runner',
    fields(runner),
    '#### Health checks',
    (checks ?? [])
      .filter(({ state }) => state !== 'ok')
      .map(({ name, state, finding }) => `- ${name}: ${state} (${finding})`)
      .join('\n') || 'none with a problem',
    '#### Files',
    block(listOwnFiles(source.environment.dataDir).map((file) => JSON.stringify(file))),
    '#### Crashes',
    block(
      listCrashes(source)
        .slice(-LATEST_CRASHES)
        .map((crash) => JSON.stringify(crash)),
    ),
    '#### Warnings and errors of main',
    block(trouble[0]!),
    '#### Warnings and errors of the runner',
    block(trouble[1]!),
  ].join('\n\n')
  return text.length <= MAX_SUMMARY_CHARS ? `${text}\n` : `${text.slice(0, MAX_SUMMARY_CHARS)}\n(cut)\n`
}

async function readReducedLog({ logsDir }: DiagnosticsSource, process: 'main' | 'runner'): Promise<string[]> {
  return (await readLogEnd(logsDir, process, LOG_BYTES)).flatMap((line) => reduceLogLine(line) ?? [])
}

/** The oldest first. */
function listCrashes({ logsDir }: DiagnosticsSource): object[] {
  return readCrashReports(logsDir).map(({ report: { at, appVersion, reason, lastLines } }) => {
    return { at, appVersion, reason: reduceText(reason), lastLines: lastLines.map(reduceText) }
  })
}

function describeMachine({ appVersion, electronVersion, state, settings, environment }: DiagnosticsSource): object {
  const { authMode, vault, logLevel } = environment
  return {
    at: new Date().toISOString(),
    appVersion,
    electronVersion,
    nodeVersion: process.versions.node,
    platform: process.platform,
    release: release(),
    arch: arch(),
    processors: cpus().length,
    memoryBytes: totalmem(),
    freeMemoryBytes: freemem(),
    state,
    authMode,
    vault,
    logLevel,
    settings: reduceFields(settings),
  }
}

/** Lists only files of the data folder that have our own names. */
function listOwnFiles(dataDir: string): object[] {
  const sizesIn = (folder: string, pattern: RegExp, prefix = '') => {
    try {
      return readdirSync(folder)
        .filter((name) => pattern.test(name))
        .map((name) => ({ name: `${prefix}${name}`, bytes: statSync(join(folder, name)).size }))
    } catch {
      return []
    }
  }
  return [...sizesIn(dataDir, OWN_FILES), ...sizesIn(join(dataDir, 'backups'), /^deckhand-\d{8}T\d{6}Z\.db$/, 'backups/')]
}

async function askRunner(runner: DiagnosticsSource['runner']): Promise<object> {
  if (runner === null) return { problem: 'the runner is not ready' }
  try {
    const answer = await fetch(`${runner.url}/api/diagnostics`, {
      headers: { authorization: `Bearer ${runner.secret}` },
      signal: AbortSignal.timeout(RUNNER_LIMIT_MS),
    })
    return answer.ok ? Diagnostics.parse(await answer.json()) : { problem: `the runner responded with ${answer.status}` }
  } catch (error) {
    return { problem: reduceText(messageOf(error)) }
  }
}
