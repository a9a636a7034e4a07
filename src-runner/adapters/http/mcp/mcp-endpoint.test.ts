import { afterEach, describe, expect, it } from 'vitest'
import { createLiveJobStreams } from '../../../platform/events/live-job-streams.ts'
import { systemClock } from '../../../lib/clock.ts'
import { silentLog } from '../../../lib/log.ts'
import type { Handlers } from '../handler.ts'
import { createHttpServer, type HttpServer } from '../server.ts'

const JOB = '018f4e9a-7b1c-7c3d-8e4f-0123456789ab'

describe('a wait for a job over /mcp', () => {
  let server: HttpServer
  let url: string
  const clients: AbortController[] = []
  /** Kept, because fetch cancels an unread body when its response is garbage-collected. */
  const responses: Response[] = []
  afterEach(async () => {
    for (const client of clients.splice(0)) client.abort()
    responses.splice(0)
    await server.close()
  })

  /** Serves one job that never ends. Returns how many listen to it. */
  async function serve(): Promise<() => number> {
    const liveStreams = createLiveJobStreams()
    let listeners = 0
    server = createHttpServer({
      handlers: { getJob: () => ({ job: { id: JOB, status: 'running', result: null, output: null, error: null } }) } as unknown as Handlers,
      auth: { authMode: 'local-trust', workerSecret: 'x'.repeat(32) },
      gate: { authMode: 'local-trust', hosts: new Set(), origins: new Set() },
      mcp: {
        answersApprovals: () => false,
        newSessionId: () => JOB,
        liveStreams: {
          attach(jobId, listener) {
            listeners++
            const detach = liveStreams.attach(jobId, listener)
            return () => {
              listeners--
              detach()
            }
          },
        },
      },
      clock: systemClock,
      log: silentLog,
    })
    url = `http://127.0.0.1:${(await server.listen('127.0.0.1', 0)).port}/mcp`
    return () => listeners
  }

  async function post(message: object, session?: string, headers: Record<string, string> = {}): Promise<Response> {
    const client = new AbortController()
    clients.push(client)
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      signal: client.signal,
    })
    responses.push(response)
    return response
  }

  const wait = (id: number | string, session?: string, headers?: Record<string, string>) =>
    post({ id, method: 'tools/call', params: { name: 'get_job', arguments: { jobId: JOB, waitSeconds: 600 } } }, session, headers)
  const cancel = async (requestId: number | string, session?: string) =>
    expect((await post({ method: 'notifications/cancelled', params: { requestId } }, session)).status).toBe(202)

  it('is cancelled by its own client only', async () => {
    const listeners = await serve()
    const mine = await wait(7, 'mine')
    await wait(7, 'others')
    await expect.poll(listeners).toBe(2)
    await cancel('7', 'mine')
    await cancel(8, 'mine')
    await cancel(7)
    expect([listeners(), server.streams()]).toEqual([2, 2])
    await cancel(7, 'mine')
    expect(await mine.text()).not.toContain('result')
    expect([listeners(), server.streams()]).toEqual([1, 1])
  })

  it('ends when the client disconnects', async () => {
    const listeners = await serve()
    await wait(1)
    await expect.poll(listeners).toBe(1)
    clients[0]!.abort()
    await expect.poll(listeners).toBe(0)
    expect(server.streams()).toBe(0)
  })

  it('returns at once when too many of the same client wait already', async () => {
    const listeners = await serve()
    for (let i = 0; i < 64; i++) await wait(i)
    await expect.poll(listeners).toBe(64)
    expect(await (await wait(64)).text()).toContain('running')
    expect(listeners()).toBe(64)
    await wait(65, undefined, { 'x-deckhand-role': 'member' })
    await expect.poll(listeners).toBe(65)
  })
})
