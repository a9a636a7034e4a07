import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ROUTES, type RouteName } from '../../contract/routes.ts'
import { silentLog } from '../../lib/log.ts'
import { createHandClock, type HandClock } from '../../testing/hand-clock.ts'
import type { Handlers, OpenStream } from './handler.ts'
import { createHttpServer, type HttpServer } from './server.ts'
import { frame, HEARTBEAT_MS, LOST_READER_BYTES, MAX_STREAMS, type EventSink } from './stream.ts'

describe('a stream', () => {
  const cleanUps: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  async function serve(open: OpenStream): Promise<{ server: HttpServer; port: number; clock: HandClock }> {
    const clock = createHandClock()
    const handlers = Object.fromEntries((Object.keys(ROUTES) as RouteName[]).map((name) => [name, () => open])) as unknown as Handlers
    const server = createHttpServer({
      handlers,
      auth: { authMode: 'local-trust', workerSecret: 'x'.repeat(32) },
      gate: { authMode: 'local-trust', hosts: new Set(), origins: new Set() },
      clock,
      log: silentLog,
    })
    cleanUps.push(() => server.close())
    return { server, clock, port: (await server.listen('127.0.0.1', 0)).port }
  }

  function read(port: number): { socket: Socket; text: () => string; closed: Promise<void> } {
    let text = ''
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write('GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n'))
    cleanUps.push(() => socket.destroy())
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('error', () => {})
    return { socket, text: () => text, closed: new Promise((resolve) => socket.on('close', () => resolve())) }
  }

  it('is open before its source sends anything', async () => {
    const { port } = await serve(() => () => {})
    const reader = read(port)
    await expect.poll(reader.text).toContain('retry: 1000')
    expect(reader.text()).toMatch(/^HTTP\/1\.1 200 OK\r\ncache-control: no-store, no-transform\r\n[^]*content-type: text\/event-stream/)
  })

  it('sends heartbeats with one timer for all readers', async () => {
    const { port, clock, server } = await serve(() => () => {})
    const readers = [read(port), read(port), read(port)]
    await expect.poll(() => server.streams()).toBe(3)
    expect(clock.sleepers()).toBe(1)
    for (const reader of readers) expect(reader.text()).not.toContain(': beat')
    clock.advance(HEARTBEAT_MS)
    for (const reader of readers) await expect.poll(reader.text).toContain(': beat\n\n')
  })

  it('stops its source when the reader disconnects, and its timer with the last reader', async () => {
    let stopped = 0
    const { port, clock, server } = await serve(() => () => void stopped++)
    const reader = read(port)
    await expect.poll(() => server.streams()).toBe(1)
    reader.socket.destroy()
    await expect.poll(() => [stopped, server.streams(), clock.sleepers()]).toEqual([1, 0, 0])
  })

  it('is refused to a client that has too many open, until it closes one', async () => {
    const { port, server } = await serve(() => () => {})
    const readers = Array.from({ length: MAX_STREAMS }, () => read(port))
    await expect.poll(() => server.streams()).toBe(MAX_STREAMS)
    const refused = read(port)
    await expect.poll(refused.text).toContain('"error":"too_many_streams"')
    expect(refused.text()).toMatch(/^HTTP\/1\.1 429 /)
    readers[0]!.socket.destroy()
    await expect.poll(() => server.streams()).toBe(MAX_STREAMS - 1)
    await expect.poll(read(port).text).toContain('retry: 1000')
  })

  it('disconnects a reader that reads nothing, before a megabyte waits', async () => {
    const sent = { bytes: 0, stopped: false }
    let sink: EventSink | undefined
    const { port, server } = await serve((opened) => {
      sink = opened
      return () => (sent.stopped = true)
    })
    const reader = read(port)
    await expect.poll(() => server.streams()).toBe(1)
    reader.socket.pause()
    const token = frame('delta', JSON.stringify({ text: 'x'.repeat(10_000), seq: 1 }))
    // The system buffers some megabytes, which needs a turn of the event loop.
    while (!sent.stopped && sent.bytes < 100 * LOST_READER_BYTES) {
      sink!.send(token)
      sent.bytes += token.length
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(sent.stopped).toBe(true)
    expect(server.streams()).toBe(0)
  })

  it('keeps a reader that is sent one frame of more than a megabyte', async () => {
    let sink: EventSink | undefined
    const { port, server } = await serve((opened) => ((sink = opened), () => {}))
    const reader = read(port)
    await expect.poll(() => server.streams()).toBe(1)
    sink!.send(frame('step', JSON.stringify('x'.repeat(2 * LOST_READER_BYTES))))
    await expect.poll(() => reader.text().length).toBeGreaterThan(2 * LOST_READER_BYTES)
    sink!.send(frame('done', '{}'))
    await expect.poll(() => reader.text().endsWith('event: done\ndata: {}\n\n\r\n')).toBe(true)
  })

  it('disconnects a reader that leaves four heartbeats unread', async () => {
    let sink: EventSink | undefined
    const { port, server, clock } = await serve((opened) => ((sink = opened), () => {}))
    const reader = read(port)
    await expect.poll(() => server.streams()).toBe(1)
    reader.socket.pause()
    while (sink!.keepsUp()) {
      sink!.send(frame('delta', `"${'x'.repeat(50_000)}"`))
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (let beat = 0; beat < 3; beat++) clock.advance(HEARTBEAT_MS)
    expect(server.streams()).toBe(1)
    clock.advance(HEARTBEAT_MS)
    await expect.poll(() => server.streams()).toBe(0)
  })

  it('ends with the server', async () => {
    const { port, server } = await serve(() => () => {})
    const reader = read(port)
    await expect.poll(() => server.streams()).toBe(1)
    await server.close()
    await reader.closed
    expect(reader.text()).toMatch(/0\r\n\r\n$/)
  })
})
