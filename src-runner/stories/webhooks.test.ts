import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CreateTrigger, DeliveryDetail, Trigger } from '../contract/triggers.ts'
import { createIds } from '../lib/ids.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { sendRaw } from '../testing/raw-http.ts'
import { openDelivery, postWebhook } from '../testing/webhook-sender.ts'

let runner: TestRunner
let agentId: string

async function startRunner(options: Parameters<typeof createTestRunner>[0] = {}): Promise<void> {
  runner = await createTestRunner(options)
  agentId = (await runner.addAgent()).id
}

/** Jobs stay pending, because only deliveries are tested. */
async function startQuietly(options: Parameters<typeof createTestRunner>[0] = {}): Promise<void> {
  await startRunner(options)
  await runner.client.ok('updateSettings', { body: { pauseAll: true } })
}

function addTrigger(fields: Partial<CreateTrigger> = {}): Promise<{ trigger: Trigger; url: string }> {
  return runner.client.ok('createTrigger', { body: { name: 'Build failed', agentId, taskTemplate: 'Look at {build.name}.', ...fields } })
}

async function triggerNow(triggerId: string): Promise<Trigger> {
  return (await runner.client.ok('getTrigger', { params: { triggerId } })).trigger
}

async function inboxOf(triggerId: string) {
  return (await runner.client.ok('listDeliveries', { params: { triggerId }, query: { limit: 200 } })).deliveries
}

async function detailOf(deliveryId: string): Promise<DeliveryDetail> {
  return (await runner.client.ok('getDelivery', { params: { deliveryId } })).delivery
}

async function jobsOf(triggerId: string): Promise<number> {
  let jobs = 0
  for (let cursor: string | undefined; ;) {
    const page = await runner.client.ok('listJobs', { query: { channel: 'webhook', limit: 200, cursor } })
    jobs += page.jobs.filter((job) => job.triggerId === triggerId).length
    if (page.nextCursor === null) return jobs
    cursor = page.nextCursor
  }
}

afterEach(() => runner.stop())

describe('a delivery', () => {
  it('becomes a job with its values in the task template', async () => {
    await startRunner()
    const { trigger, url } = await addTrigger()
    const answer = await postWebhook(url, { body: { build: { name: 'main #4' } } })
    expect(answer).toMatchObject({ status: 202, body: { ok: true } })
    expect(Object.keys(answer.body)).toEqual(['ok', 'jobId'])
    const job = await runner.ended(answer.body.jobId!)
    expect(job).toMatchObject({ channel: 'webhook', triggerId: trigger.id, agentId, status: 'completed', title: 'Look at main #4.' })
    expect(job.context).toMatchObject({ trigger: { id: trigger.id, name: 'Build failed', slug: 'build-failed' } })
    expect(job.task).toContain('Look at main #4.')
    const now = await triggerNow(trigger.id)
    expect(now).toMatchObject({ triggerCount: 1, firesThisHour: 1, lastOutcome: 'accepted' })
    expect(now.lastTriggeredAt).toBeGreaterThanOrEqual(trigger.createdAt)
  })

  it('is stored with its body, the task and the informative headers', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger()
    const payload = '{ "build": {"name": "a",  "name": "b"}, "n": 1e400 }\n'
    const { body } = await postWebhook(url, {
      body: payload,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': 'd-1',
        'user-agent': 'GitHub-Hookshot/1',
        authorization: 'Bearer very-secret-token',
        cookie: 'session=very-secret-cookie',
        'x-hub-signature-256': 'sha256=very-secret-signature',
        'x-gitlab-token': 'very-secret-gitlab',
        referer: url,
      },
    })
    const [delivery, ...others] = await inboxOf(trigger.id)
    expect(others).toEqual([])
    expect(delivery).toMatchObject({
      kind: 'webhook',
      outcome: 'accepted',
      status: 202,
      times: 1,
      jobId: body.jobId,
      bytes: payload.length,
      senderId: 'd-1',
      eventName: 'push',
      replayOfId: null,
    })
    const detail = await detailOf(delivery!.id)
    const { job } = await runner.client.ok('getJob', { params: { jobId: body.jobId! } })
    expect(detail.payload).toBe(payload)
    expect(detail.prompt).toBe(job.task)
    expect(job.title).toBe('Look at b.')
    expect(detail.headers).toEqual({
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': 'd-1',
      'user-agent': 'GitHub-Hookshot/1',
    })
  })

  it.each([
    'application/json',
    'application/cloudevents+json; charset=UTF-8',
    // Amazon SNS sends JSON with this type.
    'text/plain; charset=UTF-8',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'no type at all',
    undefined,
  ])('of type %j is accepted if its body is JSON', async (type) => {
    await startQuietly()
    const { trigger, url } = await addTrigger()
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
    expect(await postWebhook(url, { body: { build: { name: 'x' } }, headers })).toMatchObject({ status: 202 })
    expect(await postWebhook(url, { body: 'payload=%7B%7D', headers })).toMatchObject({ status: 400, text: '{"error":"invalid_request"}' })
    expect((await triggerNow(trigger.id)).triggerCount).toBe(1)
  })

  it('with missing placeholders is marked in the inbox and in its job', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger({ taskTemplate: 'Look at {build.name} by {build.author}, {build.author} and {note}.' })
    const { body } = await postWebhook(url, { body: { build: { name: 'x' }, note: null } })
    expect((await inboxOf(trigger.id))[0]).toMatchObject({ outcome: 'accepted', missing: ['build.author'] })
    const { job } = await runner.client.ok('getJob', { params: { jobId: body.jobId! } })
    expect(job).toMatchObject({ title: 'Look at x by , and null.', context: { missing: ['build.author'] } })
  })

  it('with missing placeholders is refused if the webhook requires them, and can be replayed', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger({ requirePlaceholders: true })
    expect(trigger.requirePlaceholders).toBe(true)
    const answer = await postWebhook(url, { body: { build: {} } })
    expect(answer).toMatchObject({ status: 400, text: '{"error":"placeholder_missing"}' })
    const [refused] = await inboxOf(trigger.id)
    expect(refused).toMatchObject({ outcome: 'placeholder_missing', status: 400, jobId: null })
    expect((await detailOf(refused!.id)).payload).toBe('{"build":{}}')
    expect((await triggerNow(trigger.id)).triggerCount).toBe(0)
    expect((await postWebhook(url, { body: { build: { name: '' } } })).status).toBe(202)
    const sendTest = (payload: string) => runner.client.ask('testTrigger', { params: { triggerId: trigger.id }, body: { payload } })
    expect(await sendTest('{"build":{}}')).toMatchObject({ status: 400, body: { error: 'placeholder_missing' } })
    expect((await sendTest('{"build":{"name":"x"}}')).status).toBe(202)
    expect((await runner.client.ask('replayDelivery', { params: { deliveryId: refused!.id } })).status).toBe(202)
  })

  it('from GitHub as a ping is recorded, creates no job and does not count', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger({ taskTemplate: 'Look at {action}.', requirePlaceholders: true })
    const headers = { 'content-type': 'application/json', 'x-github-event': 'ping', 'x-github-delivery': 'p-1' }
    const ping = () => postWebhook(url, { body: { zen: 'Keep it logically awesome.', hook_id: 1 }, headers })
    expect(await ping()).toMatchObject({ status: 202, text: '{"ok":true}' })
    for (let n = 0; n < 30; n++) expect((await postWebhook(url, { body: { action: 'opened' } })).status).toBe(202)
    expect(await ping()).toMatchObject({ status: 202, text: '{"ok":true}' })
    const inbox = await inboxOf(trigger.id)
    expect(inbox.filter(({ outcome }) => outcome === 'ping')).toMatchObject([
      { status: 202, jobId: null, eventName: 'ping', senderId: 'p-1' },
      { status: 202, jobId: null, eventName: 'ping', senderId: 'p-1' },
    ])
    expect(await triggerNow(trigger.id)).toMatchObject({ triggerCount: 30, firesThisHour: 30, lastOutcome: 'ping' })
    expect(await jobsOf(trigger.id)).toBe(30)
  })

  it('without a content type is read as JSON', async () => {
    await startQuietly()
    const { url } = await addTrigger()
    expect(await postWebhook(url, { body: 'a=b', headers: {} })).toMatchObject({ status: 400, text: '{"error":"invalid_request"}' })
  })

  it('to a webhook without an agent is refused and recorded', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger({ agentId: null })
    expect(trigger).toMatchObject({ agentId: null, agentName: null })
    const answer = await postWebhook(url, { body: { a: 1 } })
    expect(answer).toMatchObject({ status: 400, text: '{"error":"trigger_has_no_agent"}' })
    const [delivery] = await inboxOf(trigger.id)
    expect(delivery).toMatchObject({ outcome: 'no_agent', status: 400, jobId: null })
    expect(await detailOf(delivery!.id)).toMatchObject({ payload: '{"a":1}', prompt: null })
    expect(await triggerNow(trigger.id)).toMatchObject({ triggerCount: 0, lastTriggeredAt: null, firesThisHour: 0 })
  })

  it('to a webhook whose agent is deleted meanwhile creates no job', async () => {
    await startQuietly()
    const other = await runner.addAgent({ name: 'Other' })
    const { trigger, url } = await addTrigger({ agentId: other.id })
    const open = await openDelivery(url, '{}')
    await runner.client.ok('deleteAgent', { params: { agentId: other.id } })
    expect(await open.finish()).toMatchObject({ status: 400, text: '{"error":"trigger_has_no_agent"}' })
    expect(await triggerNow(trigger.id)).toMatchObject({ agentId: null, triggerCount: 0 })
    expect(await jobsOf(trigger.id)).toBe(0)
  })

  it.each(['pauseTrigger', 'deleteTrigger', 'rotateTriggerSecret'] as const)(
    'under way when the owner calls %s is answered as if there were nothing',
    async (call) => {
      await startQuietly()
      const { trigger, url } = await addTrigger()
      const open = await openDelivery(url, '{}')
      await runner.client.ok(call, { params: { triggerId: trigger.id } })
      expect(await open.finish()).toMatchObject({ status: 404, text: '{"error":"not_found"}' })
      expect(await jobsOf(trigger.id)).toBe(0)
      if (call !== 'deleteTrigger') expect(await triggerNow(trigger.id)).toMatchObject({ triggerCount: 0, firesThisHour: 0 })
    },
  )

  it('changes nothing if its job cannot be created, and can be replayed', async () => {
    const ids = createIds(() => Date.now())
    let isFailing = false
    const faulty = {
      next() {
        if (isFailing) throw new Error('the fault of this test')
        return ids.next()
      },
    }
    await startQuietly({ ids: faulty })
    const { trigger, url } = await addTrigger()
    isFailing = true
    expect(await postWebhook(url, { body: { build: { name: 'x' } } })).toMatchObject({
      status: 500,
      text: '{"error":"job_creation_failed"}',
    })
    isFailing = false
    expect(await triggerNow(trigger.id)).toMatchObject({ triggerCount: 0, lastTriggeredAt: null, firesThisHour: 0 })
    expect(await jobsOf(trigger.id)).toBe(0)
    const [delivery] = await inboxOf(trigger.id)
    expect(delivery).toMatchObject({ outcome: 'job_creation_failed', status: 500, times: 1 })
    const replayed = await runner.client.ok('replayDelivery', { params: { deliveryId: delivery!.id } })
    expect((await runner.client.ok('getJob', { params: { jobId: replayed.jobId } })).job.task).toContain('Look at x.')
  })

  it('creates its job even if another one of the same commit fails', async () => {
    const ids = createIds(() => Date.now())
    let isFailing = false
    let made = 0
    const faulty = {
      next() {
        if (isFailing && ++made % 7 === 0) throw new Error('the fault of this test')
        return ids.next()
      },
    }
    await startQuietly({ ids: faulty })
    const { trigger, url } = await addTrigger()
    isFailing = true
    const answers = await Promise.all(Array.from({ length: 29 }, () => postWebhook(url)))
    isFailing = false
    const accepted = answers.filter(({ status }) => status === 202)
    expect(answers.filter(({ status }) => status === 500)).toHaveLength(29 - accepted.length)
    expect(accepted.length).toBeGreaterThan(10)
    expect(accepted.length).toBeLessThan(29)
    expect(await triggerNow(trigger.id)).toMatchObject({ triggerCount: accepted.length, firesThisHour: accepted.length })
    expect(new Set(accepted.map(({ body }) => body.jobId)).size).toBe(await jobsOf(trigger.id))
    expect((await inboxOf(trigger.id)).filter(({ outcome }) => outcome === 'accepted')).toHaveLength(accepted.length)
  })

  it('is refused while the disk is full, and accepted when there is room', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger()
    const makeRoom = runner.fillDisk()
    const body = { build: { name: 'x'.repeat(500_000) } }
    expect(await postWebhook(url, { body })).toMatchObject({ status: 503, text: '{"error":"disk_full"}' })
    makeRoom()
    expect(await triggerNow(trigger.id)).toMatchObject({ triggerCount: 0, firesThisHour: 0 })
    expect((await postWebhook(url, { body })).status).toBe(202)
  })

  it('is accepted in safe mode, and its job runs while older ones wait', async () => {
    await startQuietly()
    const { url } = await addTrigger()
    const before = await postWebhook(url)
    await runner.restart({ config: { safeMode: true } })
    await runner.client.ok('updateSettings', { body: { pauseAll: false } })
    const after = await postWebhook(url.replace(/:\d+\//, `:${runner.port}/`))
    expect(after.status).toBe(202)
    expect(await runner.ended(after.body.jobId!)).toMatchObject({ status: 'completed' })
    const { job } = await runner.client.ok('getJob', { params: { jobId: before.body.jobId! } })
    expect(job.status).toBe('pending')
  })
})

describe('a repeated delivery', () => {
  const withId = (id: string) => ({ 'content-type': 'application/json', 'webhook-id': id })

  it('gets the first job and does not count', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger({ dedupe: true })
    const first = await postWebhook(url, { headers: withId('evt_1') })
    const again = await Promise.all(Array.from({ length: 40 }, () => postWebhook(url, { headers: withId('evt_1') })))
    expect(new Set(again.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`202 ${first.text}`]))
    const other = await postWebhook(url, { headers: withId('evt_2') })
    expect(other.body.jobId).not.toBe(first.body.jobId)
    expect(await triggerNow(trigger.id)).toMatchObject({ triggerCount: 2, firesThisHour: 2 })
    expect(await jobsOf(trigger.id)).toBe(2)
    const repeats = (await inboxOf(trigger.id)).filter(({ outcome }) => outcome === 'duplicate')
    expect(repeats.map(({ times, jobId, status }) => ({ times, jobId, status }))).toEqual([
      { times: 40, jobId: first.body.jobId, status: 202 },
    ])
  })

  it('gets the first job when all arrive at once', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger({ dedupe: true })
    const answers = await Promise.all(Array.from({ length: 20 }, () => postWebhook(url, { headers: withId('evt_1') })))
    expect(new Set(answers.map(({ body }) => body.jobId)).size).toBe(1)
    expect(await jobsOf(trigger.id)).toBe(1)
  })

  it('gets the first job after a crash, for each webhook separately', async () => {
    await startQuietly()
    const [one, two] = [await addTrigger({ dedupe: true }), await addTrigger({ dedupe: true })]
    const first = await postWebhook(one.url, { headers: withId('evt_1') })
    expect((await postWebhook(two.url, { headers: withId('evt_1') })).body.jobId).not.toBe(first.body.jobId)
    await runner.restart({ crash: true })
    const again = await postWebhook(one.url.replace(/:\d+\//, `:${runner.port}/`), { headers: withId('evt_1') })
    expect(again).toMatchObject({ status: 202, body: { jobId: first.body.jobId } })
  })

  it('creates two jobs without an id or without deduplication', async () => {
    await startQuietly()
    const [asked, plain] = [await addTrigger({ dedupe: true }), await addTrigger()]
    for (let i = 0; i < 2; i++) await postWebhook(asked.url)
    for (let i = 0; i < 2; i++) await postWebhook(plain.url, { headers: withId('evt_1') })
    expect(await jobsOf(asked.trigger.id)).toBe(2)
    expect(await jobsOf(plain.trigger.id)).toBe(2)
  })
})

describe('the inbox', () => {
  it('counts consecutive refusals, with the reason', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger()
    const wrong = `${url.slice(0, url.lastIndexOf('/'))}/nonsense`
    for (let i = 0; i < 5; i++) expect((await postWebhook(wrong)).status).toBe(404)
    expect((await inboxOf(trigger.id)).map(({ outcome, times }) => [outcome, times])).toEqual([['wrong_secret', 5]])
    for (let i = 0; i < 2; i++) await postWebhook(wrong)
    expect((await inboxOf(trigger.id)).map(({ outcome, times }) => [outcome, times])).toEqual([['wrong_secret', 7]])
    await postWebhook(url)
    await runner.client.ok('pauseTrigger', { params: { triggerId: trigger.id } })
    await postWebhook(url)
    const deliveries = await inboxOf(trigger.id)
    expect(deliveries.map(({ outcome, status, times }) => [outcome, status, times])).toEqual([
      ['paused', 404, 1],
      ['accepted', 202, 1],
      ['wrong_secret', 404, 7],
    ])
    expect(await detailOf(deliveries[2]!.id)).toMatchObject({ payload: null, headers: {}, senderId: null })
    expect(await triggerNow(trigger.id)).toMatchObject({ lastOutcome: 'paused' })
  })

  it('counts a refusal once when several deliveries follow it', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger()
    await postWebhook(`${url}x`, { body: {} })
    const { pathname } = new URL(url)
    const one = `POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2`
    // In one turn of the event loop, and so in one transaction.
    const { text } = await sendRaw(runner.port, `${`${one}\r\n\r\n{}`.repeat(4)}${one}\r\nconnection: close\r\n\r\n{}`)
    expect(text.match(/HTTP\/1.1 202/g)).toHaveLength(5)
    const rows = (await inboxOf(trigger.id)).map(({ outcome, times }) => `${outcome} ${times}`)
    expect(rows).toEqual([...Array.from({ length: 5 }, () => 'accepted 1'), 'wrong_secret 1'])
  })

  it('counts refusals that arrive with accepted deliveries', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger()
    await postWebhook(`${url}x`, { body: {} })
    const one = `POST ${new URL(url).pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2`
    const { text } = await sendRaw(runner.port, `${`${one}\r\n\r\n{}`.repeat(34)}${one}\r\nconnection: close\r\n\r\n{}`)
    expect([text.match(/HTTP\/1.1 202/g)?.length, text.match(/HTTP\/1.1 429/g)?.length]).toEqual([30, 5])
    const refused = (await inboxOf(trigger.id)).filter(({ outcome }) => outcome !== 'accepted')
    expect(refused.map(({ outcome, times }) => `${outcome} ${times}`)).toEqual(['rate_limited 5', 'wrong_secret 1'])
  })

  it('emits one event for many refusals', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger()
    const { events, close } = await runner.client.stream('streamEvents')
    for (let i = 0; i < 3; i++) await postWebhook(url, { body: 'no JSON' })
    // They are written without being read.
    for await (const { event, data } of events) {
      if (event !== 'delivery.refused') continue
      expect(data).toEqual({ triggerId: trigger.id, outcome: 'invalid_json' })
      break
    }
    close()
    const [refused] = await inboxOf(trigger.id)
    expect(refused).toMatchObject({ outcome: 'invalid_json', status: 400, times: 3 })
    expect((await detailOf(refused!.id)).payload).toBe('no JSON')
  })

  it('keeps the bodies of the last 200 accepted deliveries', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger()
    const first = await postWebhook(url, { body: { build: { name: 'first' } } })
    const wrong = `${url.slice(0, url.lastIndexOf('/'))}/nonsense`
    for (let i = 0; i < 199; i++) {
      await runner.client.ok('testTrigger', { params: { triggerId: trigger.id }, body: { payload: '{}' } })
      // Alternating, so that each has its own row.
      if (i < 60) {
        await postWebhook(wrong)
        await inboxOf(trigger.id)
      }
    }
    const all = async () => {
      const params = { triggerId: trigger.id }
      const page = await runner.client.ok('listDeliveries', { params, query: { limit: 200 } })
      const rest = await runner.client.ok('listDeliveries', { params, query: { limit: 200, cursor: page.nextCursor! } })
      return [...page.deliveries, ...rest.deliveries]
    }
    const before = await all()
    expect(before.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(200)
    expect(before.at(-1)).toMatchObject({ jobId: first.body.jobId })
    expect(before.filter(({ outcome }) => outcome === 'wrong_secret').length).toBeLessThanOrEqual(50)
    await runner.client.ok('testTrigger', { params: { triggerId: trigger.id }, body: { payload: '{}' } })
    const after = await all()
    expect(after.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(200)
    expect(after.some(({ jobId }) => jobId === first.body.jobId)).toBe(false)
  })

  it('is deleted with its webhook, and the jobs stay', async () => {
    await startQuietly()
    const { trigger, url } = await addTrigger()
    const { body } = await postWebhook(url)
    const [delivery] = await inboxOf(trigger.id)
    await runner.client.ok('deleteTrigger', { params: { triggerId: trigger.id } })
    expect(await runner.client.ask('getDelivery', { params: { deliveryId: delivery!.id } })).toMatchObject({ status: 404 })
    expect((await runner.client.ok('getJob', { params: { jobId: body.jobId! } })).job).toMatchObject({ triggerId: trigger.id })
    expect((await postWebhook(url)).text).toBe('{"error":"not_found"}')
  })
})

describe('a manual delivery', () => {
  beforeEach(() => startQuietly())

  it('is handled like a real one and does not count', async () => {
    const { trigger } = await addTrigger({ dedupe: true, signature: { scheme: 'github', secret: 'shhh' } })
    const payload = '{"build": {"name": "by hand"}, "type": "build.failed"}'
    const { jobId, delivery } = await runner.client.ok('testTrigger', { params: { triggerId: trigger.id }, body: { payload } })
    expect(delivery).toMatchObject({ kind: 'test', outcome: 'accepted', status: 202, jobId, eventName: 'build.failed' })
    const { job } = await runner.client.ok('getJob', { params: { jobId } })
    expect(job).toMatchObject({ channel: 'webhook', triggerId: trigger.id })
    expect(job.task).toContain('Look at by hand.')
    expect(await detailOf(delivery.id)).toMatchObject({ payload, prompt: job.task })
    expect(await triggerNow(trigger.id)).toMatchObject({ triggerCount: 0, lastTriggeredAt: null, firesThisHour: 0 })
  })

  it('replays a delivery with its body and headers', async () => {
    const { trigger, url } = await addTrigger({ dedupe: true })
    const headers = { 'content-type': 'application/json', 'x-github-event': 'push', 'x-github-delivery': 'd-1' }
    await postWebhook(url, { body: '{"build":{"name":"again"}}', headers })
    const [first] = await inboxOf(trigger.id)
    const { jobId, delivery } = await runner.client.ok('replayDelivery', { params: { deliveryId: first!.id } })
    expect(jobId).not.toBe(first!.jobId)
    expect(delivery).toMatchObject({ kind: 'replay', replayOfId: first!.id, eventName: 'push', senderId: 'd-1' })
    expect((await detailOf(delivery.id)).payload).toBe('{"build":{"name":"again"}}')
    expect(await triggerNow(trigger.id)).toMatchObject({ triggerCount: 1, firesThisHour: 1 })
  })

  it('is refused with the reason', async () => {
    const { trigger, url } = await addTrigger()
    const send = (triggerId: string, payload: string) => runner.client.ask('testTrigger', { params: { triggerId }, body: { payload } })
    expect(await send(trigger.id, 'no JSON')).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(await send(trigger.id, `"${'ö'.repeat(500_000)}"`)).toMatchObject({ status: 413, body: { error: 'payload_too_large' } })
    const { trigger: lonely } = await addTrigger({ agentId: null })
    expect(await send(lonely.id, '{}')).toMatchObject({ status: 400, body: { error: 'trigger_has_no_agent' } })
    await postWebhook(`${url}x`)
    await postWebhook(url)
    const [taken, refused] = await inboxOf(trigger.id)
    expect(await runner.client.ask('replayDelivery', { params: { deliveryId: refused!.id } })).toMatchObject({
      status: 409,
      body: { error: 'delivery_has_no_payload' },
    })
    await runner.client.ok('pauseTrigger', { params: { triggerId: trigger.id } })
    expect(await send(trigger.id, '{}')).toMatchObject({ status: 409, body: { error: 'trigger_is_paused' } })
    expect(await runner.client.ask('replayDelivery', { params: { deliveryId: taken!.id } })).toMatchObject({ status: 409 })
    await runner.client.ok('deleteTrigger', { params: { triggerId: trigger.id } })
    expect(await send(trigger.id, '{}')).toMatchObject({ status: 404, body: { error: 'trigger_not_found' } })
    expect(await runner.client.ask('replayDelivery', { params: { deliveryId: taken!.id } })).toMatchObject({ status: 404 })
  })

  it('can be previewed before the webhook exists', async () => {
    const body = { taskTemplate: 'Look at {build.name} and {build.gone}.', payload: '{"build":{"name":"x"}}' }
    const shown = await runner.client.ok('previewTemplate', { body })
    expect(shown.problem).toBeNull()
    expect(shown.prompt).toMatch(/^A webhook started this job[^]*Look at x and \.[^]*Look at \{build\.name\} and \{build\.gone\}\.$/)
    expect(shown.plainPrompt).toBe('Look at x and .')
    expect(shown.placeholders).toEqual([
      { path: 'build.name', state: 'filled', value: 'x' },
      { path: 'build.gone', state: 'missing', value: '' },
    ])
    const broken = await runner.client.ok('previewTemplate', { body: { ...body, payload: '{' } })
    expect(broken).toMatchObject({ prompt: null, plainPrompt: null, placeholders: [] })
    expect(broken.problem).toEqual(expect.objectContaining({ code: 'payload_not_json' }))
    expect(await runner.client.ok('listJobs')).toMatchObject({ jobs: [] })
  })
})
