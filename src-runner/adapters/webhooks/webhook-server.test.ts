import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { createEventHub } from '../../platform/events/event-hub.ts'
import { MAX_CONNECTIONS } from '../../contract/connection-limit.ts'
import { createMachineTime } from '../../platform/time/machine-time.ts'
import { silentLog } from '../../lib/log.ts'
import { createMemoryVault } from '../../lib/vault.ts'
import { createTrigger } from '../../domain/triggers/triggers.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { sendRaw } from '../../testing/raw-http.ts'
import { openDelivery, postWebhook } from '../../testing/webhook-sender.ts'
import { openWebhookServer, type WebhookServer } from './webhook-server.ts'
import { createWebhooks, type Webhooks } from './webhooks.ts'

const DEADLINES = { headersMs: 300, requestMs: 300, checkEveryMs: 50 }

let rig: DomainRig
let webhooks: Webhooks
let listener: WebhookServer
let url: string
let secret: string
const nonces = new Set<string>()

beforeEach(async () => {
  rig = openDomainRig()
  const { db, clock, ids, store: jobs } = rig
  const time = createMachineTime(clock, null)
  const vault = createMemoryVault()
  const probe = (nonce: string) => nonces.delete(nonce)
  webhooks = createWebhooks({ db, hub: createEventHub({ db }), jobs, vault, clock, ids, log: silentLog, time, probe })
  const agentId = rig.addAgent('Ada').id
  const fields = { agentId, notifyOnSuccess: false, notifyVia: 'auto', signature: null, dedupe: false, requirePlaceholders: false } as const
  const made = transact(db, (tx) =>
    createTrigger(tx, { clock, ids, time }, ids.next(), { name: 'Builds', taskTemplate: 'Look.', ...fields }),
  )
  secret = made.secret
  listener = await openWebhookServer(webhooks.handle, 0, DEADLINES)
  url = `http://127.0.0.1:${listener.port}`
})

afterEach(async () => {
  await listener.close(0)
  webhooks.stop()
  rig.close()
})

describe('the webhook server', () => {
  it('accepts deliveries for any host name and serves nothing else', async () => {
    const headers = { 'content-type': 'application/json', host: 'hooks.example.com', 'x-forwarded-for': '1.2.3.4' }
    expect(await postWebhook(`${url}/webhooks/builds/${secret}`, { headers })).toMatchObject({ status: 202, body: { ok: true } })
    const wrong = await postWebhook(`${url}/webhooks/builds/x`)
    expect(wrong).toMatchObject({ status: 404, text: '{"error":"not_found"}' })
    for (const line of [
      'GET /api/health',
      'POST /api/agent',
      'GET /',
      'POST /webhooks/builds',
      `GET /webhooks/builds/${secret}`,
      'OPTIONS *',
    ]) {
      const answer = await sendRaw(listener.port, `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      expect([line, answer.status, answer.body]).toEqual([line, 404, '{"error":"not_found"}'])
    }
  })

  it('answers a probe once, and otherwise like a wrong address', async () => {
    nonces.add('nonce-1')
    expect(await postWebhook(`${url}/webhooks/probe/nonce-1`)).toMatchObject({ status: 200, text: '{"ok":true}' })
    const again = await postWebhook(`${url}/webhooks/probe/nonce-1`)
    const nothing = await postWebhook(`${url}/webhooks/nothing/nonce-1`)
    expect([again.status, again.text]).toEqual([nothing.status, nothing.text])
    expect({ ...again.headers, date: '' }).toEqual({ ...nothing.headers, date: '' })
  })

  it('closes connections whose headers or body do not arrive in time', async () => {
    const started = `POST /webhooks/builds/${secret} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`
    for (const bytes of ['POST /webhooks/builds/x HTTP/1.1\r\nHost', started]) {
      const answer = await sendRaw(listener.port, bytes)
      expect([answer.status, answer.body]).toEqual([408, '{"error":"request_timeout"}'])
    }
    const kept = () => (webhooks.flush(), rig.db.prepare('SELECT outcome, status, times FROM webhook_refusals').all())
    await expect.poll(kept).toEqual([{ outcome: 'incomplete', status: 408, times: 1 }])
  })

  it('holds a limited number of connections, and accepts others when some have ended', async () => {
    const sockets: Socket[] = []
    /** Whether it stays open. */
    const open = async () => {
      const socket = connect(listener.port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)])
    }
    const accepted = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, open))
    expect([accepted.every(Boolean), await open()]).toEqual([true, false])
    sockets[0]!.destroy()
    await expect.poll(open).toBe(true)
    for (const socket of sockets) socket.destroy()
  })

  it('finishes deliveries under way when it closes, and accepts no new ones', async () => {
    const open = await Promise.all(Array.from({ length: 20 }, () => openDelivery(`${url}/webhooks/builds/${secret}`)))
    const closed = listener.close(2000)
    const answers = await Promise.all(open.map(({ finish }) => finish()))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(20)
    await closed
    const agent = new Agent({ keepAlive: false })
    await expect(postWebhook(`${url}/webhooks/builds/${secret}`, { agent })).rejects.toThrow(/ECONNREFUSED/)
    expect(rig.store.countJobs(rig.db).pending).toBe(20)
  })
})
