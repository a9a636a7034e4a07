import { mkdirSync } from 'node:fs'
import { pino, type LevelWithSilent, multistream, type StreamEntry } from 'pino'
import { createStream } from 'rotating-file-stream'
import type { Log } from './log.ts'

export type MainLog = Log & {
  setLevel(level: LevelWithSilent): void
  /** Removes this text from every later log line. */
  hide(secret: string): void
  /** A text without what was hidden. */
  scrub(text: string): string
  /** Resolves when all lines are on disk. */
  close(): Promise<void>
}

const MAX_FILE = '5M'
const KEPT_FILES = 4

/**
 * The log of the main process: JSON lines in `<folder>/main.log`, at most five files of 5 MB, and in `echo` (headless:
 * stderr). Every line is searched for known secrets, because a secret can be part of a message or a URL.
 */
export function createMainLog({ folder, level, echo }: { folder: string; level: LevelWithSilent; echo?: NodeJS.WritableStream }): MainLog {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = createStream('main.log', { path: folder, size: MAX_FILE, maxFiles: KEPT_FILES, mode: 0o600 })
  // A full disk or a missing folder must not end the process that reports it.
  file.on('error', (error) => process.stderr.write(`deckhand: the log cannot be written: ${error.message}\n`))
  const secrets = new Set<string>()
  function scrub(text: string): string {
    for (const secret of secrets) text = text.replaceAll(secret, '[secret]')
    return text
  }
  const streams: StreamEntry[] = [{ level: 'trace', stream: file }]
  if (echo) streams.push({ level: 'trace', stream: echo })
  const logger = pino(
    {
      level,
      base: { process: 'main' },
      hooks: {
        streamWrite(line) {
          return scrub(line)
        },
      },
    },
    multistream(streams),
  )
  return {
    error: (fields, message) => logger.error(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    info: (fields, message) => logger.info(fields, message),
    debug: (fields, message) => logger.debug(fields, message),
    setLevel(next) {
      logger.level = next
    },
    hide(secret) {
      if (secret.length >= 8) secrets.add(secret)
    },
    scrub,
    close: () => new Promise((resolve) => file.end(() => resolve())),
  }
}
