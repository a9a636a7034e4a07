import { createMessage, englishText, quote } from '../lib/messages.ts'
import { messageMatching } from '../testing/message-matching.ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { Limits } from '../contract/agents.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { AppError } from '../lib/errors.ts'
import { createMemoryVault } from '../lib/vault.ts'
import type { OpenedStream, StreamedEvent } from '../testing/runner-client.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'

describe('trouble with a model', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  it('that is busy makes the job wait as requested, show it, and succeed', async () => {
    const clock = createHandClock()
    runner = await createTestRunner({ clock })
    const agent = await runner.addAgent()
    runner.modelServer.play({ fault: { kind: 'status', status: 429, headers: { 'retry-after': '7' } } }, { text: ['At last.'] })
    const { events, close } = await runner.client.stream('streamEvents')
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Try', agentId: agent.id } })
    let waitMs = 0
    for await (const { event, data } of events) {
      if (event === 'job.progress' && (data as { activity: string }).activity === 'retry_wait') {
        waitMs = (data as { until: number }).until - clock.now()
        break
      }
    }
    close()
    // A little more than requested, so that not all jobs return at the same moment.
    expect(waitMs).toBeGreaterThanOrEqual(7000)
    expect(waitMs).toBeLessThan(9000)
    clock.advance(waitMs - 1)
    expect(runner.modelServer.received.filter((request) => request.method === 'POST')).toHaveLength(1)
    clock.advance(1)
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed', result: 'At last.', turns: 1 })
  })

  it('that returns only errors makes the next model take over', async () => {
    runner = await createTestRunner()
    const main = await runner.addProvider({ name: 'Main' })
    const agent = await runner.addAgent({
      model: { providerId: main.id, model: 'large' },
      fallbacks: [{ providerId: 'demo', model: 'demo' }],
    })
    runner.modelServer.play({ fault: { kind: 'status', status: 404, error: { message: 'no such model' } } })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed', model: { providerId: 'demo', model: 'demo' } })
  })

  describe('that says nothing', () => {
    /** Lets two calls hang until they time out. Returns the notifications from then on. */
    async function hangTwice(clock: HandClock, submit: () => Promise<unknown>): Promise<OpenedStream> {
      const stream = await runner.client.stream('streamEvents')
      await submit()
      await runner.modelServer.untilReceived(1)
      clock.advance(120_000)
      const wait = await nextOf(stream, (event, data) => event === 'job.progress' && data['activity'] === 'retry_wait')
      clock.advance((wait['until'] as number) - clock.now())
      await runner.modelServer.untilReceived(2)
      clock.advance(120_000)
      return stream
    }
    async function nextOf({ events }: OpenedStream, fits: (event: string, data: Record<string, unknown>) => boolean) {
      for (;;) {
        const { value } = (await events.next()) as { value: StreamedEvent }
        const data = value.data as Record<string, unknown>
        if (fits(value.event, data)) return data
      }
    }
    const stall = { fault: { kind: 'stall', afterFrames: 0 } } as const

    it('frees the slot after two tries, notifies the owner, survives a crash, and continues by itself', async () => {
      const clock = createHandClock()
      runner = await createTestRunner({ clock })
      await runner.client.ok('updateSettings', { body: { concurrency: 1 } })
      const agent = await runner.addAgent()
      runner.modelServer.play(stall, stall)
      let jobId = ''
      const told = await hangTwice(clock, async () => {
        jobId = (await runner.client.ok('submitTask', { body: { task: 'Silence', agentId: agent.id } })).jobId
      })
      await nextOf(told, (event) => event === 'job.postponed')
      told.close()
      expect((await runner.client.ok('getJob', { params: { jobId } })).job.status).toBe('pending')
      expect(runner.notifications.at(-1)).toMatchObject({
        kind: 'job_failed',
        title: { code: 'notify_job_postponed', params: { job: 'Silence' } },
      })

      // The only slot is free.
      const other = await runner.client.ok('submitTask', { body: { task: 'Quick', agentId: agent.id } })
      expect((await runner.ended(other.jobId)).status).toBe('completed')

      await runner.restart({ crash: true })
      expect((await runner.client.ok('getJob', { params: { jobId } })).job.status).toBe('pending')
      clock.advance(30_000)
      expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
    })

    it('makes the next model of the agent take over', async () => {
      const clock = createHandClock()
      runner = await createTestRunner({ clock })
      const main = await runner.addProvider({ name: 'Main' })
      const agent = await runner.addAgent({
        model: { providerId: main.id, model: 'large' },
        fallbacks: [{ providerId: 'demo', model: 'demo' }],
      })
      runner.modelServer.play(stall, stall)
      let jobId = ''
      const told = await hangTwice(clock, async () => {
        jobId = (await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })).jobId
      })
      told.close()
      expect(await runner.ended(jobId)).toMatchObject({ status: 'completed', model: { providerId: 'demo', model: 'demo' } })
    })
  })

  it('whose key is in a locked keychain makes the job wait, notifies the owner, and continues when it is unlocked', async () => {
    const clock = createHandClock()
    const vault = createMemoryVault()
    runner = await createTestRunner({ clock, vault })
    const { id } = await runner.addProvider({ apiKey: 'a-key-of-somebody' })
    const agent = await runner.addAgent({ model: { providerId: id, model: 'large' } })
    const { get } = vault
    vault.get = () => Promise.reject(new AppError('vault_unavailable', createMessage('keychain_silent')))
    const { events, close } = await runner.client.stream('streamEvents')
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    for await (const { event } of events) if (event === 'job.postponed') break
    close()
    expect(runner.notifications.at(-1)).toMatchObject({ body: { code: 'keychain_silent' } })
    vault.get = get
    clock.advance(60_000)
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
    expect(runner.modelServer.received.at(-1)!.headers['authorization']).toBe('Bearer a-key-of-somebody')
  })

  it('that rejects the key fails the job at once with what to do, and notifies the owner', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    runner.modelServer.play({ fault: { kind: 'status', status: 401, error: { message: 'bad key' } } })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    const job = await runner.ended(jobId)
    expect(job).toMatchObject({ status: 'failed', error: 'model_auth', errorMessage: messageMatching('Test server') })
    expect(runner.modelServer.received.filter((request) => request.method === 'POST')).toHaveLength(1)
    const told = { kind: 'job_failed', title: quote(job.title), body: job.errorMessage }
    expect(runner.notifications).toEqual([{ ...told, path: `/jobs/${jobId}` }])
    const events = await runner.client.turn('streamJob', { params: { jobId } })
    expect(events.slice(1)).toMatchObject([
      { type: 'error', error: 'model_auth', message: englishText(job.errorMessage!), detail: job.errorMessage },
      { type: 'done', status: 'failed' },
    ])
  })

  it.each<[string, Partial<Limits>, string, number]>([
    ['turns', { maxTurns: 2 }, 'turn_limit', 2],
    ['tool calls', { maxToolCalls: 1 }, 'tool_call_limit', 2],
  ])('that never ends is stopped by the limit of %s, which keeps the text', async (_what, limits, code, mostTurns) => {
    runner = await createTestRunner({
      modelServer: {
        fallback: { text: ['Again.'], toolCalls: [{ id: 'call', name: 'list_files', args: {} }], usage: { input: 1000, output: 100 } },
      },
    })
    const agent = await runner.addAgent({ folders: [runner.makeFolder()], limits })
    await runner.client.ok('setModelPrice', { body: { model: agent.model!, price: { inputUsdPerMillion: 15, outputUsdPerMillion: 75 } } })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Loop', agentId: agent.id } })
    const job = await runner.ended(jobId)
    expect(job).toMatchObject({ status: 'failed', error: code })
    expect(job.turns).toBeLessThanOrEqual(mostTurns)
    expect(job.result).toContain('Again.')
    expect(job.errorMessage).not.toBeNull()
  })

  it('of a deleted provider fails the next job instead of hanging', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    await runner.modelServer.close()
    await runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { limits: { maxTurns: 1 } } })
    const events = await runner.client.ask('checkProvider', { params: { providerId: agent.model!.providerId } })
    expect(events).toMatchObject({ status: 200, body: { ok: false, models: 0 } })
    expect(events.body).toMatchObject({ message: messageMatching('Test server') })
  })
})
