import { afterEach, beforeEach, expect, test } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { createEventHub } from '../../platform/events/event-hub.ts'
import { createMachineTime } from '../../platform/time/machine-time.ts'
import { silentLog } from '../../lib/log.ts'
import { createMemoryVault } from '../../lib/vault.ts'
import { createTrigger } from '../../domain/triggers/triggers.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { postWebhook } from '../../testing/webhook-sender.ts'
import { openWebhookServer, type WebhookServer } from './webhook-server.ts'
import { createWebhooks, type Webhooks } from './webhooks.ts'

const DEADLINES = { headersMs: 5000, requestMs: 5000, checkEveryMs: 1000 }
const HOUR = 3_600_000

let rig: DomainRig
let webhooks: Webhooks
let listener: WebhookServer | null = null
let path: string
let url: string

beforeEach(() => {
  rig = openDomainRig()
  const { db, clock, ids } = rig
  const agentId = rig.addAgent('Ada').id
  const fields = {
    agentId,
    taskTemplate: 'Look.',
    notifyOnSuccess: false,
    notifyVia: 'auto',
    signature: null,
    dedupe: false,
    requirePlaceholders: false,
  } as const
  const time = createMachineTime(clock, null)
  const { secret } = transact(db, (tx) => createTrigger(tx, { clock, ids, time }, ids.next(), { name: 'Builds', ...fields }))
  path = `/webhooks/builds/${secret}`
})
afterEach(async () => {
  await powerOff()
  rig.close()
})

/** Deckhand starts `uptimeMs` after the machine. */
async function powerOn(bootId: string, uptimeMs: number): Promise<void> {
  const { db, clock, ids, store: jobs } = rig
  const before = clock.monotonic()
  const time = createMachineTime(clock, { uptimeMs: () => uptimeMs + clock.monotonic() - before, bootId: () => bootId })
  webhooks = createWebhooks({ db, hub: createEventHub({ db }), jobs, vault: createMemoryVault(), clock, ids, log: silentLog, time })
  listener = await openWebhookServer(webhooks.handle, 0, DEADLINES)
  url = `http://127.0.0.1:${listener.port}${path}`
}

async function powerOff(): Promise<void> {
  if (listener === null) return
  await listener.close(0)
  listener = null
  webhooks.stop()
}

async function post(times: number): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < times; i++) statuses.push((await postWebhook(url)).status)
  return statuses
}

const all = (times: number, status: number) => Array<number>(times).fill(status)

/** As on a full disk: reading still works. */
function keepFromWriting(): () => void {
  rig.db.connection.pragma('query_only = on')
  return () => void rig.db.connection.pragma('query_only = off')
}

test('accepts no delivery until the fires of an earlier boot are carried over', async () => {
  await powerOn('a week ago', 7 * 24 * HOUR)
  expect(await post(31)).toEqual([...all(30, 202), 429])
  await powerOff()
  rig.clock.advance(2 * HOUR)

  const letWrite = keepFromWriting()
  await powerOn('today', 60_000)
  expect(await post(2)).toEqual(all(2, 503))
  letWrite()
  expect(await post(31)).toEqual([...all(30, 202), 429])
})

test('counts fires of two boots within the same hour', async () => {
  await powerOn('a week ago', 7 * 24 * HOUR)
  await post(20)
  await powerOff()
  rig.clock.advance(HOUR / 2)

  const letWrite = keepFromWriting()
  await powerOn('today', 60_000)
  letWrite()
  expect(await post(11)).toEqual([...all(10, 202), 429])
  rig.clock.advance(HOUR / 2)
  expect(await post(21)).toEqual([...all(20, 202), 429])
})
