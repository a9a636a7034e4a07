import { mkdirSync } from 'node:fs'
import { pino, type LevelWithSilent, multistream, type StreamEntry } from 'pino'
import { createStream } from 'rotating-file-stream'
import type { Log } from './log.ts'

export type MainLog = Log & {
  setLevel(level: LevelWithSilent): void
  /** From now on this text never reaches the log, whichever field or message it is part of. */
  hide(secret: string): void
  /** Resolves when what was logged is on disk. */
  close(): Promise<void>
}

const MAX_FILE = '5M'
const KEPT_FILES = 4

/**
 * The log of the main process: JSON lines in `<folder>/main.log`, at most five files of 5 MB, and in `echo` too
 * (headless: stderr). Field paths are not enough to keep secrets out, because a secret can be inside a message or a
 * URL; so every finished line is searched for the secrets that are known.
 */
export function createMainLog({ folder, level, echo }: { folder: string; level: LevelWithSilent; echo?: NodeJS.WritableStream }): MainLog {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = createStream('main.log', { path: folder, size: MAX_FILE, maxFiles: KEPT_FILES, mode: 0o600 })
  // A full disk or a folder that went away must not end the process that would tell about it.
  file.on('error', (error) => process.stderr.write(`deckhand: the log cannot be written: ${error.message}\n`))
  const secrets = new Set<string>()
  const streams: StreamEntry[] = [{ level: 'trace', stream: file }]
  if (echo) streams.push({ level: 'trace', stream: echo })
  const logger = pino(
    {
      level,
      base: { process: 'main' },
      hooks: {
        streamWrite(line) {
          for (const secret of secrets) line = line.replaceAll(secret, '[secret]')
          return line
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
    close: () => new Promise((resolve) => file.end(() => resolve())),
  }
}
