import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Clock } from '../lib/clock.ts'
import type { Trigger } from '../contract/triggers.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'
import { postWebhook, type SentDelivery } from '../testing/webhook-sender.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let runner: TestRunner
afterEach(() => runner.stop())

async function start(options: Parameters<typeof createTestRunner>[0] = {}): Promise<{ trigger: Trigger; url: string }> {
  runner = await createTestRunner(options)
  const agent = await runner.addAgent()
  await runner.client.ok('updateSettings', { body: { pauseAll: true } })
  return runner.client.ok('createTrigger', { body: { name: 'Builds', agentId: agent.id, taskTemplate: 'Look.' } })
}

const here = (url: string) => url.replace(/:\d+\//, `:${runner.port}/`)

async function fire(url: string, times: number): Promise<SentDelivery[]> {
  const answers: SentDelivery[] = []
  for (let i = 0; i < times; i++) answers.push(await postWebhook(here(url)))
  return answers
}

/** The responses to a number of deliveries in a row: `30×202 1×429`. */
async function statusesOf(url: string, times: number): Promise<string> {
  const counts = new Map<number, number>()
  for (const { status } of await fire(url, times)) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => `${count}×${status}`).join(' ')
}

async function jobsMade(): Promise<number> {
  const { jobs } = await runner.client.ok('listJobs', { query: { channel: 'webhook', limit: 200 } })
  return jobs.length
}

/** A hand clock whose wall can be set. */
function createSettableClock(): Clock & Pick<HandClock, 'advance'> & { set(ms: number): void } {
  const hand = createHandClock()
  let skew = 0
  return { ...hand, now: () => hand.now() + skew, set: (ms) => void (skew += ms) }
}

describe('the limit of thirty deliveries an hour', () => {
  it('accepts thirty of two hundred that arrive at once', async () => {
    const { trigger, url } = await start()
    const answers = await Promise.all(Array.from({ length: 200 }, () => postWebhook(url)))
    const accepted = answers.filter(({ status }) => status === 202)
    expect(accepted).toHaveLength(30)
    expect(new Set(accepted.map(({ body }) => body.jobId)).size).toBe(30)
    const refused = answers.filter(({ status }) => status !== 202)
    expect(new Set(refused.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['429 {"error":"rate_limited"}']))
    expect(await jobsMade()).toBe(30)
    expect((await runner.client.ok('getTrigger', { params: { triggerId: trigger.id } })).trigger).toMatchObject({
      triggerCount: 30,
      firesThisHour: 30,
    })
    const { deliveries } = await runner.client.ok('listDeliveries', { params: { triggerId: trigger.id }, query: { limit: 200 } })
    expect(deliveries.find(({ outcome }) => outcome === 'rate_limited')).toMatchObject({ times: 170, status: 429 })
    expect(deliveries.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(30)
  })

  it('holds after the process was killed', async () => {
    const { url } = await start()
    expect(await statusesOf(url, 30)).toBe('30×202')
    await runner.restart({ crash: true })
    expect(await statusesOf(url, 1)).toBe('1×429')
    expect(await jobsMade()).toBe(30)
  })

  it('accepts the next delivery when Retry-After says', async () => {
    const clock = createHandClock()
    const { url } = await start({ clock })
    await fire(url, 1)
    clock.advance(10 * MINUTE)
    await fire(url, 29)
    const [refused] = await fire(url, 1)
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '3000' } })
    clock.advance(50 * MINUTE - 1000)
    expect((await fire(url, 1))[0]).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    clock.advance(1000)
    expect(await statusesOf(url, 2)).toBe('1×202 1×429')
    clock.advance(10 * MINUTE)
    expect(await statusesOf(url, 30)).toBe('29×202 1×429')
  })

  it('is separate for each webhook', async () => {
    const { trigger, url } = await start()
    await fire(url, 30)
    const other = await runner.client.ok('createTrigger', { body: { name: 'Other', agentId: trigger.agentId, taskTemplate: 'Look.' } })
    expect(await statusesOf(other.url, 1)).toBe('1×202')
    expect(await statusesOf(url, 1)).toBe('1×429')
  })

  it('stays when the webhook is paused or its secret is rotated', async () => {
    const { trigger, url } = await start()
    await fire(url, 30)
    await runner.client.ok('pauseTrigger', { params: { triggerId: trigger.id } })
    await runner.client.ok('resumeTrigger', { params: { triggerId: trigger.id } })
    const rotated = await runner.client.ok('rotateTriggerSecret', { params: { triggerId: trigger.id } })
    expect(await statusesOf(rotated.url, 1)).toBe('1×429')
  })

  it('does not count refused deliveries', async () => {
    const { url } = await start()
    for (let i = 0; i < 10; i++) {
      expect((await postWebhook(url, { body: 'no JSON' })).status).toBe(400)
      expect((await postWebhook(url, { headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
      expect((await postWebhook(url, { body: `"${'x'.repeat(1_000_000)}"` })).status).toBe(413)
      expect((await postWebhook(`${url}x`)).status).toBe(404)
    }
    expect(await statusesOf(url, 31)).toBe('30×202 1×429')
  })

  it('refuses the 31st delivery before its body arrives', async () => {
    const { url } = await start()
    await fire(url, 30)
    const { pathname, host, port } = new URL(here(url))
    const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n`
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1' })
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        socket.destroy()
        resolve(chunk.toString())
      })
      socket.write(head)
    })
    expect(text).toMatch(/^HTTP\/1\.1 429 /)
    expect(text).toMatch(/retry-after: 3[56]\d\d\r\n/)
  })
})

describe('the limit when the clock is set', () => {
  it('back by two hours continues the hour', async () => {
    const clock = createSettableClock()
    const { url } = await start({ clock })
    await fire(url, 15)
    clock.set(-2 * HOUR)
    clock.advance(MINUTE)
    expect(await statusesOf(url, 20)).toBe('15×202 5×429')
    clock.advance(59 * MINUTE)
    expect(await statusesOf(url, 16)).toBe('15×202 1×429')
  })

  it('forward by two hours does not end the hour', async () => {
    const clock = createSettableClock()
    const { url } = await start({ clock })
    await fire(url, 30)
    clock.set(2 * HOUR)
    expect(await statusesOf(url, 1)).toBe('1×429')
    clock.advance(HOUR)
    expect(await statusesOf(url, 31)).toBe('30×202 1×429')
  })

  it('back while the runner is off waits for an hour at most', async () => {
    const clock = createSettableClock()
    const { url } = await start({ clock })
    await fire(url, 30)
    clock.set(-20 * HOUR)
    for (let i = 0; i < 3; i++) {
      await runner.restart({ crash: true })
      expect(await statusesOf(url, 1)).toBe('1×429')
      clock.advance(20 * MINUTE)
    }
    expect(await statusesOf(url, 31)).toBe('30×202 1×429')
  })

  it('not at all continues the hour after a restart', async () => {
    const clock = createSettableClock()
    const { url } = await start({ clock })
    await fire(url, 10)
    clock.advance(30 * MINUTE)
    await fire(url, 20)
    await runner.restart()
    clock.advance(29 * MINUTE)
    expect(await statusesOf(url, 1)).toBe('1×429')
    clock.advance(MINUTE)
    expect(await statusesOf(url, 11)).toBe('10×202 1×429')
  })
})
