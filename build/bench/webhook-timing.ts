import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { callJson, closeClient } from './http-client.ts'
import { makeFolder, startRunner } from './processes.ts'

const SAMPLES = Number(process.env['BENCH_SAMPLES'] ?? 10_000)
/** Interruptions of the machine are in the slowest ones: they blur what is compared and tell nothing of the cause. */
const KEPT = 0.95

/**
 * Whether the time of a webhook's 404 tells its cause: all causes are asked in turn, in an order that is shuffled each
 * time, over one connection, and compared with an unknown slug by Welch's t. A second unknown slug shows what chance does.
 */
export async function benchWebhookTiming(): Promise<void> {
  const DECKHAND_DATA_DIR = makeFolder()
  const first = await startRunner({ DECKHAND_DATA_DIR })
  const create = async (name: string) => {
    const { trigger, url } = await callJson<{ trigger: { id: string }; url: string }>('POST', `${first.line.runnerUrl}/api/triggers`, {
      name,
      taskTemplate: 'Look at {a}',
    })
    return { id: trigger.id, path: new URL(url).pathname }
  }
  const [active, other, paused, deleted, without] = [
    await create('timing-active'),
    await create('timing-second'),
    await create('timing-paused'),
    await create('timing-delete'),
    await create('timing-secret'),
  ]
  await callJson('POST', `${first.line.runnerUrl}/api/triggers/${paused.id}/pause`)
  await callJson('DELETE', `${first.line.runnerUrl}/api/triggers/${deleted.id}`)
  await first.stop()
  const db = new Database(join(DECKHAND_DATA_DIR, 'deckhand.db'))
  db.prepare('UPDATE webhook_triggers SET secret_digest = NULL WHERE id = ?').run(without.id)
  db.close()
  const runner = await startRunner({ DECKHAND_DATA_DIR })

  const secretOf = ({ path }: { path: string }) => path.split('/')[3]!
  const slugOf = ({ path }: { path: string }) => path.split('/')[2]!
  const wrong = 'A'.repeat(secretOf(active).length)
  const causes = [
    { name: 'unknown slug', path: `/webhooks/timing-nobody/${wrong}` },
    { name: 'another unknown slug', path: `/webhooks/timing-nobodx/${wrong}` },
    { name: 'wrong secret', path: `/webhooks/${slugOf(active)}/${wrong}` },
    { name: 'secret of another', path: `/webhooks/${slugOf(active)}/${secretOf(other)}` },
    { name: 'paused, right secret', path: paused.path },
    { name: 'deleted, right secret', path: deleted.path },
    { name: 'no stored secret', path: without.path },
  ]
  const port = Number(new URL(runner.line.runnerUrl).port)
  const times = causes.map(() => [] as number[])
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const requests = causes.map(({ path }) => requestBytes(port, path))
  for (let sample = -500; sample < SAMPLES; sample++) {
    for (const index of shuffled(causes.length)) {
      const ms = await ask(socket, requests[index]!)
      if (sample >= 0) times[index]!.push(ms)
    }
  }
  socket.destroy()
  await runner.stop()
  closeClient()

  const limit = quantile(times.flat(), KEPT)
  const kept = times.map((values) => values.filter((ms) => ms <= limit))
  console.log(`\nTime of a webhook's 404 by its cause (${SAMPLES} of each in turn; target: |t| below 4.5)`)
  console.log(`cause | median, µs | mean of the quickest ${KEPT * 100} %, µs | t against an unknown slug | t over all samples`)
  for (const [index, { name }] of causes.entries()) {
    const t = (of: number[][]) => (index === 0 ? '' : welch(of[index]!, of[0]!).toFixed(2))
    console.log(
      `${name} | ${(quantile(times[index]!, 0.5) * 1000).toFixed(1)} | ${(mean(kept[index]!) * 1000).toFixed(1)} | ${t(kept)} | ${t(times)}`,
    )
  }
}

function requestBytes(port: number, path: string): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}`,
  )
}

function ask(socket: Socket, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (!text.endsWith('{"error":"not_found"}')) return
      const took = performance.now() - before
      socket.off('data', onData)
      socket.off('close', onClose)
      if (text.startsWith('HTTP/1.1 404')) resolve(took)
      else reject(new Error(text))
    }
    const onClose = () => reject(new Error(`the connection was closed: ${text}`))
    socket.on('data', onData)
    socket.once('close', onClose)
    const before = performance.now()
    socket.write(request)
  })
}

function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, n) => n)
  for (let n = count - 1; n > 0; n--) {
    const other = Math.floor(Math.random() * (n + 1))
    ;[order[n], order[other]] = [order[other]!, order[n]!]
  }
  return order
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** https://en.wikipedia.org/wiki/Welch%27s_t-test */
function welch(a: readonly number[], b: readonly number[]): number {
  const spreadOf = (values: readonly number[]) => {
    const middle = mean(values)
    return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1) / values.length
  }
  return (mean(a) - mean(b)) / Math.sqrt(spreadOf(a) + spreadOf(b))
}
