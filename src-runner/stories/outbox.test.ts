import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CreateSchedule } from '../contract/schedules.ts'
import type { CreateTrigger } from '../contract/triggers.ts'
import { addChannel } from '../testing/add-channel.ts'
import { createHandClock } from '../testing/hand-clock.ts'
import { ANNA, BEN, useTelegramRig } from '../testing/telegram-chat.ts'
import { channels } from '../domain/channels/channels-table.ts'
import { schedules } from '../domain/schedules/schedules-table.ts'
import { triggers } from '../domain/triggers/triggers-table.ts'
import { postWebhook } from '../testing/webhook-sender.ts'

const HOUR = 3_600_000

describe('messages over channels', () => {
  const rig = useTelegramRig()
  const { begin, beginConnected, connect, letIn, said, untilSaid, outbox } = rig
  async function addWebhook(fields: Partial<CreateTrigger> = {}): Promise<string> {
    const body = { name: 'Build failed', agentId: rig.agent.id, taskTemplate: 'Look at {build}.', notifyOnSuccess: true, ...fields }
    return (await rig.runner.client.ok('createTrigger', { body })).url
  }
  /** Sends a delivery and waits for its job. */
  async function fire(url: string) {
    const { status, body } = await postWebhook(url, { body: { build: '#4' } })
    expect(status).toBe(202)
    return rig.runner.ended(body.jobId!)
  }
  const addSchedule = async (fields: Partial<CreateSchedule> = {}) => {
    const body = {
      name: 'Prices',
      agentId: rig.agent.id,
      cron: '0 * * * *',
      timezone: 'UTC',
      task: 'Look.',
      notifyOnSuccess: true,
      ...fields,
    }
    return (await rig.runner.client.ok('createSchedule', { body })).schedule
  }
  const runNow = async (scheduleId: string) =>
    rig.runner.ended((await rig.runner.client.ok('runScheduleNow', { params: { scheduleId } })).jobId)
  const askToPost = (text: string) => rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'post', args: { text } }] })
  const submit = async () =>
    rig.runner.ended((await rig.runner.client.ok('submitTask', { body: { agentId: rig.agent.id, task: 'Post the news' } })).jobId)

  describe('answers', () => {
    it('go to the sender, with the files of the result', async () => {
      await begin()
      const folder = rig.runner.makeFolder()
      writeFileSync(join(folder, 'report.txt'), 'Twelve pages.')
      await rig.runner.client.ok('updateAgent', { params: { agentId: rig.agent.id }, body: { folders: [folder] } })
      await connect()
      await letIn(ANNA)
      rig.runner.modelServer.play(
        { toolCalls: [{ id: 'call_1', name: 'return_result', args: { summary: 'The report', files: [join(folder, 'report.txt')] } }] },
        { text: ['Here is the **report**.'] },
      )
      rig.bot.say(ANNA, 'The report, please')
      await untilSaid(ANNA, 'Here is the report.')
      await rig.bot.until(() => rig.bot.sent.some(({ document }) => document !== null))
      const document = rig.bot.sent.find((one) => one.document !== null)!.document!
      expect([document.name, Buffer.from(document.bytes).toString()]).toEqual(['report.txt', 'Twelve pages.'])
      await expect.poll(async () => (await outbox()).map(({ kind, state }) => `${kind} ${state}`)).toContain('reply sent')
    })

    it('do not wait for a file that the service refuses', async () => {
      await begin()
      const folder = rig.runner.makeFolder({ 'report.txt': 'Twelve pages.' })
      await rig.runner.client.ok('updateAgent', { params: { agentId: rig.agent.id }, body: { folders: [folder] } })
      await connect()
      await letIn(ANNA)
      rig.bot.fault('sendDocument', { kind: 'error', code: 500, description: 'Internal Server Error' }, 100)
      rig.runner.modelServer.play(
        { toolCalls: [{ id: 'call_1', name: 'return_result', args: { summary: 'The report', files: [join(folder, 'report.txt')] } }] },
        { text: ['Here is the report.'] },
        { text: ['It is noon.'] },
      )
      rig.bot.say(ANNA, 'The report, please')
      await untilSaid(ANNA, 'Here is the report.')
      await expect.poll(async () => (await outbox({ state: 'pending' })).map(({ tries }) => tries)).toEqual([1])
      rig.bot.say(ANNA, 'What time is it?')
      await untilSaid(ANNA, 'It is noon.')
      rig.playPost('hello')
      rig.bot.say(ANNA, 'Post hello')
      await rig.bot.until(() => rig.bot.sent.some(({ buttons }) => buttons.length === 2))
      await expect.poll(() => outbox({ state: 'pending' })).toMatchObject([{ kind: 'reply', tries: 1 }])
    })

    it('say that a job failed, and the reason only to the owner', async () => {
      await beginConnected()
      await letIn(ANNA)
      await letIn(BEN, 'allowed')
      for (const user of [ANNA, BEN]) {
        rig.runner.modelServer.play({ fault: { kind: 'status', status: 401, error: { message: 'bad key' } } })
        rig.bot.say(user, 'What time is it?')
        await untilSaid(user, /^I could not finish this\./)
      }
      expect(said(ANNA).at(-1)).toContain('Test server')
      expect(said(BEN).at(-1)).toBe('I could not finish this.')
    })
  })

  describe('a note about a successful run', () => {
    it('names the agent and the schedule, with the first lines and a link', async () => {
      const { id: channelId } = await beginConnected({ name: 'Ada *the* first' })
      await letIn(ANNA)
      const url = await addWebhook()
      rig.runner.modelServer.play({ text: ['The tests of **main** fail.\n\nSomebody changed the clock.'] })
      const job = await fire(url)
      await untilSaid(ANNA, /finished/)
      expect(said(ANNA).at(-1)).toBe(
        `✅ Ada *the* first finished “Build failed”.\n\nThe tests of main fail.\n\nSomebody changed the clock.\n\nDetails: open Deckhand on your computer, under Activity.`,
      )
      await expect
        .poll(() => outbox({ jobId: job.id }))
        .toMatchObject([{ kind: 'confirmation', state: 'sent', channelId, channelKind: 'telegram' }])
    })

    it('is sent only for a successful run that requests it', async () => {
      await beginConnected()
      await letIn(ANNA)
      const url = await addWebhook()
      const before = said(ANNA).length
      expect((await postWebhook(`${url}x`)).status).toBe(404)
      expect((await postWebhook(url, { body: 'no json' })).status).toBe(400)
      expect((await postWebhook(url, { body: JSON.stringify('x'.repeat(1_000_001)) })).status).toBe(413)
      rig.runner.modelServer.play({ fault: { kind: 'status', status: 401, error: { message: 'bad key' } } })
      expect((await fire(url)).status).toBe('failed')
      await fire(await addWebhook({ name: 'Silent', notifyOnSuccess: false }))
      await runNow((await addSchedule({ notifyOnSuccess: false })).id)
      // The channel works, because this one arrives.
      await fire(url)
      await untilSaid(ANNA, /finished/)
      expect(said(ANNA)).toHaveLength(before + 1)
      expect((await outbox()).filter(({ kind }) => kind === 'confirmation')).toHaveLength(1)
    })

    it('is not sent until the owner has written once', async () => {
      const { id: channelId } = await beginConnected()
      const turn = (enabled: boolean) => rig.runner.client.ok('updateChannel', { params: { channelId }, body: { enabled } })
      const url = await addWebhook()
      await turn(false)
      const first = await fire(url)
      expect(first.status).toBe('completed')
      expect(await outbox({ jobId: first.id })).toMatchObject([
        {
          kind: 'confirmation',
          state: 'not_sent',
          channelId: null,
          tries: 0,
          problem: expect.objectContaining({ code: 'sent_no_channel' }),
        },
      ])
      expect(rig.runner.logLines.some((line) => line.includes('a message has no address') && line.includes(first.id))).toBe(true)
      expect((await rig.runner.client.ok('listAttention')).items).toEqual([])
      expect(rig.runner.notifications).toEqual([])

      await turn(true)
      const second = await fire(url)
      expect(await outbox({ jobId: second.id })).toMatchObject([{ state: 'not_sent', problem: { code: 'sent_no_owner' } }])
      await letIn(ANNA)
      const third = await fire(url)
      await untilSaid(ANNA, /finished/)
      expect((await outbox({ jobId: third.id }))[0]).toMatchObject({ kind: 'confirmation' })
      expect(said(ANNA).filter((text) => text.includes('finished'))).toHaveLength(1)
    })

    it('of a schedule goes to each of several chosen channels', async () => {
      await beginConnected()
      await letIn(ANNA)
      const refused = await rig.runner.client.ask('createSchedule', {
        body: {
          name: 'Prices',
          agentId: rig.agent.id,
          cron: '0 * * * *',
          timezone: 'UTC',
          task: 'Look.',
          notifyOnSuccess: true,
          notifyVia: ['telegram', 'discord'],
        },
      })
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: 'notifyVia' }] } })
      const schedule = await addSchedule()
      rig.runner.write((tx) => tx.update(schedules).set({ notifyVia: 'telegram,discord' }).run())
      expect((await rig.runner.client.ok('getSchedule', { params: { scheduleId: schedule.id } })).schedule.notifyVia).toEqual([
        'telegram',
        'discord',
      ])
      const job = await runNow(schedule.id)
      await untilSaid(ANNA, /finished “Prices”/)
      await expect.poll(async () => (await outbox({ jobId: job.id, state: 'sent' })).length).toBe(1)
      const messages = (await outbox({ jobId: job.id })).map(({ state, problem }) => [state, problem?.code ?? null] as const)
      expect(new Map(messages)).toEqual(
        new Map([
          ['not_sent', 'sent_not_on_channel'],
          ['sent', null],
        ]),
      )
      // One of them got it.
      const { schedule: after } = await rig.runner.client.ok('getSchedule', { params: { scheduleId: schedule.id } })
      expect(after.lastStatus).toBe('success')
    })

    it('goes only to the chosen channel', async () => {
      await beginConnected()
      await letIn(ANNA)
      const refused = await rig.runner.client.ask('createTrigger', {
        body: { name: 'Build failed', agentId: rig.agent.id, taskTemplate: 'Look.', notifyOnSuccess: true, notifyVia: 'slack' },
      })
      expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_request', issues: [{ path: 'notifyVia' }] } })
      const url = await addWebhook({ notifyVia: 'telegram' })
      rig.runner.write((tx) => tx.update(triggers).set({ notifyVia: 'slack' }).run())
      const job = await fire(url)
      expect(await outbox({ jobId: job.id })).toMatchObject([
        { state: 'not_sent', problem: expect.objectContaining({ code: 'sent_not_on_channel' }) },
      ])
    })

    it('needs a channel whose token the service accepts', async () => {
      await begin()
      addChannel(rig.runner, rig.agent.id)
      const ask = (notifyVia: CreateTrigger['notifyVia']) =>
        rig.runner.client.ask('createTrigger', {
          body: { name: 'Build failed', agentId: rig.agent.id, taskTemplate: 'Look.', notifyOnSuccess: true, notifyVia },
        })
      expect((await ask('telegram')).status).toBe(201)
      rig.runner.write((tx) => tx.update(channels).set({ status: 'logged_out' }).run())
      const refused = (path: string, code: string) => ({ status: 400, body: { issues: [{ path, detail: { code } }] } })
      expect(await ask('telegram')).toMatchObject(refused('notifyVia', 'sent_not_on_channel'))
      expect(await ask('auto')).toMatchObject(refused('notifyOnSuccess', 'sent_no_channel'))
    })

    it('is shown by the schedule as undelivered until the next run', async () => {
      const { id: channelId } = await beginConnected()
      const schedule = await addSchedule()
      await rig.runner.client.ok('updateChannel', { params: { channelId }, body: { enabled: false } })
      const status = async () => (await rig.runner.client.ok('getSchedule', { params: { scheduleId: schedule.id } })).schedule.lastStatus
      expect((await runNow(schedule.id)).status).toBe('completed')
      expect(await status()).toBe('notify_unreachable')
      await rig.runner.client.ok('updateChannel', { params: { channelId }, body: { enabled: true } })
      await letIn(ANNA)
      await runNow(schedule.id)
      expect(await status()).toBe('success')
      await untilSaid(ANNA, /finished “Prices”/)
    })

    it('is not sent for a no-op result', async () => {
      await beginConnected()
      await letIn(ANNA)
      const schedule = await addSchedule({ cron: '*/5 * * * *' })
      rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'nothing_new', args: {} }] })
      const job = await runNow(schedule.id)
      expect(job.status).toBe('completed')
      expect(await outbox({ jobId: job.id })).toEqual([])
    })
  })

  describe('a question', () => {
    it('goes to the owner with buttons and a code, and is answered there', async () => {
      await beginConnected()
      await letIn(ANNA)
      askToPost('[click](https://evil.example) **now**')
      const job = await submit()
      expect(job.status).toBe('awaiting_approval')
      await untilSaid(ANNA, /needs your approval/)
      const message = rig.bot.sent.at(-1)!
      expect(message.text).toContain('Post "[click](https://evil.example) **now**"')
      expect(message.entities.filter(({ type }) => type === 'text_link')).toEqual([])
      expect(message.text).toMatch(
        /Job: “Post the news”\n\nTap a button, or write approve \w{4} or reject \w{4}\. Without an answer, this is rejected in 24 hours\./,
      )
      const [approval] = (await rig.runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
      expect(message.buttons).toEqual([
        { text: 'Approve', callback_data: `approve:${approval!.id}` },
        { text: 'Reject', callback_data: `reject:${approval!.id}` },
      ])
      rig.runner.modelServer.play({ text: ['Posted.'] })
      rig.bot.press(ANNA, `approve:${approval!.id}`)
      await expect.poll(() => rig.posted).toEqual(['[click](https://evil.example) **now**'])
      await rig.runner.ended(job.id)
    })

    it('is not sent if it was answered in the app first', async () => {
      await beginConnected()
      await letIn(ANNA)
      rig.bot.fault('sendMessage', { kind: 'error', code: 429, description: 'Too Many Requests', retryAfter: 1 })
      askToPost('news')
      const job = await submit()
      const [approval] = (await rig.runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
      await rig.bot.until(() =>
        rig.bot.calls.some(({ method, fields }) => method === 'sendMessage' && String(fields['text']).includes('approval')),
      )
      await rig.runner.client.ok('resolveApproval', { body: { approvalId: approval!.id, decision: 'reject' } })
      await rig.runner.ended(job.id)
      await expect
        .poll(() => outbox({ jobId: job.id }))
        .toMatchObject([{ kind: 'approval', state: 'not_sent', problem: expect.objectContaining({ code: 'sent_answered_before' }) }])
      expect(said(ANNA).some((text) => text.includes('needs your approval'))).toBe(false)
    })

    it("about a guest's job goes to the owner, and the guest gets a note", async () => {
      await beginConnected()
      await letIn(ANNA)
      await letIn(BEN, 'allowed')
      askToPost('news')
      rig.bot.say(BEN, 'Post the news')
      await untilSaid(BEN, /I need to ask my owner/)
      await untilSaid(ANNA, /needs your approval/)
      expect(said(BEN).some((text) => text.includes('needs your approval'))).toBe(false)
    })
  })

  it("says once a day that a schedule's budget is spent", async () => {
    const clock = createHandClock(Date.UTC(2026, 10, 20, 9, 0))
    await beginConnected({}, { clock })
    await letIn(ANNA)
    await rig.runner.client.ok('setModelPrice', {
      body: { model: rig.agent.model!, price: { inputUsdPerMillion: 100, outputUsdPerMillion: 0 } },
    })
    const schedule = await addSchedule({ notifyOnSuccess: false, dailyBudgetUsd: 1 })
    rig.runner.modelServer.play({ text: ['Dear.'], usage: { input: 12_000, output: 1 } })
    await runNow(schedule.id)
    const told = () => said(ANNA).filter((text) => text.includes('daily spending limit'))
    for (let hour = 0; hour < 3; hour++) {
      clock.advance(HOUR)
      await rig.runner.client.ok('runTick')
    }
    // The connection was lost when hours passed at once.
    await expect.poll(() => (clock.advance(5000), told().length)).toBeGreaterThan(0)
    expect(told()).toEqual([expect.stringContaining('⏸ “Prices” of Ada has reached its daily spending limit of $1.00.')])
    expect(rig.runner.notifications.filter(({ kind }) => kind === 'budget_exhausted')).toHaveLength(1)
    const { items } = await rig.runner.client.ok('listAttention')
    expect(items.filter(({ kind }) => kind === 'budget_exhausted')).toMatchObject([{ subjectId: schedule.id }])
    expect((await outbox()).filter(({ kind, text }) => kind === 'notification' && text.includes('spending limit'))).toHaveLength(1)
  })

  describe('that the service refuses', () => {
    it('is tried three times, shown with the reason, and sent again on request', async () => {
      const clock = createHandClock()
      await beginConnected({}, { clock })
      await letIn(ANNA)
      const url = await addWebhook()
      rig.bot.fault('sendMessage', { kind: 'error', code: 500, description: 'Internal Server Error' }, 100)
      const job = await fire(url)
      const message = async () => (await outbox({ jobId: job.id }))[0]!
      // In small steps, because a connection is down after a jump of five minutes, and tries do not count then.
      for (const tries of [1, 2]) await expect.poll(async () => (clock.advance(5000), message())).toMatchObject({ state: 'pending', tries })
      await expect.poll(async () => (clock.advance(5000), message())).toMatchObject({ state: 'undeliverable', tries: 3 })
      const { id, problem } = await message()
      expect(problem).not.toBe('')
      expect((await outbox({ state: 'undeliverable' })).map((one) => one.id)).toEqual([id])
      expect((await rig.runner.client.ok('listAttention')).items).toMatchObject([
        { kind: 'message_undeliverable', subjectId: id, detail: problem },
      ])
      expect(rig.runner.notifications.filter(({ kind }) => kind === 'delivery_impossible')).toMatchObject([
        { body: problem, path: '/channels' },
      ])

      rig.bot.clearFaults()
      expect((await rig.runner.client.ok('retryOutbound', { params: { messageId: id } })).message.state).toBe('pending')
      await untilSaid(ANNA, /finished/)
      await expect.poll(message).toMatchObject({ state: 'sent' })
      expect((await rig.runner.client.ok('listAttention')).items).toEqual([])
      expect(await rig.runner.client.ask('retryOutbound', { params: { messageId: id } })).toMatchObject({
        status: 409,
        body: { error: 'outbound_already_sent' },
      })
    })

    it('is given up at once if the person has blocked the account', async () => {
      await beginConnected()
      await letIn(ANNA)
      rig.bot.block(ANNA)
      const job = await fire(await addWebhook())
      await expect.poll(() => outbox({ jobId: job.id })).toMatchObject([{ state: 'undeliverable', tries: 1 }])
    })

    it('is sent after a crash while it was being sent', async () => {
      await beginConnected()
      await letIn(ANNA)
      rig.bot.fault('sendMessage', { kind: 'stall' })
      const job = await fire(await addWebhook())
      await rig.bot.until(() =>
        rig.bot.calls.some(({ method, fields }) => method === 'sendMessage' && String(fields['text']).includes('finished')),
      )
      await rig.runner.restart({ crash: true })
      await untilSaid(ANNA, /finished/)
      await expect.poll(() => outbox({ jobId: job.id })).toMatchObject([{ state: 'sent' }])
    })
  })

  it('is listed with its beginning and sent completely', async () => {
    await begin()
    await connect()
    await letIn(ANNA)
    const answer = `Chapter one. ${'Word after word. '.repeat(300)}The end.`
    rig.runner.modelServer.play({ text: [answer] })
    rig.bot.say(ANNA, 'Tell me a story, please')
    await rig.bot.until(() => rig.bot.sent.some(({ text }) => text?.includes('The end.') === true))
    const reply = (await outbox()).find(({ kind }) => kind === 'reply')!
    expect(reply.text).toBe(answer.slice(0, 2000))
  })

  it('is listed in pages, newest first', async () => {
    await begin()
    addChannel(rig.runner, rig.agent.id)
    const url = await addWebhook()
    for (let i = 0; i < 3; i++) await fire(url)
    const first = await rig.runner.client.ok('listOutbox', { query: { limit: 2 } })
    const rest = await rig.runner.client.ok('listOutbox', { query: { limit: 2, cursor: first.nextCursor! } })
    expect([first.messages.length, rest.messages.length, rest.nextCursor]).toEqual([2, 1, null])
    const ids = [...first.messages, ...rest.messages].map(({ id }) => id)
    expect(ids).toEqual([...ids].sort().reverse())
    expect(await rig.runner.client.ask('retryOutbound', { params: { messageId: rig.agent.id } })).toMatchObject({
      status: 404,
      body: { error: 'outbound_not_found' },
    })
    expect(await rig.runner.client.ask('retryOutbound', { params: { messageId: ids[0]! } })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', message: expect.stringMatching(/^This message cannot be sent: The channel has no owner yet/) },
    })
  })
})
