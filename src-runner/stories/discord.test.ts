import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Agent } from '../contract/agents.ts'
import type { Channel } from '../contract/channels.ts'
import { shortCodeOf } from '../domain/approvals/short-code.ts'
import { moveChannelPosition } from '../domain/channels/channels.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { startDiscordServer, type DiscordServer, type DiscordUser } from '../testing/discord-server/discord-server.ts'
import { createSnowflakes } from '../testing/discord-server/snowflakes.ts'
import { createPostTool } from '../testing/post-tool.ts'

const ANNA: DiscordUser = { id: '4711000000000000001', username: 'anna_berg', global_name: 'Anna Berg' }
const BEN: DiscordUser = { id: '4712000000000000001', username: 'ben', global_name: 'Ben' }
const DAY_MS = 86_400_000
const idOf = (ms: number) => createSnowflakes(() => ms).next()

describe('Discord', () => {
  let discord: DiscordServer
  let runner: TestRunner
  let agent: Agent
  let posted: string[]

  beforeEach(async () => {
    posted = []
    discord = await startDiscordServer()
    runner = await createTestRunner({ moreTools: [createPostTool((text) => posted.push(text))] })
    agent = await runner.addAgent({ name: 'Ada' })
  })
  afterEach(async () => {
    await runner.stop()
    await discord.close()
  })

  const body = () => ({ agentId: agent.id, kind: 'discord', token: discord.token, baseUrl: discord.url }) as const
  const channelNow = async () => (await runner.client.ok('listChannels', { query: {} })).channels[0]!
  const personOf = async (externalId: string) => (await channelNow()).people.find((person) => person.externalId === externalId)
  const jobs = async () => (await runner.client.ok('listJobs', { query: { limit: 50 } })).jobs
  const said = (chatId: string) => discord.sent.filter((message) => message.channelId === chatId).map(({ text }) => text)
  const untilSaid = (chatId: string, text: string | RegExp) =>
    discord.until(() => said(chatId).some((one) => (typeof text === 'string' ? one === text : text.test(one))))

  async function connect(): Promise<Channel> {
    const { channel } = await runner.client.ok('createChannel', { body: body() })
    await discord.untilListening()
    return channel
  }

  async function allow(externalId: string, role: 'owner' | 'allowed' | 'refused'): Promise<void> {
    await expect.poll(() => personOf(externalId)).toBeDefined()
    const { id, channelId } = (await personOf(externalId))!
    await runner.client.ok('updateChannelPerson', { params: { channelId, personId: id }, body: { role } })
  }

  async function letIn(user: DiscordUser, role: 'owner' | 'allowed' = 'owner'): Promise<string> {
    const chatId = discord.chatOf(user)
    discord.say(user, 'Hello?')
    await allow(user.id, role)
    await untilSaid(chatId, /I am Ada/)
    return chatId
  }

  function playPost(text: string, after = 'It is posted.'): void {
    runner.modelServer.play({ toolCalls: [{ id: `call_${text}`, name: 'post', args: { text } }] }, { text: [after] })
  }

  /** As after kill -9: what the old process would still do reaches nobody. */
  async function crash(): Promise<void> {
    discord.fault(/./, { kind: 'reset' }, 1_000_000)
    const reborn = runner.restart({ crash: true })
    discord.gateway.invalidate(false)
    await reborn
    discord.gateway.invalidate(false)
    discord.clearFaults()
  }

  it('connects again after a fault of ours, and handles what was said meanwhile', async () => {
    await connect()
    const chatId = await letIn(ANNA)
    const database = new Sqlite(join(runner.dataDir, 'deckhand.db'))
    database.exec('ALTER TABLE channel_conversations RENAME TO unreadable')
    discord.gateway.invalidate(false)
    await expect.poll(channelNow).toMatchObject({ status: 'failing', problem: { code: 'chat_broken' } })

    runner.modelServer.play({ text: ['Here I am.'] })
    discord.say(ANNA, 'Where are you?')
    database.exec('ALTER TABLE unreadable RENAME TO channel_conversations')
    database.close()
    await untilSaid(chatId, 'Here I am.')
    expect(await channelNow()).toMatchObject({ status: 'open', problem: null })
  })

  it('leads from the token to the first approval that is pressed', async () => {
    const channel = await connect()
    expect(channel).toMatchObject({ name: '@deckhand_test', kind: 'discord', link: expect.stringContaining('oauth2/authorize') as string })
    await expect.poll(channelNow).toMatchObject({ status: 'open', problem: null })
    const chatId = discord.chatOf(ANNA)
    discord.say(ANNA, 'Delete everything')
    await untilSaid(chatId, 'I told my owner that you wrote. They can give you access in Deckhand.')
    expect(await jobs()).toEqual([])
    await allow(ANNA.id, 'owner')
    await untilSaid(chatId, /I am Ada/)

    playPost('one')
    discord.say(ANNA, 'Post one')
    await discord.until(() => discord.sent.some(({ buttons }) => buttons.length === 2))
    expect((await jobs())[0]).toMatchObject({ channel: 'discord', title: 'Post one' })
    expect(discord.calls.map(({ call }) => call)).toContain(`POST /channels/${chatId}/typing`)
    const asked = discord.sent.find(({ buttons }) => buttons.length === 2)!
    expect(asked.text).toContain('Post "one"')
    discord.press(BEN, asked.buttons[0]!.custom_id, chatId)
    discord.press(ANNA, asked.buttons[0]!.custom_id)
    await untilSaid(chatId, 'It is posted.')
    await discord.until(() => discord.notes.length === 2 && asked.buttons.length === 0)
    expect(discord.notes.map(({ text }) => text).sort()).toEqual(['Approved.', 'Only the owner of this agent can answer.'])
    expect(posted).toEqual(['one'])

    playPost('two', 'Then not.')
    discord.say(ANNA, 'Post two')
    await discord.until(() => discord.sent.some(({ buttons }) => buttons.length === 2))
    const code = /reject (\w{4})/.exec(discord.sent.find(({ buttons }) => buttons.length === 2)!.text)![1]!
    discord.say(ANNA, `reject ${code}`)
    await untilSaid(chatId, 'Then not.')
    expect(posted).toEqual(['one'])
  })

  it('offers only Reject for a command whose end was not shown, and attaches the whole call when it can', async () => {
    const params = { agentId: agent.id }
    await runner.client.ok('updateAgent', { params, body: { autonomy: 'ask_first', folders: [runner.makeFolder()] } })
    await connect()
    const chatId = await letIn(ANNA)
    const LONG = `${'echo All is well; '.repeat(1000)}rm -rf everything`
    const pending = async () => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
    const ask = async () => {
      const args = { command: ['sh', '-c', LONG], folder: 'folder-1' }
      runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'run_command', args }] }, { text: ['Then not.'] })
      discord.say(ANNA, 'Tidy up')
      await expect.poll(async () => (await pending()).length).toBe(1)
      const { id } = (await pending())[0]!
      const question = () => discord.sent.find(({ buttons }) => buttons.some(({ custom_id }) => custom_id.endsWith(id)))
      await discord.until(() => question() !== undefined)
      return { id, question: question()!, labels: question()!.buttons.map(({ label }) => label) }
    }
    const whole = await ask()
    expect(whole.labels).toEqual(['Approve', 'Reject'])
    const attached = discord.sent.findIndex(({ file }) => file !== null)
    expect(Buffer.from(discord.sent[attached]!.file!.bytes).toString()).toContain('rm -rf everything')
    expect(attached).toBeLessThan(discord.sent.indexOf(whole.question))
    discord.press(ANNA, `reject:${whole.id}`)
    await untilSaid(chatId, 'Then not.')

    discord.fault(/with a file$/, { kind: 'error', status: 500, message: 'Internal Server Error' }, 100)
    const cut = await ask()
    expect(cut.question.text).not.toContain('rm -rf everything')
    expect(cut.question.text).toContain('you can only approve this in Deckhand')
    expect(cut.question.text).toContain('open Deckhand on your computer, under Approvals')
    expect(cut.labels).toEqual(['Reject'])
    discord.press(ANNA, `approve:${cut.id}`)
    const note = 'Not everything about this was shown here. Open Deckhand to approve it.'
    await discord.until(() => discord.notes.some(({ text }) => text === note))
    discord.say(ANNA, `approve ${shortCodeOf(cut.id)}`)
    await untilSaid(chatId, note)
    expect(await pending()).toHaveLength(1)
    discord.press(ANNA, `reject:${cut.id}`)
    await expect.poll(pending).toEqual([])
  })

  it('stores no wrong token, and asks for a new one when it is refused', async () => {
    const wrong = await runner.client.ask('createChannel', { body: { ...body(), token: `${discord.token}x` } })
    expect(wrong).toMatchObject({
      status: 422,
      body: { error: 'channel_refused', message: expect.stringContaining('Reset Token') as string },
    })
    expect((await runner.client.ok('listChannels', { query: {} })).channels).toEqual([])
    await connect()
    discord.revokeToken()
    await expect.poll(async () => (await channelNow()).status).toBe('logged_out')
    discord.acceptToken(`${discord.token}y`)
    const { id } = await channelNow()
    await runner.client.ok('updateChannel', { params: { channelId: id }, body: { token: discord.token } })
    await discord.until(discord.gateway.isReady)
    await letIn(ANNA)
  })

  it('obeys commands from the menu', async () => {
    await connect()
    const chatId = await letIn(ANNA)
    discord.command(ANNA, 'stop')
    await untilSaid(chatId, 'There is nothing to stop.')
    discord.command(ANNA, 'agents')
    await untilSaid(chatId, /Ada/)
    discord.command(ANNA, 'new')
    await untilSaid(chatId, /new conversation/)
  })

  it('answers mentions in a server only after the server was allowed, there', async () => {
    await connect()
    await letIn(ANNA)
    const mention = `<@${discord.bot.id}>`
    discord.say(ANNA, 'just among us', { channelId: discord.roomId })
    discord.say(ANNA, `${mention} first`, { channelId: discord.roomId })
    await expect.poll(() => personOf(`room:${discord.guild.id}`)).toMatchObject({ role: 'requested', displayName: 'The crew' })
    expect(await jobs()).toEqual([])
    await allow(`room:${discord.guild.id}`, 'allowed')
    runner.modelServer.play({ text: ['Hello crew.'] })
    discord.say(BEN, `${mention} second`, { channelId: discord.roomId })
    await untilSaid(discord.roomId, 'Hello crew.')
    expect(await jobs()).toHaveLength(1)
    expect(said(discord.chatOf(BEN))).toEqual([])
  })

  it('receives what was written while it was off, once and in order, and does not run what is older than a day', async () => {
    await connect()
    await letIn(ANNA)
    const { id: channelId } = await channelNow()
    await runner.client.ok('updateChannel', { params: { channelId }, body: { enabled: false } })
    // As if the app had been off for three days.
    runner.write((tx) => moveChannelPosition(tx, channelId, JSON.stringify({ base: idOf(Date.now() - 3 * DAY_MS), chats: {} })))
    discord.say(ANNA, 'too late', { fields: { id: idOf(Date.now() - 2 * DAY_MS) } })
    discord.say(ANNA, 'one')
    discord.say(ANNA, 'two')
    runner.modelServer.play({ text: ['One.'] }, { text: ['Two.'] })
    await runner.client.ok('updateChannel', { params: { channelId }, body: { enabled: true } })
    await expect.poll(async () => (await jobs()).map(({ title }) => title)).toEqual(['two', 'one'])
    // The note waits some seconds for further late messages, and the replies wait for the note.
    const { messages } = await runner.client.ok('listOutbox', { query: { limit: 50, state: 'pending' } })
    const note = expect.stringMatching(/more than a day after they were sent.*• too late$/s) as string
    expect(messages.map(({ text }) => text)).toContainEqual(note)
  })

  it('receives each message once and in order over crashes', async () => {
    await connect()
    await letIn(ANNA)
    const all = Array.from({ length: 24 }, (_, i) => `message ${i}`)
    const left = all.slice()
    for (let life = 0; life < 3; life++) {
      for (const text of left.splice(0, 8)) discord.say(ANNA, text)
      await expect.poll(async () => (await jobs()).length).toBeGreaterThan(life * 8 + life * 2)
      await crash()
    }
    await expect.poll(async () => (await jobs()).length).toBe(24)
    expect((await jobs()).map(({ title }) => title)).toEqual(all.toReversed())
  })

  it('sends a reply once if it crashes after the service took it', async () => {
    await connect()
    const chatId = await letIn(ANNA)
    runner.modelServer.play({ text: ['Only once.'] })
    discord.fault(/^POST .*messages$/, { kind: 'lost_answer' })
    discord.fault(/^POST .*messages$/, { kind: 'stall' })
    discord.say(ANNA, 'Say it')
    await untilSaid(chatId, 'Only once.')
    await crash()
    const replies = async () =>
      (await runner.client.ok('listOutbox', { query: { limit: 50 } })).messages.filter(({ kind }) => kind === 'reply')
    await expect.poll(replies).toMatchObject([{ state: 'sent' }])
    expect(said(chatId).filter((text) => text === 'Only once.')).toHaveLength(1)
  })

  it('hears its owner through a flood of strangers', async () => {
    await connect()
    const chatId = await letIn(ANNA)
    for (let i = 0; i < 300; i++) {
      discord.say({ id: String(5_000_000_000_000_000_000n + BigInt(i % 100)), username: `mallory${i}`, global_name: null }, 'Let me in')
    }
    runner.modelServer.play({ text: ['I am here.'] })
    discord.say(ANNA, 'Are you there?')
    await untilSaid(chatId, 'I am here.')
    expect((await channelNow()).people).toHaveLength(51)
    expect(await jobs()).toHaveLength(1)
  })
})
