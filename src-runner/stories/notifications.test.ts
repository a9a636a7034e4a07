import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { NotificationSettings } from '../contract/notifications.ts'
import { DEFAULT_NOTIFICATIONS } from '../contract/notifications.ts'
import { startBotApiServer, type BotApiServer } from '../testing/bot-api-server/bot-api-server.ts'
import { changeCodeTask, insertCodeTask } from '../domain/code-tasks/code-tasks.ts'
import { insertCredential, requireSignIn } from '../domain/credentials/credentials.ts'
import { createMessage, englishText, quote } from '../lib/messages.ts'
import { messageMatching } from '../testing/message-matching.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'

const MINUTE = 60_000
const ASKS = { toolCalls: [{ id: 'call_1', name: 'ask_person', args: { question: 'Which one?', choices: ['a', 'b'] } }] }

describe('notifications', () => {
  let runner: TestRunner
  let clock: HandClock
  beforeEach(async () => {
    clock = createHandClock()
    runner = await createTestRunner({ clock })
  })
  afterEach(() => runner.stop())

  const submit = async (agentId: string, task: string) =>
    runner.ended((await runner.client.ok('submitTask', { body: { agentId, task } })).jobId)
  /** A job that fails at once. */
  const fail = async (agentId: string, task = 'Do it') => {
    runner.modelServer.play({ fault: { kind: 'status', status: 401, error: { message: 'bad key' } } })
    const job = await submit(agentId, task)
    expect(job.status).toBe('failed')
    return job
  }
  const set = (change: Partial<NotificationSettings>) =>
    runner.client.ok('updateSettings', { body: { notifications: { ...DEFAULT_NOTIFICATIONS, ...change } } })
  const timeOnTheWall = (inMs: number) =>
    new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(clock.now() + inMs)
  const titles = () => runner.notifications.map(({ title }) => englishText(title))

  it('report an account that needs a new sign-in, once', async () => {
    const agent = await runner.addAgent()
    const id = '019a0000-0000-7000-8000-000000000001'
    const account = { id, entityId: agent.entityId, connector: 'shop', kind: 'api_key', name: 'Shop', accountName: null } as const
    runner.write((tx) => insertCredential(tx, { clock }, { ...account, hosts: ['shop.example'], scopes: [], agents: [] }))
    runner.write((tx) => requireSignIn(tx, id, quote('It expired.')))
    const expected = [
      {
        kind: 'credential_refused',
        title: messageMatching('Sign in to Shop again'),
        body: quote('It expired.'),
        path: `/connections/${id}`,
      },
    ]
    expect(runner.notifications).toMatchObject(expected)
    await runner.client.ok('updateCredential', { params: { credentialId: id }, body: { name: 'Shop' } })
    await runner.restart()
    expect(runner.notifications).toHaveLength(1)
  })

  it('report a failed job with the reason and a link', async () => {
    const agent = await runner.addAgent()
    const job = await fail(agent.id, 'Read the news')
    expect(runner.notifications).toMatchObject([
      {
        kind: 'job_failed',
        title: quote('Read the news'),
        body: { code: 'model_asks_for_key', params: { provider: 'Test server' } },
        path: `/jobs/${job.id}`,
      },
    ])
  })

  it('report an approval with a link', async () => {
    const agent = await runner.addAgent({ name: 'Ada' })
    runner.modelServer.play(ASKS)
    await submit(agent.id, 'Choose')
    const { approvals } = await runner.client.ok('listApprovals', { query: { status: 'pending' } })
    expect(runner.notifications).toMatchObject([
      {
        kind: 'approval_waiting',
        title: messageMatching('Ada has a question'),
        body: quote('Which one?'),
        path: `/approvals?id=${approvals[0]!.id}`,
      },
    ])
  })

  it('shorten a long question', async () => {
    const agent = await runner.addAgent({ name: 'Ada' })
    runner.modelServer.play({
      toolCalls: [{ id: 'call_1', name: 'ask_person', args: { question: `${'Why?\n'.repeat(400)}`, choices: [] } }],
    })
    await submit(agent.id, 'Choose')
    const body = englishText(runner.notifications[0]!.body!)
    expect(body.length).toBeLessThanOrEqual(201)
  })

  it('skip the kinds that are off', async () => {
    const agent = await runner.addAgent()
    await set({ kinds: { ...DEFAULT_NOTIFICATIONS.kinds, job_failed: false } })
    await fail(agent.id)
    runner.modelServer.play(ASKS)
    await submit(agent.id, 'Choose')
    expect(runner.notifications.map(({ kind }) => kind)).toEqual(['approval_waiting'])
  })

  it('summarize a burst', async () => {
    const agent = await runner.addAgent()
    for (let i = 1; i <= 12; i++) await fail(agent.id, `Job ${i}`)
    expect(titles()).toEqual(['Job 1', 'Job 2', 'Job 3', 'Job 4', 'Job 5'])
    clock.advance(MINUTE)
    await expect.poll(titles).toHaveLength(6)
    expect(runner.notifications.at(-1)).toMatchObject({
      kind: 'job_failed',
      title: messageMatching('12 jobs failed'),
      path: '/activity?status=failed',
    })
    // The burst continues and ends.
    for (let i = 13; i <= 15; i++) await fail(agent.id, `Job ${i}`)
    clock.advance(MINUTE)
    await expect.poll(titles).toHaveLength(7)
    expect(titles().at(-1)).toBe('3 jobs failed')
    clock.advance(2 * MINUTE)
    await fail(agent.id, 'Much later')
    expect(titles().at(-1)).toBe('Much later')
  })

  it('wait for the end of the quiet hours, and then summarize what still waits', async () => {
    const agent = await runner.addAgent()
    await set({ quietHours: { from: timeOnTheWall(-MINUTE), until: timeOnTheWall(60 * MINUTE) } })
    await fail(agent.id)
    await fail(agent.id)
    for (const task of ['First', 'Second']) {
      runner.modelServer.play(ASKS)
      await submit(agent.id, task)
    }
    expect(runner.notifications).toEqual([])
    const [open] = (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
    runner.modelServer.play({ text: ['ok'] })
    await runner.client.ok('resolveApproval', { body: { approvalId: open!.id, decision: 'approve', answer: 'a' } })
    expect((await runner.ended(open!.jobId)).status).toBe('completed')
    clock.advance(59 * MINUTE)
    expect(runner.notifications).toEqual([])
    clock.advance(2 * MINUTE)
    expect(runner.notifications).toMatchObject([
      {
        kind: 'approval_waiting',
        title: createMessage('notify_several'),
        body: messageMatching('1 approval is waiting. 2 jobs failed'),
        path: '/',
      },
    ])
  })

  it('show a single held notification as it is', async () => {
    const agent = await runner.addAgent()
    await set({ quietHours: { from: timeOnTheWall(-MINUTE), until: timeOnTheWall(60 * MINUTE) } })
    await fail(agent.id, 'Read the news')
    await set({ quietHours: null })
    expect(titles()).toEqual(['Read the news'])
  })

  it('report what a coding program left for a review, and not what it left for an agent', async () => {
    const agent = await runner.addAgent()
    const work = async (fields: { channel: 'api' | 'delegation'; parentJobId?: string }, result: 'ready' | 'none') => {
      runner.modelServer.play({ text: ['Done', '.'] })
      const hold = runner.modelServer.holdBefore(0)
      const jobId = await runner.enqueue({ agentId: agent.id, task: 'Fix the cart', ...fields })
      await expect.poll(async () => (await runner.client.ok('getJob', { params: { jobId } })).job.status).toBe('running')
      runner.write((tx) => {
        const base = { baseCommit: '0'.repeat(40), baseBranch: 'main', internet: false }
        insertCodeTask(tx, jobId, { cli: 'codex', repository: '/home/ada/shop', branch: 'deckhand/fix', ...base })
        changeCodeTask(tx, jobId, { result, fileCount: 2 })
      })
      hold.release()
      await runner.ended(jobId)
      return jobId
    }
    await work({ channel: 'api' }, 'none')
    const jobId = await work({ channel: 'api' }, 'ready')
    await work({ channel: 'delegation', parentJobId: jobId }, 'ready')
    expect(runner.notifications).toMatchObject([
      {
        kind: 'code_ready',
        title: quote('Fix the cart'),
        body: messageMatching('Codex changed 2 files. Ready to review.'),
        path: `/jobs/${jobId}`,
      },
    ])
  })

  it('report a job once, and not the jobs it delegated', async () => {
    const agent = await runner.addAgent()
    const parent = await fail(agent.id, 'The whole')
    const child = await runner.enqueue({ agentId: agent.id, channel: 'delegation', task: 'A part', parentJobId: parent.id })
    runner.modelServer.play({ fault: { kind: 'status', status: 401, error: { message: 'bad key' } } })
    expect((await runner.ended(child)).status).toBe('failed')
    expect(titles()).toEqual(['The whole'])
  })

  describe('of channels', () => {
    let bot: BotApiServer
    let channelId: string
    beforeEach(async () => {
      bot = await startBotApiServer()
      const agent = await runner.addAgent({ name: 'Ada' })
      const body = { agentId: agent.id, kind: 'telegram', token: bot.token, baseUrl: bot.url } as const
      channelId = (await runner.client.ok('createChannel', { body })).channel.id
      await expect.poll(status).toBe('open')
    })
    afterEach(() => bot.close())

    const status = async () => (await runner.client.ok('getChannel', { params: { channelId } })).channel.status
    const attention = async () => (await runner.client.ok('listAttention')).items.map(({ kind }) => kind)
    /** Advances time until the condition is true, because connections have waits of their own. */
    const soon = <T>(look: () => T | Promise<T>, step = 2000) => expect.poll(() => (clock.advance(step), look()))

    it('report a request for access', async () => {
      bot.say({ id: 7, first_name: 'Bo' }, 'Hello?')
      await expect
        .poll(() => runner.notifications)
        .toMatchObject([
          {
            kind: 'channel_request',
            title: messageMatching('Someone wants to talk to Ada'),
            body: messageMatching('Bo wrote on Telegram and waits for your decision.'),
            path: '/channels',
          },
        ])
      expect(await attention()).toEqual(['channel_request'])
      bot.say({ id: 7, first_name: 'Bo' }, 'Hello??')
      await expect.poll(() => bot.waitingUpdates()).toBe(0)
      expect(runner.notifications).toHaveLength(1)
    })

    it('report a refused token each time it happens, once', async () => {
      bot.fault('getUpdates', { kind: 'error', code: 401, description: 'Unauthorized' })
      await soon(status).toBe('logged_out')
      expect(runner.notifications).toMatchObject([
        {
          kind: 'channel_logged_out',
          title: messageMatching('Ada is logged out of Telegram'),
          body: { code: 'chat_token_refused' },
          path: '/channels',
        },
      ])
      expect(await attention()).toEqual(['channel_logged_out'])
      await runner.restart()
      expect(await status()).toBe('logged_out')
      expect(runner.notifications).toHaveLength(1)
      await runner.client.ok('updateChannel', { params: { channelId }, body: { token: bot.token } })
      await soon(status).toBe('open')
      expect(await attention()).toEqual([])
      bot.fault('getUpdates', { kind: 'error', code: 401, description: 'Unauthorized' })
      await soon(status).toBe('logged_out')
      expect(runner.notifications).toHaveLength(2)
    })

    it('update the page when a channel has failed for five minutes', async () => {
      const { events, close } = await runner.client.stream('streamEvents')
      bot.fault('getUpdates', { kind: 'reset' }, 10_000)
      await soon(status).toBe('failing')
      const changed = (async () => {
        for await (const { event } of events) if (event === 'attention.changed') return attention()
        return null
      })()
      await soon(attention, 20_000).toEqual(['channel_failing'])
      clock.advance(MINUTE)
      expect(await changed).toEqual(['channel_failing'])
      close()
      expect(runner.notifications).toEqual([])
    })
  })
})
