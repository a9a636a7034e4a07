import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { RunningProgram } from '../../platform/sandbox/start-sandboxed.ts'
import { countJsonParts, parseJson } from '../../lib/json-values.ts'
import { messageOf } from '../../lib/errors.ts'

/** The limit of one message of a server. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
/** The limit of its output within `WINDOW_MS`. A program that writes more keeps the one thread busy that runs all jobs. */
const MAX_WINDOW_BYTES = 4 * MAX_MESSAGE_BYTES
/** Also those that are no messages. */
const MAX_WINDOW_LINES = 20_000
const WINDOW_MS = 10_000
/** The limit of one message. Reading 16 MB of nothing but brackets takes more than a second. */
export const MAX_MESSAGE_PARTS = 500_000

const TOO_MANY_PARTS = `A message has more than ${MAX_MESSAGE_PARTS} parts.`
const LINE_FEED = 0x0a

export type ProgramTransportOptions = {
  /** Lines of its output that are no messages. */
  onNoise(text: string): void
  /** The schema of the protocol. Throws for a value that is no message. */
  parse(value: unknown): JSONRPCMessage
  monotonic(): number
}

/** A program that speaks the protocol over its streams, one message a line. */
export function createProgramTransport(program: RunningProgram, { onNoise, parse, monotonic }: ProgramTransportOptions): Transport {
  let pieces: Buffer[] = []
  let bytes = 0
  let parts = 0
  let isClosed = false
  let window = { start: monotonic(), bytes: 0, lines: 0 }

  const transport: Transport = {
    async start() {
      program.stdout.on('data', take)
      void program.ended.then(closed)
    },
    send(message) {
      return new Promise((resolve, reject) => {
        if (isClosed || !program.stdin.writable) return reject(new Error('The server has ended.'))
        program.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error == null ? resolve() : reject(error)))
      })
    },
    async close() {
      program.stdin.end()
      closed()
      await program.stop()
    },
  }

  function closed(): void {
    if (isClosed) return
    isClosed = true
    program.stdout.off('data', take).resume()
    pieces = []
    transport.onclose?.()
  }

  function take(chunk: Buffer): void {
    const now = monotonic()
    if (now - window.start > WINDOW_MS) window = { start: now, bytes: 0, lines: 0 }
    window.bytes += chunk.length
    if (window.bytes > MAX_WINDOW_BYTES) return fail(new Error('It writes too much.'))
    let rest = chunk
    for (let end = rest.indexOf(LINE_FEED); end !== -1 && !isClosed; end = rest.indexOf(LINE_FEED)) {
      if (++window.lines > MAX_WINDOW_LINES) return fail(new Error('It writes too many lines.'))
      const last = rest.subarray(0, end)
      if (parts + countJsonParts(last) > MAX_MESSAGE_PARTS) return fail(new Error(TOO_MANY_PARTS))
      const line = Buffer.concat([...pieces, last]).toString('utf8')
      pieces = []
      bytes = parts = 0
      rest = rest.subarray(end + 1)
      receive(line)
    }
    if (rest.length === 0 || isClosed) return
    pieces.push(rest)
    bytes += rest.length
    parts += countJsonParts(rest)
    if (parts > MAX_MESSAGE_PARTS) fail(new Error(TOO_MANY_PARTS))
    if (bytes > MAX_MESSAGE_BYTES) fail(new Error(`A message has more than ${MAX_MESSAGE_BYTES} bytes.`))
  }

  function receive(line: string): void {
    if (line.trim() === '') return
    const value = parseJson(line)
    // Many programs print a greeting to their output.
    if (value === null) return onNoise(line)
    try {
      transport.onmessage?.(parse(value))
    } catch (thrown) {
      transport.onerror?.(new Error(`not a message of the protocol: ${messageOf(thrown)}`))
    }
  }

  function fail(error: Error): void {
    transport.onerror?.(error)
    void transport.close()
  }

  return transport
}
