import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { isRecord, parseJson } from '../../lib/json-values.ts'
import { createMessage } from '../../lib/messages.ts'
import { cutText } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import type { SetAside } from '../../platform/protected-places/set-aside.ts'
import { startSandboxed, type RunningProgram } from '../../platform/sandbox/start-sandboxed.ts'
import { SandboxFailed } from '../../platform/sandbox/sandbox-types.ts'
import { CodingSessionFailed, type CodingEnd, type CodingSessionOptions } from './coding-session.ts'
import { CODING_PROGRAMS } from './coding-ways.ts'

/** The limit of one message: a diff holds the whole file before and after. */
const MAX_LINE_BYTES = 8 * 1024 * 1024
/** Within `WINDOW_MS`. What a program sends costs time of the one thread that runs all jobs. */
const MAX_WINDOW_BYTES = 32 * 1024 * 1024
const MAX_WINDOW_LINES = 20_000
const WINDOW_MS = 10_000
/** The limit of what we have written and it has not read. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024
/** How much of its stderr is kept for the message when it fails. */
const MAX_TAIL_CHARS = 2_000
const MAX_LOG_LINE_CHARS = 2_000
const MAX_LOG_CHARS = 1_000_000
const LINE_FEED = 0x0a

const DAY_MS = 24 * 3_600_000

/** A coding program that runs and speaks in lines of JSON. */
export type CodingProcess = {
  /** Once, before it has written anything. It may throw: then the program ends as one that reached its limit. */
  listen(onMessage: (message: Record<string, unknown>) => void): void
  /** A line of JSON, or text as it is. `isLast`: nothing follows. */
  send(message: object | string, options?: { isLast: boolean }): Promise<void>
  /** What it wrote to its error output last, as one line of text. */
  complaint(): string
  /** Ends every process of it. Resolves like `ended`, which has the first reason. */
  end(reason: CodingEnd['reason'], detail: string): Promise<CodingEnd>
  /** What it has put by now where files run by themselves, each once. It is renamed. */
  takeSetAside(): Promise<SetAside[]>
  readonly ended: Promise<CodingEnd>
  /** It has ended, or is being ended. */
  isOver(): boolean
}

/** Throws CodingSessionFailed `no_sandbox`. */
export async function startCodingProcess(options: CodingSessionOptions, args: readonly string[]): Promise<CodingProcess> {
  const { sandbox, program, folder, writable, readable, closed, internet, cli, env, programs } = options
  const setAside: SetAside[] = []
  let running: RunningProgram
  try {
    running = await startSandboxed({
      sandbox,
      folder,
      writable,
      readable,
      closed,
      programs,
      reviewed: [folder],
      own: writable.filter((one) => one !== folder),
      onSetAside(found) {
        setAside.push(...found)
        options.onSetAside(found)
      },
      command: [program, ...args],
      network: internet ? true : { hosts: CODING_PROGRAMS[cli].hosts },
      env: { ...env, ...CODING_PROGRAMS[cli].always },
      timeoutMs: DAY_MS,
    })
  } catch (thrown) {
    if (!(thrown instanceof SandboxFailed)) throw thrown
    throw new CodingSessionFailed('no_sandbox', createMessage('coding_no_sandbox', { reason: thrown.message }), '', { cause: thrown })
  }
  const takeSetAside = async () => {
    await running.recheck()
    return setAside.splice(0)
  }
  return { ...talkTo(running, options), takeSetAside }
}

function talkTo(
  running: RunningProgram,
  { onLog, clock }: Pick<CodingSessionOptions, 'onLog' | 'clock'>,
): Omit<CodingProcess, 'takeSetAside'> {
  let first: { reason: CodingEnd['reason']; detail: string } | null = null
  let isOver = false
  let tail = ''
  let logged = 0
  let receive: ((message: Record<string, unknown>) => void) | null = null

  function log(text: string): void {
    const line = cutText(visibleText(stripVTControlCharacters(text)).trim(), MAX_LOG_LINE_CHARS)
    if (line === '' || logged > MAX_LOG_CHARS) return
    logged += line.length
    onLog(line)
  }

  function end(reason: CodingEnd['reason'], detail: string): Promise<CodingEnd> {
    first ??= { reason, detail }
    isOver = true
    // It may still write until it is gone, and nobody reads that.
    receive = null
    void running.stop()
    return ended
  }

  const ended = running.ended.then(({ exitCode, signal, limit }): CodingEnd => {
    isOver = true
    if (limit !== null) return { reason: 'limit', detail: `It reached a limit of the sandbox: ${limit}.` }
    return first ?? { reason: 'exited', detail: `It ended (${signal ?? `exit code ${exitCode ?? 'unknown'}`}).` }
  })

  const tooMuch = () => void end('limit', 'It writes too much.')
  readLines(running.stdout, clock.monotonic, tooMuch, (line) => {
    const value = parseJson(line)
    // Programs print greetings and warnings to their output.
    if (!isRecord(value)) return log(line)
    try {
      receive?.(value)
    } catch (thrown) {
      void end('limit', `It sent what cannot be read: ${(thrown as Error).message}`)
    }
  })
  readLines(running.stderr, clock.monotonic, tooMuch, (line) => {
    tail = (tail + line + '\n').slice(-MAX_TAIL_CHARS)
    log(line)
  })

  return {
    listen(onMessage) {
      receive = onMessage
    },
    // It does not wait until the program has read it, so that what it leaves unread can be counted.
    async send(message, { isLast } = { isLast: false }) {
      if (!running.stdin.writable) throw new Error('The program has ended.')
      running.stdin.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`)
      if (isLast) running.stdin.end()
      if (running.stdin.writableLength > MAX_UNREAD_BYTES) void end('limit', 'It does not read what it asked for.')
    },
    complaint: () => visibleText(stripVTControlCharacters(tail)).replace(/\s+/g, ' ').trim(),
    end,
    ended,
    isOver: () => isOver,
  }
}

/** Calls `onLine` for each line that is not empty, and `onTooMuch` once instead of going on. */
function readLines(stream: Readable, monotonic: () => number, onTooMuch: () => void, onLine: (line: string) => void): void {
  let pieces: Buffer[] = []
  let bytes = 0
  let window = { start: monotonic(), bytes: 0, lines: 0 }

  const stop = () => {
    stream.off('data', take).resume()
    pieces = []
    onTooMuch()
  }
  const take = (chunk: Buffer) => {
    const now = monotonic()
    if (now - window.start > WINDOW_MS) window = { start: now, bytes: 0, lines: 0 }
    window.bytes += chunk.length
    if (window.bytes > MAX_WINDOW_BYTES) return stop()
    let rest = chunk
    for (let at = rest.indexOf(LINE_FEED); at !== -1; at = rest.indexOf(LINE_FEED)) {
      if (++window.lines > MAX_WINDOW_LINES || bytes + at > MAX_LINE_BYTES) return stop()
      const line = Buffer.concat([...pieces, rest.subarray(0, at)]).toString('utf8')
      pieces = []
      bytes = 0
      rest = rest.subarray(at + 1)
      if (line.trim() !== '') onLine(line)
    }
    if (rest.length === 0) return
    pieces.push(rest)
    bytes += rest.length
    if (bytes > MAX_LINE_BYTES) stop()
  }
  stream.on('data', take)
}
