import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/**
 * Sends deliveries over a number of connections, each with one request at a time, and says how fast they were answered.
 * Sockets and bytes and nothing else, so that one core can keep the other side busy. Any answer but a 202 ends it.
 *
 *   node build/bench/webhook-load.ts '{"port":3001,"pathsFile":"/tmp/paths.json","connections":10,"count":1000,"from":0}'
 */
export type Load = {
  port: number
  /** Paths of triggers as a JSON list, taken in turn, beginning at `from`. */
  pathsFile: string
  from: number
  connections: number
  count: number
  /** Sent before the clock starts. */
  warmUp?: number
  /** Ends earlier than `count`. */
  seconds?: number
}
export type LoadResult = { sent: number; perSecond: number; p50Ms: number; p99Ms: number }

const load = JSON.parse(process.argv[2]!) as Load
const paths = JSON.parse(readFileSync(load.pathsFile, 'utf8')) as string[]
const body = JSON.stringify({
  action: 'opened',
  issue: { number: 1347, title: 'Found a bug', user: { login: 'octocat' }, body: "I'm having a problem with this. ".repeat(12) },
  repository: { full_name: 'octocat/Hello-World', private: false },
})
let next = load.from

function requestBytes(): Buffer {
  const path = paths[next++ % paths.length]!
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${load.port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** One request, to the end of its answer. */
function deliver(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = /content-length: (\d+)/i.exec(text)
      if (length === null || text.length < head + 4 + Number(length[1])) return
      socket.off('data', onData)
      if (text.startsWith('HTTP/1.1 202')) resolve()
      else reject(new Error(text))
    }
    socket.on('data', onData)
    socket.write(requestBytes())
  })
}

async function run(sockets: readonly Socket[], count: number, until: number): Promise<number[]> {
  const took: number[] = []
  let left = count
  await Promise.all(
    sockets.map(async (socket) => {
      while (left-- > 0) {
        const before = performance.now()
        if (before > until) return
        await deliver(socket)
        took.push(performance.now() - before)
      }
    }),
  )
  return took
}

const sockets = await Promise.all(Array.from({ length: load.connections }, open))
await run(sockets, load.warmUp ?? 0, Infinity)
const before = performance.now()
const took = await run(sockets, load.count, before + (load.seconds ?? Infinity) * 1000)
const seconds = (performance.now() - before) / 1000
took.sort((a, b) => a - b)
const at = (part: number) => took[Math.min(took.length - 1, Math.floor(took.length * part))]!
process.stdout.write(`${JSON.stringify({ sent: took.length, perSecond: took.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) })}\n`)
process.exit(0)
