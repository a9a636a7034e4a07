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

/** Shorter texts are ordinary words. */
const SHORTEST = 8
const MAX_FILE = '5M'
const KEPT_FILES = 4

/**
 * The log of the main process: JSON lines in `<folder>/main.log`, at most five files of 5 MB, and in `echo` (headless:
 * stderr). Every line is searched for known secrets, because a secret can be part of a message or a URL.
 */
export function createMainLog({ folder, level, echo }: { folder: string; level: LevelWithSilent; echo?: NodeJS.WritableStream }): MainLog {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const open = () => {
    const stream = createStream('main.log', { path: folder, size: MAX_FILE, maxFiles: KEPT_FILES, mode: 0o600 })
    // A full disk or a missing folder must not end the process that reports it. The next line opens the file again.
    return stream.on('error', (error) => process.stderr.write(`deckhand: the log cannot be written: ${error.message}\n`))
  }
  let file = open()
  function write(line: string): void {
    if (file.destroyed) file = open()
    file.write(line)
  }
  /** The longest first, so that a secret inside another leaves no rest. */
  let secrets: string[] = []
  function scrub(text: string): string {
    for (const secret of secrets) text = text.replaceAll(secret, '[secret]')
    return text
  }
  const streams: StreamEntry[] = [{ level: 'trace', stream: { write } }]
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
      if (secret.length < SHORTEST) return
      secrets = [...new Set([...secrets, ...spellingsOf(secret)])].sort((a, b) => b.length - a.length)
    },
    scrub,
    close: () => new Promise((resolve) => file.end(() => resolve())),
  }
}

/** As the runner's log knows them: plain, in JSON, in JSON within JSON, in a URL, and in hex and base64. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const json = JSON.stringify(secret).slice(1, -1)
  const hex = bytes.toString('hex')
  const cores = [0, 1, 2].map((offset) => base64Core(bytes, offset))
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    hex,
    hex.toUpperCase(),
    ...cores.flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')]),
  ].filter(({ length }) => length >= SHORTEST)
}

/** What does not depend on the text around it: `offset` bytes of it are before the secret. */
function base64Core(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
}
