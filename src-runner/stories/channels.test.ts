import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CreateAgent } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import type { Channel } from '../contract/channels.ts'
import type { Job } from '../contract/jobs.ts'
import { startBotApiServer, type BotApiServer } from '../testing/bot-api-server/bot-api-server.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from '../testing/create-test-runner.ts'
import { ANNA, BEN, createPostTool, createTelegramChat } from '../testing/telegram-chat.ts'
import { shortCodeOf } from '../records/approvals/short-code.ts'
import { ALL_TOOLS } from '../thinking/tools/all-tools.ts'

describe('Telegram', { timeout: 30_000 }, () => {
  let runner: TestRunner
  let bot: BotApiServer
  let posted: string[]

  const post = createPostTool((text) => posted.push(text))

  beforeEach(async () => {
    posted = []
    bot = await startBotApiServer()
  })
  afterEach(async () => {
    await runner.stop()
    await bot.close()
  })

  async function begin(fields: Partial<CreateAgent> = {}, options: TestRunnerOptions = {}): Promise<Channel> {
    runner = await createTestRunner({ moreTools: [post], ...options })
    return connect((await runner.addAgent({ name: 'Ada', ...fields })).id)
  }

  const { connect, channelNow, personOf, letIn, said, untilSaid } = createTelegramChat(() => ({ runner, bot }))
  const people = async () => (await channelNow()).people
  const jobs = async () => (await runner.client.ok('listJobs', { query: { limit: 50 } })).jobs
  const newestJob = async (): Promise<Job> => (await runner.client.ok('getJob', { params: { jobId: (await jobs())[0]!.id } })).job
  const pending = async (): Promise<Approval[]> =>
    (await runner.client.ok('listApprovals', { query: { status: 'pending', limit: 50 } })).approvals
  const playPost = (text: string, after = 'It is posted.') =>
    runner.modelServer.play({ toolCalls: [{ id: `call_${text}`, name: 'post', args: { text } }] }, { text: [after] })

  it('connects by token, asks who a stranger is, and answers once the person has said so', async () => {
    const channel = await begin()
    expect(channel).toMatchObject({
      name: `@${bot.botName}`,
      link: `https://t.me/${bot.botName}`,
      agentName: 'Ada',
      enabled: true,
      people: [],
    })
    await expect.poll(channelNow).toMatchObject({ status: 'open', problem: '' })

    bot.say(ANNA, 'Delete everything you know')
    await untilSaid(ANNA, 'I have told the owner of this agent that you wrote. They can let you in from Deckhand.')
    bot.say(ANNA, 'Did you hear me?')
    await expect.poll(() => bot.waitingUpdates()).toBe(0)
    const person = (await personOf(ANNA))!
    expect(person).toMatchObject({ role: 'asked', displayName: 'Anna Berg', handle: '@anna_berg', conversationId: null })
    expect(said(ANNA)).toHaveLength(1)
    expect(await jobs()).toEqual([])
    await expect.poll(() => runner.notices.map(({ kind }) => kind)).toContain('channel_request')

    await runner.client.ok('updateChannelPerson', { params: { channelId: channel.id, personId: person.id }, body: { role: 'owner' } })
    await untilSaid(ANNA, /I am Ada/)
    runner.modelServer.play({ text: ['Four.'] }, { text: ['You asked for two and two.'] })
    bot.say(ANNA, 'What is two and two?')
    await untilSaid(ANNA, 'Four.')
    expect(await newestJob()).toMatchObject({
      channel: 'telegram',
      task: 'What is two and two?',
      context: { fromOwner: true, channelId: channel.id, personId: person.id },
    })
    expect(bot.calls.filter(({ method }) => method === 'sendChatAction').length).toBeGreaterThanOrEqual(1)

    bot.say(ANNA, 'What did I ask?')
    await untilSaid(ANNA, 'You asked for two and two.')
    const prompt = JSON.stringify(runner.modelServer.received.at(-1)!.body)
    expect(prompt).toContain('What is two and two?')
    expect(prompt).not.toContain('Delete everything')
  })

  it('refuses a token before it keeps anything, and a bot that is connected already', async () => {
    const channel = await begin()
    const { agentId } = channel
    const wrong = `${bot.botId}:AAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`
    const tries = [
      [{ agentId, kind: 'telegram', token: wrong, baseUrl: bot.url }, 422, 'channel_refused'],
      [{ agentId, kind: 'telegram', token: bot.token, baseUrl: 'http://127.0.0.1:9' }, 422, 'channel_refused'],
      [{ agentId, kind: 'telegram', token: bot.token, baseUrl: 'file:///etc/passwd' }, 400, 'invalid_request'],
      [{ agentId, kind: 'telegram', token: bot.token, baseUrl: bot.url }, 409, 'channel_exists'],
      [{ agentId: channel.id, kind: 'telegram', token: bot.token, baseUrl: bot.url }, 404, 'agent_not_found'],
    ] as const
    for (const [body, status, error] of tries) {
      const answer = await runner.client.ask('createChannel', { body })
      expect(answer).toMatchObject({ status, body: { error } })
      expect(JSON.stringify(answer)).not.toMatch(/AAaaaa|AAGbWf/)
    }
    expect(await runner.vault.get(`channel:${channel.id}:token`)).toBe(bot.token)
    expect((await runner.client.ok('listChannels', { query: {} })).channels).toHaveLength(1)
  })

  it('keeps the token out of its logs, its database and its answers, whatever goes wrong', async () => {
    const channel = await begin()
    for (const kind of ['reset', 'garbage'] as const) bot.fault('getUpdates', { kind })
    bot.fault('getUpdates', { kind: 'redirect', to: `/bot${bot.token}/getMe` })
    bot.fault('getUpdates', { kind: 'error', code: 500, description: `Internal: /bot${bot.token}/getUpdates` })
    bot.say(ANNA, 'Hello?')
    await expect
      .poll(() => runner.logLines.filter((line) => line.includes('a channel does not work')).length, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(3)
    await expect.poll(() => personOf(ANNA), { timeout: 20_000 }).toBeDefined()
    const answers = JSON.stringify([await channelNow(), await runner.client.ok('getChannel', { params: { channelId: channel.id } })])
    const database =
      readFileSync(join(runner.dataDir, 'deckhand.db')).toString('latin1') +
      readFileSync(join(runner.dataDir, 'deckhand.db-wal')).toString('latin1')
    for (const text of [answers, database, runner.logLines.join('\n')]) expect(text).not.toContain(bot.token)
  })

  it('lets a guest talk as a stranger, who decides nothing', async () => {
    await begin()
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    playPost('hello', 'Done.')
    bot.say(BEN, 'Post hello')
    await expect.poll(pending).toHaveLength(1)
    const [approval] = (await pending()) as [Approval]
    expect(approval.marks.untrusted).toMatchObject({ cause: 'a message in Telegram started it' })
    expect((await newestJob()).context).toMatchObject({ fromOwner: false, personName: 'Ben' })
    await bot.until(() => bot.sent.some((message) => message.chatId === ANNA.id && message.buttons.length === 2))

    bot.press(BEN, `approve:${approval.id}`)
    await bot.until(() => bot.notes.length === 1)
    expect(bot.notes[0]!.text).toBe('Only the owner of this agent can answer.')
    runner.modelServer.play({ text: ['I heard you.'] })
    bot.say(BEN, `approve ${shortCodeOf(approval.id)}`)
    await expect.poll(async () => (await jobs()).length).toBe(2)
    expect(await pending()).toHaveLength(1)
    expect(posted).toEqual([])

    bot.press(ANNA, `approve:${approval.id}`)
    await bot.until(() => bot.notes.length === 2)
    expect(bot.notes[1]!.text).toBe('Approved.')
    await untilSaid(BEN, 'Done.')
    expect(posted).toEqual(['hello'])
  })

  it('lays nothing of the person before a guest, and lets the person read an answer that may hold such a thing', async () => {
    await begin()
    const { agentId } = await channelNow()
    await runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [runner.makeFolder({ 'diary.txt': 'I like Carl.' })] } })
    await runner.client.ok('createMemory', { body: { agentId, text: 'The person likes Carl.' } })
    await letIn(ANNA)
    await letIn(BEN, 'allowed')
    runner.modelServer.play({ text: ['Hello Ben.'] })
    bot.say(BEN, 'Hello')
    await untilSaid(BEN, 'Hello Ben.')
    const prompt = JSON.stringify(runner.modelServer.received.at(-1)!.body)
    expect(prompt).toContain('The messages come from Ben, a guest')
    expect(prompt).not.toContain('Carl')

    runner.modelServer.play(
      { toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: 'folder-1/diary.txt' } }] },
      { text: ['The person likes Carl.'] },
    )
    bot.say(BEN, 'Whom does Anna like?')
    await untilSaid(BEN, 'I will show my answer to the person I work for before I send it.')
    const held = async () => (await runner.client.ok('listOutbox', { query: { limit: 50, state: 'undeliverable' } })).messages
    expect(await held()).toMatchObject([
      { kind: 'reply', text: 'The person likes Carl.', problem: expect.stringContaining('guest') as string },
    ])
    expect((await runner.client.ok('listAttention')).items).toMatchObject([{ kind: 'message_undeliverable' }])
    expect(said(BEN)).not.toContain('The person likes Carl.')
    await runner.client.ok('retryOutbound', { params: { messageId: (await held())[0]!.id } })
    await untilSaid(BEN, 'The person likes Carl.')

    runner.modelServer.play(
      { toolCalls: [{ id: 'call_2', name: 'read_file', args: { path: 'folder-1/diary.txt' } }] },
      { text: ['You like Carl.'] },
    )
    bot.say(ANNA, 'Whom do I like?')
    await untilSaid(ANNA, 'You like Carl.')
    expect(JSON.stringify(runner.modelServer.received.at(-1)!.body)).toContain('- The person likes Carl.')
  })

  it('takes the answer to an approval by button, and takes the buttons away wherever it was answered', async () => {
    await begin()
    await letIn(ANNA)
    playPost('one')
    bot.say(ANNA, 'Post one')
    await bot.until(() => bot.sent.some((message) => message.buttons.length === 2))
    const asked = bot.sent.find((message) => message.buttons.length === 2)!
    expect(asked.text).toContain('Post "one"')
    bot.press(ANNA, asked.buttons[0]!.callback_data)
    await untilSaid(ANNA, 'It is posted.')
    expect(posted).toEqual(['one'])
    await bot.until(() => asked.buttons.length === 0)

    playPost('two', 'Then not.')
    bot.say(ANNA, 'Post two')
    await bot.until(() => bot.sent.some((message) => message.buttons.length === 2))
    const second = bot.sent.find((message) => message.buttons.length === 2)!
    const reject = second.buttons[1]!.callback_data
    const [approval] = (await pending()) as [Approval]
    await runner.client.ok('resolveApproval', { body: { approvalId: approval.id, decision: 'reject' } })
    await untilSaid(ANNA, 'Then not.')
    await bot.until(() => second.buttons.length === 0)
    bot.press(ANNA, reject)
    await bot.until(() => bot.notes.length === 2)
    expect(bot.notes.map((note) => note.text)).toEqual(['Approved.', 'This was rejected already.'])
    expect(posted).toEqual(['one'])
  })

  it('takes an answer as a code, and no answer to what another agent asks', async () => {
    const channel = await begin()
    await letIn(ANNA)
    const other = await runner.addAgent({ name: 'Bob' })
    runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'post', args: { text: 'theirs' } }] })
    await runner.client.ok('submitTask', { body: { task: 'Post theirs', agentId: other.id } })
    await expect.poll(pending).toHaveLength(1)
    const [theirs] = (await pending()) as [Approval]
    bot.press(ANNA, `approve:${theirs.id}`)
    bot.press(ANNA, 'approve:not-an-id')
    bot.press(ANNA, `choose:${theirs.id}:0`)
    await bot.until(() => bot.notes.length === 3)
    expect(bot.notes.map((note) => note.text)).toEqual(Array(3).fill('There is no such question any more.'))
    bot.say(ANNA, `approve ${shortCodeOf(theirs.id)}`)
    await untilSaid(ANNA, `Nothing with the code ${shortCodeOf(theirs.id)} waits for an answer.`)
    expect(posted).toEqual([])

    playPost('mine')
    bot.say(ANNA, 'Post mine')
    await expect.poll(pending).toHaveLength(2)
    const mine = (await pending()).find((approval) => approval.agentId === channel.agentId)!
    bot.say(ANNA, `Reject ${shortCodeOf(mine.id).toLowerCase()}`)
    await untilSaid(ANNA, 'Rejected.')
    await untilSaid(ANNA, 'It is posted.')
    expect(posted).toEqual([])
  })

  it('takes words as the answer to a question of the agent', async () => {
    await begin({}, { tools: ALL_TOOLS })
    await letIn(ANNA)
    const ask = (id: string) => ({ toolCalls: [{ id, name: 'ask_person', args: { question: 'Which colour?' } }] })
    runner.modelServer.play(ask('call_1'), { text: ['Green it is.'] }, ask('call_2'), { text: ['Blue it is.'] })
    bot.say(ANNA, 'Paint it')
    await untilSaid(ANNA, /Which colour\?/)
    const question = bot.sent.find((message) => message.text.includes('Which colour?'))!
    bot.say(ANNA, 'green', { replyTo: question.messageId })
    await untilSaid(ANNA, 'Green it is.')
    expect(JSON.stringify(runner.modelServer.received.at(-1)!.body)).toContain('green')

    bot.say(ANNA, 'Paint the other')
    await bot.until(() => bot.sent.filter((message) => message.text.includes('Which colour?')).length === 2)
    bot.say(ANNA, 'blue')
    await untilSaid(ANNA, 'Blue it is.')
    expect(await jobs()).toHaveLength(2)
  })

  it('puts files where the agent can read them, and sends files of the agent', async () => {
    await begin({ folders: [] })
    const folder = runner.makeFolder()
    await letIn(ANNA)
    const { agentId } = await channelNow()
    runner.modelServer.play({ text: ['No folder.'] })
    bot.sendFile(ANNA, { name: 'a.txt', bytes: Buffer.from('alpha'), caption: 'Keep this' })
    await untilSaid(ANNA, 'No folder.')
    expect((await newestJob()).task).toMatch(/^Keep this\n\n\(The file “a\.txt” did not arrive: this agent has no folder/)

    await runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    runner.modelServer.play(
      { toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: 'folder-1/Received/a.txt' } }] },
      { text: ['It says alpha.'] },
    )
    bot.sendFile(ANNA, { name: '../../.a.txt', bytes: Buffer.from('alpha') })
    await untilSaid(ANNA, 'It says alpha.')
    expect(await newestJob()).toMatchObject({ title: 'a.txt', task: 'Files that came with this message:\n- folder-1/Received/a.txt' })

    runner.modelServer.play({ text: ['Three.'] })
    bot.sendFile(ANNA, { name: 'a.txt', bytes: Buffer.from('beta'), album: 'x', caption: 'Look at these' })
    bot.sendFile(ANNA, { name: 'photo', bytes: Buffer.from('jpeg'), as: 'photo', album: 'x' })
    bot.sendFile(ANNA, { name: 'huge.zip', bytes: Buffer.from('z'), size: 20_000_001, album: 'x' })
    await untilSaid(ANNA, 'Three.')
    const { task } = await newestJob()
    expect(task).toMatch(
      /^Look at these\n\nFiles that came with this message:\n- folder-1\/Received\/a \(2\)\.txt\n- folder-1\/Received\/photo-\d+\.jpg\n\n/,
    )
    expect(task).toContain('“huge.zip” did not arrive: it is larger than the 20 MB')
    expect(readdirSync(join(folder, 'Received')).length).toBe(3)
    expect(readFileSync(join(folder, 'Received', 'a (2).txt'), 'utf8')).toBe('beta')
    expect(existsSync(join(folder, '..', '.a.txt'))).toBe(false)

    runner.modelServer.play(
      {
        toolCalls: [
          { id: 'call_2', name: 'return_result', args: { summary: 'Two files', files: ['folder-1/Received/a.txt', 'folder-1/gone.txt'] } },
        ],
      },
      { toolCalls: [{ id: 'call_3', name: 'return_result', args: { summary: 'A file', files: ['folder-1/Received/a.txt'] } }] },
      { text: ['Here it is.'] },
    )
    bot.say(ANNA, 'Send it back')
    await bot.until(() => bot.sent.some((message) => message.document !== null))
    expect(bot.sent.at(-2)!.text).toBe('Here it is.')
    expect(bot.sent.at(-1)!.document).toEqual({ name: 'a.txt', bytes: Buffer.from('alpha') })
  })

  it('cuts a long answer into messages and loses nothing of it', async () => {
    await begin()
    await letIn(ANNA)
    const words = Array.from({ length: 2000 }, (_, i) => `word${i}`)
    runner.modelServer.play({ text: [`**Here:** ${words.join(' ')}`] })
    bot.say(ANNA, 'Talk')
    await untilSaid(ANNA, /word1999$/)
    const pieces = said(ANNA).filter((text) => text.includes('word'))
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces.join(' ').match(/word\d+/g)).toEqual(words)
  })

  it('takes in what was written while it was away, once, whenever it died', async () => {
    await begin()
    await letIn(ANNA)
    runner.modelServer.play({ text: ['One.'] })
    bot.say(ANNA, 'one')
    await untilSaid(ANNA, 'One.')
    // Confirmed to the service or not, what was kept is behind us.
    bot.repeatUpdates(1)
    runner.modelServer.play({ text: ['Two.'] }, { text: ['Three.'] })
    await runner.restart({ crash: true })
    bot.say(ANNA, 'two')
    await untilSaid(ANNA, 'Two.')
    await runner.restart()
    bot.say(ANNA, 'three')
    await untilSaid(ANNA, 'Three.')
    expect((await jobs()).map((job) => job.title)).toEqual(['three', 'two', 'one'])
    expect(new Set((await jobs()).map((job) => job.conversationId)).size).toBe(1)
  })

  it('takes each message in once and in order, however often it dies between them', async () => {
    await begin()
    await letIn(ANNA)
    const messages = Array.from({ length: 40 }, (_, i) => `message ${i}`)
    const written = messages.slice()
    for (let life = 0; life < 4; life++) {
      for (const text of written.splice(0, 10)) bot.say(ANNA, text)
      await expect.poll(async () => (await jobs()).length).toBeGreaterThan(life * 10 + life * 3)
      // What this process still does after the moment of its death reaches nobody.
      bot.fault('getUpdates', { kind: 'reset' }, 1_000_000)
      const reborn = runner.restart({ crash: true })
      bot.breakPoll()
      await reborn
      bot.clearFaults()
    }
    await expect.poll(async () => (await jobs()).length, { timeout: 20_000 }).toBe(40)
    expect((await jobs()).map((job) => job.title)).toEqual(messages.reverse())
    expect(new Set((await jobs()).map((job) => job.conversationId)).size).toBe(1)
  })

  it('takes a message in once when it dies while the file of it is fetched', async () => {
    await begin()
    const folder = runner.makeFolder()
    const { agentId } = await channelNow()
    await runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    await letIn(ANNA)
    const fetched = () => bot.calls.filter(({ method }) => method === 'getFile').length
    bot.fault('getFile', { kind: 'stall' })
    bot.sendFile(ANNA, { name: 'a.txt', bytes: Buffer.from('alpha'), caption: 'Read this' })
    bot.say(ANNA, 'And then this')
    await bot.until(() => fetched() === 1)
    expect(await jobs()).toEqual([])
    runner.modelServer.play({ text: ['One.'] }, { text: ['Two.'] })
    await runner.restart({ crash: true })
    await untilSaid(ANNA, 'Two.')
    expect((await jobs()).map((job) => job.title)).toEqual(['And then this', 'Read this'])
    expect(readdirSync(join(folder, 'Received'))).toEqual(['a.txt'])
    expect(fetched()).toBe(2)
  })

  it('keeps no message that it cannot put on disk, and takes it in when it can', async () => {
    await begin()
    await letIn(ANNA)
    const makeRoom = runner.fillDisk()
    runner.modelServer.play({ text: ['Done.'] })
    const long = 'x'.repeat(4000)
    for (let i = 0; i < 5; i++) bot.say(ANNA, `${i} ${long}`)
    await bot.until(() => bot.calls.filter(({ method }) => method === 'getUpdates').length > 0)
    await expect.poll(() => runner.logLines.join('\n'), { timeout: 10_000 }).toContain('a channel does not work')
    makeRoom()
    await expect.poll(async () => (await jobs()).length, { timeout: 20_000 }).toBe(5)
    expect((await jobs()).map((job) => job.title.slice(0, 1))).toEqual(['4', '3', '2', '1', '0'])
  })

  it('says that a message cannot be delivered to somebody who blocked the bot', async () => {
    await begin()
    await letIn(ANNA)
    runner.modelServer.play({ text: ['Nobody reads this.'] })
    bot.block(ANNA)
    bot.say(ANNA, 'Hello')
    await expect
      .poll(async () => (await runner.client.ok('listOutbox', { query: { limit: 50, state: 'undeliverable' } })).messages)
      .toMatchObject([{ kind: 'reply', text: 'Nobody reads this.', problem: expect.stringContaining('blocked') as string, tries: 1 }])
  })

  it('says so when the token was taken back, and goes on with a new one of the same bot only', async () => {
    const channel = await begin()
    await letIn(ANNA)
    bot.revokeToken()
    await expect.poll(channelNow).toMatchObject({ status: 'logged_out', problem: expect.stringContaining('@BotFather') as string })
    await expect.poll(() => runner.notices.map(({ kind }) => kind)).toContain('channel_logged_out')
    const params = { channelId: channel.id }
    expect(await runner.client.ok('testChannel', { params })).toMatchObject({ ok: false })

    bot.acceptToken(`${bot.botId}:BBnewToken-0123456789abcdefghijklmnop`)
    await runner.client.ok('updateChannel', { params, body: { token: bot.token } })
    await expect.poll(channelNow).toMatchObject({ status: 'open', problem: '' })
    runner.modelServer.play({ text: ['Back again.'] })
    bot.say(ANNA, 'Hello')
    await untilSaid(ANNA, 'Back again.')

    bot.acceptToken('7000000002:CCotherBot-0123456789abcdefghijklmnop', { id: 7_000_000_002, name: 'another_bot' })
    expect(await runner.client.ask('updateChannel', { params, body: { token: bot.token } })).toMatchObject({
      status: 422,
      body: { error: 'channel_refused', message: expect.stringContaining('another_bot') as string },
    })
  })

  it('offers /new, /stop and /help in the menu of the chat, and understands them', async () => {
    await begin()
    await letIn(ANNA)
    expect(bot.menu()).toEqual([
      { command: 'new', description: 'Begins a new conversation' },
      { command: 'stop', description: 'Stops what I am doing' },
      { command: 'help', description: 'Shows these commands' },
    ])
    bot.say(ANNA, '/help')
    await untilSaid(ANNA, /\/stop stops what I am doing/)
    runner.modelServer.play({ text: ['One.'] })
    bot.say(ANNA, 'one')
    await untilSaid(ANNA, 'One.')
    bot.say(ANNA, '/new')
    await untilSaid(ANNA, 'Your next message begins a new conversation.')
    runner.modelServer.play({ text: ['Never', ' said'], fault: { kind: 'stall', afterFrames: 1 } })
    bot.say(ANNA, 'two')
    await runner.modelServer.untilReceived(2)
    expect(JSON.stringify(runner.modelServer.received.at(-1)!.body)).not.toContain('"one"')
    bot.say(ANNA, '/stop@deckhand_test_bot')
    await expect.poll(async () => (await newestJob()).status).toBe('cancelled')
    await untilSaid(ANNA, /stopped/)
    bot.say(ANNA, '/stop')
    await untilSaid(ANNA, 'There is nothing to stop.')
  })

  it('treats what the owner passes on as the words of others', async () => {
    await begin()
    await letIn(ANNA)
    playPost('spam', 'I asked.')
    bot.say(ANNA, '/stop', { forwardedFrom: BEN })
    await expect.poll(pending).toHaveLength(1)
    expect(await newestJob()).toMatchObject({ title: '/stop', task: 'Forwarded. These are the words of Ben, not mine:\n\n/stop' })
    expect((await newestJob()).context).toMatchObject({ fromOwner: false })
    expect((await pending())[0]!.marks.untrusted).toMatchObject({ cause: 'a message in Telegram started it' })
    bot.say(ANNA, `approve ${shortCodeOf((await pending())[0]!.id)}`, { forwardedFrom: BEN })
    await expect.poll(async () => (await jobs()).length).toBe(2)
    expect(posted).toEqual([])
  })

  it('says nothing in groups, hears no more strangers than it can show, and shows their names as they are', async () => {
    await begin()
    bot.say(ANNA, 'Hello all', { group: true })
    for (let i = 0; i < 60; i++) bot.say({ id: 10_000 + i, first_name: `User\u202e ${i}\n`, last_name: 'x'.repeat(500) }, 'Hi')
    await expect.poll(() => bot.waitingUpdates(), { timeout: 10_000 }).toBe(0)
    const asked = await people()
    expect(asked).toHaveLength(50)
    expect(asked.every(({ role, displayName }) => role === 'asked' && /^User \d+ x+$/.test(displayName) && displayName.length <= 64)).toBe(
      true,
    )
    await bot.untilSent(50)
    expect(new Set(bot.sent.map(({ chatId }) => chatId)).size).toBe(50)
    expect(bot.sent.some(({ chatId }) => chatId < 0)).toBe(false)
    expect(await jobs()).toEqual([])
  })

  it('hears nothing while it is off, and what was written then when it is on again', async () => {
    const channel = await begin()
    await letIn(ANNA)
    const params = { channelId: channel.id }
    expect((await runner.client.ok('updateChannel', { params, body: { enabled: false } })).channel).toMatchObject({
      status: 'off',
      enabled: false,
    })
    runner.modelServer.play({ text: ['I am back.'] })
    bot.say(ANNA, 'Are you there?')
    expect(await runner.client.ok('testChannel', { params })).toEqual({ ok: false, message: 'The channel is off. Turn it on first.' })
    expect(bot.waitingUpdates()).toBe(1)
    await runner.client.ok('updateChannel', { params, body: { enabled: true } })
    await untilSaid(ANNA, 'I am back.')
    expect(await runner.client.ok('testChannel', { params })).toEqual({ ok: true, message: 'Sent to Anna Berg.' })
    await untilSaid(ANNA, /This is a test from Deckhand/)
    const { lastRoundTripAt } = await channelNow()
    expect(lastRoundTripAt).toBeGreaterThan(Date.now() - 60_000)
  })

  it('is gone with its agent, and with it the token', async () => {
    const channel = await begin()
    await letIn(ANNA)
    await runner.addAgent({ name: 'Bob' })
    await runner.client.ok('deleteAgent', { params: { agentId: channel.agentId } })
    expect((await runner.client.ok('listChannels', { query: {} })).channels).toEqual([])
    await expect.poll(() => runner.vault.get(`channel:${channel.id}:token`)).toBeNull()
    const asked = bot.calls.length
    bot.say(ANNA, 'Anybody?')
    expect(bot.waitingUpdates()).toBe(1)
    expect(bot.calls.length).toBe(asked)
  })

  it('connects nothing in safe mode', async () => {
    await begin()
    await letIn(ANNA)
    await runner.restart({ config: { safeMode: true } })
    const asked = bot.calls.length
    bot.say(ANNA, 'Crash again')
    expect(await channelNow()).toMatchObject({ status: 'off', enabled: true, problem: expect.stringContaining('safe mode') as string })
    expect(bot.calls.length).toBe(asked)
    runner.modelServer.play({ text: ['Here.'] })
    await runner.restart({ config: { safeMode: false } })
    await untilSaid(ANNA, 'Here.')
  })

  it('is silent to somebody who is refused, and stops what it does for them', async () => {
    const channel = await begin()
    const ben = await letIn(BEN, 'allowed')
    runner.modelServer.play({ text: ['Never'], fault: { kind: 'stall', afterFrames: 1 } })
    bot.say(BEN, 'Work')
    await runner.modelServer.untilReceived(1)
    await runner.client.ok('updateChannelPerson', { params: { channelId: channel.id, personId: ben.id }, body: { role: 'refused' } })
    await expect.poll(async () => (await newestJob()).status).toBe('cancelled')
    const before = said(BEN).length
    bot.say(BEN, 'Hello?')
    await expect.poll(() => bot.waitingUpdates()).toBe(0)
    expect(await jobs()).toHaveLength(1)
    expect(said(BEN)).toHaveLength(before)
  })
})
