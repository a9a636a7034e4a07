import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMessage } from '../lib/messages.ts'
import { channelMessages } from '../domain/channels/channels-table.ts'
import { MAX_IDS_WITHOUT_JOB } from '../domain/channels/receive-message.ts'
import { shortCodeOf } from '../domain/approvals/short-code.ts'
import { ANNA, BEN, useSlackRig } from '../testing/slack-chat.ts'

const GENERAL = { id: 'C0GENERAL01', name: 'general' }

describe('Slack', () => {
  const rig = useSlackRig()
  const { begin, channelNow, personOf, setRole, letIn, said, untilSaid, jobs, pending } = rig
  const create = (tokens: { token: string; appToken?: string }) =>
    rig.runner.client.ask('createChannel', { body: { agentId: rig.agent.id, kind: 'slack', baseUrl: rig.slack.url, ...tokens } })

  it('leads from two tokens to the first approval that is pressed in Slack', async () => {
    const channel = await begin()
    expect(channel).toMatchObject({ kind: 'slack', name: '@deckhand (Acme)', agentName: 'Ada', people: [] })
    expect(channel.link).toBe(`https://slack.com/app_redirect?app=${rig.slack.appId}&team=T0TEAM00001`)
    rig.slack.say(ANNA, 'It is me')
    await untilSaid(ANNA, 'I told my owner that you wrote. They can give you access in Deckhand.')
    expect(await personOf(ANNA.id)).toMatchObject({ role: 'requested', displayName: 'anna', handle: '@anna' })
    await setRole(ANNA.id, 'owner')
    await untilSaid(ANNA, /I am Ada/)

    rig.runner.modelServer.play(
      { toolCalls: [{ id: 'call_1', name: 'post', args: { text: 'hello <!channel>' } }] },
      { text: ['It is **posted**.'] },
    )
    rig.slack.say(ANNA, 'Post hello')
    const question = () => rig.slack.sent.find(({ buttons }) => buttons.length === 2)
    await rig.slack.until(() => question() !== undefined)
    expect(question()!.text).toContain('hello <!channel>')
    expect(question()!.mentions).toEqual([])
    const [approve] = question()!.buttons
    rig.slack.press(BEN, approve!.value)
    await rig.slack.until(() => rig.slack.ephemerals.length === 1)
    expect(rig.slack.ephemerals[0]!.text).toBe('Only the owner of this agent can answer.')
    expect(rig.posted).toEqual([])

    rig.slack.press(ANNA, approve!.value)
    await untilSaid(ANNA, 'It is posted.')
    expect(rig.posted).toEqual(['hello <!channel>'])
    expect(rig.slack.ephemerals[1]).toMatchObject({ user: ANNA.id, text: 'Approved.' })
    await rig.slack.until(() => question() === undefined)
    expect((await jobs())[0]).toMatchObject({ channel: 'slack', title: 'Post hello', status: 'completed' })
  })

  it('offers only Reject for a command whose end was not shown, and attaches the whole call when it can', async () => {
    await begin({ autonomy: 'ask_first' })
    await rig.runner.client.ok('updateAgent', { params: { agentId: rig.agent.id }, body: { folders: [rig.runner.makeFolder()] } })
    await letIn(ANNA)
    const LONG = `${'echo All is well; '.repeat(1000)}rm -rf everything`
    const ask = async () => {
      const args = { command: ['sh', '-c', LONG], folder: 'folder-1' }
      rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'run_command', args }] }, { text: ['Then not.'] })
      rig.slack.say(ANNA, 'Tidy up')
      await expect.poll(async () => (await pending()).length).toBe(1)
      const { id } = (await pending())[0]!
      const question = () => rig.slack.sent.find(({ buttons }) => buttons.some(({ value }) => value.endsWith(id)))
      await rig.slack.until(() => question() !== undefined)
      return { id, question: question()!, labels: question()!.buttons.map(({ label }) => label) }
    }
    const whole = await ask()
    expect(whole.labels).toEqual(['Approve', 'Reject'])
    const attached = rig.slack.sent.findIndex(({ file }) => file !== null)
    expect(Buffer.from(rig.slack.sent[attached]!.file!.bytes).toString()).toContain('rm -rf everything')
    expect(attached).toBeLessThan(rig.slack.sent.indexOf(whole.question))
    rig.slack.press(ANNA, `reject:${whole.id}`)
    await untilSaid(ANNA, 'Then not.')

    rig.slack.fault('files.getUploadURLExternal', { kind: 'status', status: 500 }, 100)
    const cut = await ask()
    expect(cut.question.text).not.toContain('rm -rf everything')
    expect(cut.question.text).toContain('you can only approve this in Deckhand')
    expect(cut.question.text).toContain('open Deckhand on your computer, under Approvals')
    expect(cut.labels).toEqual(['Reject'])
    rig.slack.press(ANNA, `approve:${cut.id}`)
    const note = 'Not everything about this was shown here. Open Deckhand to approve it.'
    await rig.slack.until(() => rig.slack.ephemerals.some(({ text }) => text === note))
    rig.slack.say(ANNA, `approve ${shortCodeOf(cut.id)}`)
    await untilSaid(ANNA, note)
    expect(await pending()).toHaveLength(1)
    rig.slack.press(ANNA, `reject:${cut.id}`)
    await expect.poll(pending).toEqual([])
  })

  it('hears its owner through a flood of strangers, who get one note at most and leave no text behind', async () => {
    await begin()
    await letIn(ANNA)
    const strangers = Array.from({ length: 60 }, (_, i) => ({ id: `U0MALLORY${10 + i}`, name: `mallory${i}`, realName: `Mallory ${i}` }))
    const flood = (rounds: number) => {
      for (let round = 0; round < rounds; round++) strangers.forEach((one) => rig.slack.say(one, `Buy now ${round} `.repeat(100)))
    }
    flood(1)
    rig.runner.modelServer.play({ text: ['I am here.'] })
    rig.slack.say(ANNA, 'Are you there?')
    // With the first round 550 messages of the 50 who are listed, which is more than the limit of ids.
    flood(10)
    await untilSaid(ANNA, 'I am here.')
    // The owner is answered in their turn, and not after everybody else.
    expect(rig.slack.waiting()).toBeGreaterThan(0)
    await rig.slack.untilIdle()
    expect((await channelNow()).people).toHaveLength(51)
    expect(await jobs()).toHaveLength(1)
    // The ids of messages of those who are listed are kept for two days, up to a limit. The ten who are not listed leave nothing.
    const ids = rig.runner.write((tx) => tx.select().from(channelMessages).all())
    expect(ids.filter(({ jobId }) => jobId === null)).toHaveLength(MAX_IDS_WITHOUT_JOB)
    for (const one of strangers) expect(said(one).length).toBeLessThanOrEqual(1)
    expect(strangers.flatMap(said).join()).not.toContain('I am here.')
  })

  it('refuses tokens that are swapped, wrong or of two apps, and names what is wrong', async () => {
    await begin()
    const { botToken, appToken } = rig.slack
    const otherApp = appToken.replace(rig.slack.appId, 'A0OTHERAPP1')
    rig.slack.addToken(otherApp, 'app')
    const tries: [{ token: string; appToken?: string }, string][] = [
      [{ token: appToken, appToken: botToken }, 'chat_slack_swapped'],
      [{ token: botToken.replace('xoxb', 'xoxp'), appToken }, 'chat_slack_user_token'],
      [{ token: botToken }, 'chat_slack_no_app_token'],
      [{ token: botToken, appToken: botToken }, 'chat_slack_not_app_token'],
      [{ token: botToken.replace('abc', 'xyz'), appToken }, 'chat_slack_bot_refused'],
      [{ token: botToken, appToken: appToken.replace('cdef', 'abab') }, 'chat_slack_app_refused'],
      [{ token: botToken, appToken: otherApp }, 'chat_slack_two_apps'],
    ]
    for (const [tokens, code] of tries) {
      const answer = await create(tokens)
      expect(answer).toMatchObject({ status: 422, body: { error: 'channel_refused' } })
      expect(JSON.stringify(answer.body)).toContain(code)
      expect(JSON.stringify(answer)).not.toMatch(/abcdefghij|xyzdefghij|0123456789|abab/)
    }
    const { channels } = await rig.runner.client.ok('listChannels', { query: {} })
    // Alone it would change nothing.
    expect(await rig.runner.client.ask('updateChannel', { params: { channelId: channels[0]!.id }, body: { appToken } })).toMatchObject({
      status: 400,
      body: { issues: [{ path: 'token' }] },
    })
    rig.slack.setScopes(['chat:write', 'users:read'])
    const answer = await create({ token: botToken, appToken })
    expect(JSON.stringify(answer.body)).toContain('app_mentions:read, channels:history')
    expect(JSON.stringify(answer.body)).toContain(`https://api.slack.com/apps/${rig.slack.appId}/oauth`)
    expect((await rig.runner.client.ok('listChannels', { query: {} })).channels).toHaveLength(1)
  })

  it('keeps both tokens out of logs, database and responses', async () => {
    await begin()
    const { botToken, appToken } = rig.slack
    rig.slack.fault('apps.connections.open', { kind: 'garbage', body: `{"ok":false,"error":"${appToken} ${botToken}"}` })
    rig.slack.drop()
    await expect.poll(() => rig.runner.logLines.filter((line) => line.includes('a channel does not work')).length).toBeGreaterThanOrEqual(1)
    await rig.untilOpen()
    const database =
      readFileSync(join(rig.runner.dataDir, 'deckhand.db')).toString('latin1') +
      readFileSync(join(rig.runner.dataDir, 'deckhand.db-wal')).toString('latin1')
    for (const text of [JSON.stringify(await channelNow()), database, rig.runner.logLines.join('\n')]) {
      expect(text).not.toContain(botToken)
      expect(text).not.toContain(appToken)
    }
  })

  it('answers mentions in a channel that was allowed, in their thread, as a guest', async () => {
    await begin()
    await letIn(ANNA)
    const me = `<@${rig.slack.botUserId}>`
    rig.slack.mention(ANNA, GENERAL, `${me} Hello?`)
    await rig.slack.until(() => rig.slack.sent.some(({ channel }) => channel === GENERAL.id))
    expect(await personOf(`room:${GENERAL.id}`)).toMatchObject({ role: 'requested', displayName: '#general', isRoom: true })
    expect(await jobs()).toEqual([])
    await setRole(`room:${GENERAL.id}`, 'allowed')

    rig.runner.modelServer.play({ text: ['Four, everybody. <!here>'] })
    rig.slack.sayInChannel(BEN, GENERAL, 'Nobody asks the agent here')
    const ts = rig.slack.mention(BEN, GENERAL, `${me}: what is two and two, ${me}?`)
    await rig.slack.until(() => rig.slack.sent.some(({ threadTs }) => threadTs === ts))
    expect(rig.slack.sent.at(-1)).toMatchObject({ text: 'Four, everybody. <!here>', mentions: [] })
    const [job, ...others] = await jobs()
    expect(others).toEqual([])
    const { context, task } = (await rig.runner.client.ok('getJob', { params: { jobId: job!.id } })).job
    expect(task).toMatch(/^ben writes in “#general”:\n\nwhat is two and two, @/)
    expect(context).toMatchObject({ fromOwner: false, isGuest: true })
    expect(rig.slack.calls.some(({ method, fields }) => method === 'assistant.threads.setStatus' && fields['thread_ts'] === ts)).toBe(true)
  })

  it('runs commands that are typed behind the slash command', async () => {
    await begin()
    await letIn(ANNA)
    rig.slack.slash(ANNA, 'help', GENERAL.id)
    await untilSaid(ANNA, /\/stop stops what I am doing/)
    rig.runner.modelServer.play({ text: ['A message.'] })
    rig.slack.slash(ANNA, 'What is this?')
    await untilSaid(ANNA, 'A message.')
    expect((await jobs()).map(({ title }) => title)).toEqual(['What is this?'])
  })

  it('answers what was written while it was down, once and in order, and sums up what is older than a day', async () => {
    const DAY_MS = 24 * 3_600_000
    rig.slack.shiftTimes(-3 * DAY_MS)
    await begin()
    await letIn(ANNA)
    await rig.slack.untilIdle()
    rig.slack.cutOff()
    const reborn = rig.runner.restart({ crash: true })
    // Slack has stopped sending these.
    rig.slack.shiftTimes(-2 * DAY_MS)
    rig.slack.sayUnheard(ANNA, 'long ago')
    rig.slack.shiftTimes(0)
    rig.slack.sayUnheard(ANNA, 'one')
    rig.slack.sayUnheard(ANNA, 'two')
    rig.runner.modelServer.play({ text: ['One.'] }, { text: ['Two.'] })
    await reborn
    await untilSaid(ANNA, 'Two.')
    expect((await jobs()).map(({ title }) => title)).toEqual(['two', 'one'])
    expect(said(ANNA).filter((text) => /long ago|^(One|Two)\.$/.test(text))).toEqual([expect.stringContaining('long ago'), 'One.', 'Two.'])
  })

  it('runs no message again after an earlier backup was restored', async () => {
    // Longer ago than the minute by which clocks may differ.
    rig.slack.shiftTimes(-600_000)
    await begin()
    await letIn(ANNA)
    const { backup } = await rig.runner.client.ok('makeBackup')
    rig.runner.modelServer.play({ text: ['One.'] }, { text: ['Two.'] })
    rig.slack.say(ANNA, 'one')
    await untilSaid(ANNA, 'One.')
    await rig.slack.untilIdle()
    await rig.runner.restart({ config: { replaceDatabase: { backup: backup.name } } })
    await rig.runner.client.ok('updateSettings', { body: { pauseAll: false } })
    rig.slack.shiftTimes(0)
    rig.slack.say(ANNA, 'two')
    await untilSaid(ANNA, 'Two.')
    expect((await jobs()).map(({ title }) => title)).toEqual(['two'])
  })

  it('logs out when the app is removed from the workspace', async () => {
    await begin()
    rig.slack.revokeBotToken()
    rig.slack.sendEvent({ type: 'app_uninstalled' })
    await expect.poll(async () => (await channelNow()).status).toBe('logged_out')
    expect((await channelNow()).problem).toMatchObject({ code: 'chat_slack_bot_refused' })
    const calls = rig.slack.calls.length
    expect(rig.slack.connections()).toBe(0)
    expect(rig.slack.calls.length).toBe(calls)
  })

  it('treats a guest as untrusted, whose approvals go to the owner', async () => {
    await begin()
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'post', args: { text: 'hello' } }] }, { text: ['Done.'] })
    rig.slack.say(BEN, 'Post hello')
    await expect.poll(pending).toHaveLength(1)
    expect((await pending())[0]!.taints.untrusted).toMatchObject({ cause: createMessage('taint_started_by', { channel: 'slack' }) })
    await rig.slack.until(() => rig.slack.sent.some(({ channel, buttons }) => channel === rig.slack.directOf(ANNA) && buttons.length === 2))
  })

  describe('killed', () => {
    const TEXT = Array.from({ length: 1600 }, (_, i) => `word${i}`).join(' ')

    /** From now on the runner is killed when this step has been reached so often. Resolves when it runs again. */
    function killAt(step: string, times = 1): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      let left = times
      rig.slack.watchSteps((now) => {
        if (now === step && --left === 0) resolve(rig.crash())
      })
      return promise
    }

    /** Anna's job wants to post. Resolves with the value of the button that approves. */
    async function untilAsked(): Promise<string> {
      await begin()
      await letIn(ANNA)
      rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'post', args: { text: 'hello' } }] })
      for (let i = 0; i < 3; i++) rig.runner.modelServer.play({ text: ['It is posted.'] })
      rig.slack.say(ANNA, 'Post hello')
      await rig.slack.until(() => rig.slack.sent.some(({ buttons }) => buttons.length === 2))
      return rig.slack.sent.find(({ buttons }) => buttons.length === 2)!.buttons[0]!.value
    }

    /** It was posted and said so, or it is not known whether it was. */
    async function expectOnePost(): Promise<void> {
      await expect.poll(async () => (await pending()).filter(({ kind }) => kind === 'tool')).toEqual([])
      await expect.poll(async () => (await jobs())[0]!.status).toMatch(/^(completed|awaiting_approval)$/)
      const isUnknown = (await pending()).some(({ kind }) => kind === 'unknown_outcome')
      expect(rig.posted.length).toBeLessThanOrEqual(1)
      expect(rig.posted.length + Number(isUnknown)).toBeGreaterThanOrEqual(1)
      if (!isUnknown) await untilSaid(ANNA, 'It is posted.')
    }

    it.each([
      ['events_api sent', 1],
      ['acknowledging', 1],
      ['acknowledged', 1],
      ['chat.postMessage received', 1],
      ['chat.postMessage done', 1],
      ['chat.postMessage answered', 1],
      ['chat.postMessage done', 2],
      ['chat.postMessage answered', 2],
      ['chat.postMessage received', 3],
      ['chat.postMessage done', 3],
      ['chat.postMessage answered', 3],
    ])('at “%s” (%i), it loses and doubles nothing', async (step, times) => {
      await begin()
      await letIn(ANNA)
      await rig.slack.untilIdle()
      const before = rig.slack.sent.length
      for (let i = 0; i < 3; i++) rig.runner.modelServer.play({ text: [TEXT] })
      const reborn = killAt(step, times)
      rig.slack.say(ANNA, 'Count')
      await reborn
      await untilSaid(ANNA, /word1599$/)
      await expect.poll(async () => (await jobs())[0]?.status).toBe('completed')
      expect(await jobs()).toHaveLength(1)
      const words = rig.slack.sent
        .slice(before)
        .map(({ text }) => text)
        .join(' ')
      expect(words).toBe(TEXT)
    })

    it('between handling and acknowledging a press, it takes the press once when it is repeated', async () => {
      const value = await untilAsked()
      const reborn = killAt('acknowledging')
      rig.slack.press(ANNA, value)
      await reborn
      await rig.untilOpen()
      // It was stored before it would have been acknowledged.
      expect((await pending()).filter(({ kind }) => kind === 'tool')).toEqual([])
      const notes = rig.slack.ephemerals.length
      rig.slack.press(ANNA, value)
      await rig.slack.until(() => rig.slack.ephemerals.length > notes)
      expect(rig.slack.ephemerals.at(-1)!.text).toBe('This was already approved.')
      await expectOnePost()
      const { approvals } = await rig.runner.client.ok('listApprovals', { query: { limit: 50 } })
      expect(approvals.filter(({ kind }) => kind === 'tool').map(({ status }) => status)).toEqual(['approved'])
    })

    it.each(['interactive sent', 'chat.postEphemeral received', 'conversations.replies done', 'chat.update received', 'chat.update done'])(
      'at “%s” of a pressed approval, it runs the call once at most, and the answer stays',
      async (step) => {
        const value = await untilAsked()
        const reborn = killAt(step)
        rig.slack.press(ANNA, value)
        await reborn
        await rig.untilOpen()
        // Slack does not repeat a press, so the person presses again.
        if ((await pending()).some(({ kind }) => kind === 'tool')) rig.slack.press(ANNA, value)
        await expectOnePost()
      },
    )
  })
})
