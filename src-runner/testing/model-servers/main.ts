import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startModelServer } from './model-server.ts'
import type { ServedReply } from './reply.ts'

/**
 * The model servers as a process of their own, for window tests and measurements:
 *
 *   node src-runner/testing/model-servers/main.ts --port 0 --tokens 300 --delay-ms 0 --replies replies.json
 *
 * Prints one line of JSON with its address. `POST /control/play` takes more replies, `GET /control/received` returns the
 * requests.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    text: { type: 'string' },
    tokens: { type: 'string' },
    'delay-ms': { type: 'string', default: '0' },
    replies: { type: 'string' },
    models: { type: 'string', default: 'small,large' },
  },
})

const delayMs = Number(values['delay-ms'])
const text =
  values.tokens === undefined
    ? (values.text?.match(/\s*\S+\s*/g) ?? undefined)
    : Array.from({ length: Number(values.tokens) }, (_, n) => `word${n} `)
const fallback: ServedReply | undefined =
  text === undefined && delayMs === 0
    ? undefined
    : {
        text: text ?? ['Hello', ' from', ' the', ' server.'],
        usage: { input: 1000, output: text?.length ?? 4 },
        ...(delayMs > 0 ? { frameDelayMs: delayMs } : {}),
      }

const server = await startModelServer({
  port: Number(values.port),
  models: values.models.split(','),
  ...(fallback === undefined ? {} : { fallback }),
})
if (values.replies !== undefined) server.play(...(JSON.parse(readFileSync(values.replies, 'utf8')) as ServedReply[]))
process.stdout.write(`${JSON.stringify({ url: server.url, port: server.port })}\n`)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void server.close().then(() => process.exit(0)))
