import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createStream } from 'rotating-file-stream'
import type { LogLevel } from '../../contract/port.ts'
import type { Log } from '../../lib/log.ts'
import type { Scrubber } from './scrubber.ts'

export type RunnerLog = Log & {
  /** Resolves when everything is written to the file. */
  close(): Promise<void>
}

/** JSON lines in `<dataDir>/logs/runner.log`: five files of 10 MB that only their owner can read. */
export function createRunnerLog(options: { dataDir: string; level: LogLevel; scrubber: Scrubber; toStderr: boolean }): RunnerLog {
  const { scrubber, toStderr } = options
  const folder = join(options.dataDir, 'logs')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const open = () => {
    const stream = createStream('runner.log', { path: folder, size: '10M', rotate: 5, mode: 0o600, history: '.runner.history' })
    // A log that cannot be written, such as on a full disk, must not stop the work. The next line opens it again.
    return stream.on('error', () => {})
  }
  let file = open()
  return createLog(options.level, (line) => {
    const clean = scrubber.scrub(line)
    if (file.destroyed) file = open()
    file.write(clean)
    if (toStderr) process.stderr.write(clean)
  }, () => new Promise((resolve) => file.end(resolve))) // prettier-ignore
}

/** `write` gets every line unscrubbed. */
export function createLog(level: LogLevel, write: (line: string) => void, close: () => Promise<void> = () => Promise.resolve()): RunnerLog {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeThrown, err: describeThrown, cause: describeThrown },
    },
    { write },
  )
  return {
    error: (fields, message) => logger.error(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    info: (fields, message) => logger.info(fields, message),
    debug: (fields, message) => logger.debug(fields, message),
    close,
  }
}

/** Nothing else of an error is logged: libraries attach whole requests, including prompts. */
function describeThrown(thrown: unknown, depth = 0): unknown {
  if (!(thrown instanceof Error)) return typeof thrown === 'object' ? '(an object was thrown)' : thrown
  const { code } = thrown as { code?: unknown }
  return {
    name: thrown.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: thrown.message,
    stack: thrown.stack,
    ...(thrown.cause === undefined || depth >= 5 ? {} : { cause: describeThrown(thrown.cause, depth + 1) }),
  }
}

/** Sends `console` output to the log. Libraries may print keys, and the host reads standard output. */
export function silenceConsole(log: Log): void {
  const print =
    (level: 'debug' | 'warn') =>
    (...parts: unknown[]) =>
      log[level]({ from: 'console' }, parts.map((part) => (typeof part === 'string' ? part : '(value)')).join(' '))
  const [debug, warn] = [print('debug'), print('warn')]
  Object.assign(console, { log: debug, info: debug, debug, trace: debug, dir: debug, warn, error: warn })
}
