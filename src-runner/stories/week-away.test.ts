import { afterEach, beforeAll, expect, it } from 'vitest'
import type { Agent } from '../contract/agents.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/log.ts'
import { silenceConsole } from '../platform/log/create-log.ts'
import { startBotApiServer } from '../testing/bot-api-server/bot-api-server.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { startDiscordServer } from '../testing/discord-server/discord-server.ts'
import { createSnowflakes } from '../testing/discord-server/snowflakes.ts'
import { startSlackServer } from '../testing/slack-server/slack-server.ts'
import { startWhatsAppServer } from '../testing/whatsapp-server/whatsapp-server.ts'

const DAY_MS = 24 * 3_600_000
const WEEK_MS = 7 * DAY_MS

/** A service, and its owner of the agent. */
type Away = {
  config?: { testMessenger: { url: string; rootKey: string } }
  connect(): Promise<void>
  say(text: string): void
  /** While we are away. */
  sayUnheard(text: string, sentAt: number): void
  said(): string[]
  /** The next message that we send is not accepted. */
  refuse(): void
  close(): Promise<void>
}

const SERVICES: Record<string, (stage: () => { runner: TestRunner; agent: Agent; now: () => number }) => Promise<Away>> = {
  async telegram(stage) {
    const bot = await startBotApiServer()
    const anna = { id: 4711, first_name: 'Anna' }
    bot.clock.now = () => stage().now()
    const body = () => ({ agentId: stage().agent.id, kind: 'telegram', token: bot.token, baseUrl: bot.url }) as const
    return {
      connect: async () => void (await stage().runner.client.ok('createChannel', { body: body() })),
      say: (text) => void bot.say(anna, text),
      sayUnheard: (text, sentAt) => void bot.say(anna, text, { sentAt }),
      said: () => bot.sent.map(({ text }) => text),
      refuse: () => bot.fault('sendMessage', { kind: 'error', code: 500, description: 'Internal' }),
      close: bot.close,
    }
  },
  async discord(stage) {
    const discord = await startDiscordServer({ now: () => stage().now() })
    const anna = { id: '4711000000000000001', username: 'anna', global_name: 'Anna' }
    const body = () => ({ agentId: stage().agent.id, kind: 'discord', token: discord.token, baseUrl: discord.url }) as const
    return {
      async connect() {
        await stage().runner.client.ok('createChannel', { body: body() })
        await discord.untilListening()
      },
      say: (text) => void discord.say(anna, text),
      sayUnheard: (text, sentAt) => void discord.say(anna, text, { fields: { id: createSnowflakes(() => sentAt).next() } }),
      said: () => discord.sent.map(({ text }) => text),
      refuse: () => discord.fault(/^POST .*messages$/, { kind: 'error', status: 500, message: 'Internal' }),
      close: discord.close,
    }
  },
  async slack(stage) {
    const slack = await startSlackServer()
    const anna = { id: 'U0ANNA00001', name: 'anna', realName: 'Anna Berg' }
    const body = () =>
      ({ agentId: stage().agent.id, kind: 'slack', token: slack.botToken, appToken: slack.appToken, baseUrl: slack.url }) as const
    return {
      async connect() {
        await stage().runner.client.ok('createChannel', { body: body() })
        await slack.untilConnected()
      },
      say: (text) => void slack.say(anna, text),
      sayUnheard(text, sentAt) {
        slack.shiftTimes(sentAt - Date.now())
        slack.sayUnheard(anna, text)
      },
      said: () => slack.sent.map(({ text }) => text),
      refuse: () => slack.fault('chat.postMessage', { kind: 'reset' }),
      close: slack.close,
    }
  },
  async messenger(stage) {
    const phone = await startWhatsAppServer()
    const pairing = () => stage().runner.client.ok('getPairing', { query: { agentId: stage().agent.id } })
    return {
      config: { testMessenger: { url: phone.url, rootKey: Buffer.from(phone.rootKey).toString('hex') } },
      async connect() {
        await stage().runner.client.ok('startPairing', { body: { agentId: stage().agent.id } })
        await expect.poll(async () => (await pairing()).status).toBe('qr_pending')
        phone.scan((await pairing()).qr!)
        await expect.poll(async () => (await pairing()).status).toBe('open')
      },
      say: (text) => void phone.sayOnPhone(text),
      sayUnheard: (text, sentAt) => void phone.sayOnPhone(text, { sentAt }),
      said: () => phone.sent.map(({ text }) => text),
      refuse: () => void phone.faults.message.push('reset'),
      close: phone.close,
    }
  },
}

// The encryption prints keys.
beforeAll(() => silenceConsole(silentLog))

let runner: TestRunner
let service: Away
afterEach(async () => {
  await runner.stop()
  await service.close()
})

it.each(Object.keys(SERVICES))('a week away from %s loses nothing without a word', async (kind) => {
  let ahead = 0
  let agent: Agent
  const now = () => Date.now() + ahead
  service = await SERVICES[kind]!(() => ({ runner, agent, now }))
  runner = await createTestRunner({ clock: { ...systemClock, now }, config: service.config ?? {} })
  agent = await runner.addAgent({ name: 'Ada' })
  const channel = async () => (await runner.client.ok('listChannels', { query: {} })).channels[0]
  const jobs = async () => (await runner.client.ok('listJobs', { query: { limit: 50 } })).jobs.map(({ title }) => title).reverse()
  const replies = async () =>
    (await runner.client.ok('listOutbox', { query: { limit: 50 } })).messages.filter((message) => message.kind === 'reply').reverse()
  await service.connect()
  await expect.poll(async () => (await channel())?.status).toBe('open')
  if (kind !== 'messenger') service.say('Hello?')
  await expect.poll(async () => (await channel())!.people).toHaveLength(1)
  const { id: personId, channelId, role } = (await channel())!.people[0]!
  if (role !== 'owner') await runner.client.ok('updateChannelPerson', { params: { channelId, personId }, body: { role: 'owner' } })
  await expect.poll(() => service.said().join('\n')).toContain('I am Ada')

  // The reply is not accepted at first, and then nobody is there to send it.
  runner.modelServer.play({ text: ['Before.'] })
  service.refuse()
  service.say('before')
  await expect.poll(replies).toMatchObject([{ state: 'pending', problem: expect.anything() as unknown }])
  await runner.restart({ config: { safeMode: true } })
  const left = Date.now()
  service.sayUnheard('on the first day', left + DAY_MS)
  service.sayUnheard('one', left + WEEK_MS - 3_600_000)
  service.sayUnheard('two', left + WEEK_MS - 60_000)
  await runner.runner.stop({ graceMs: 0 })
  ahead = WEEK_MS
  runner.modelServer.play({ text: ['One.'] }, { text: ['Two.'] })
  await runner.restart({ config: { safeMode: false } })

  await expect.poll(() => service.said()).toContain('Two.')
  expect(await jobs()).toEqual(['before', 'one', 'two'])
  const said = service.said()
  expect(said.filter((text) => /^(One|Two)\.$/.test(text))).toEqual(['One.', 'Two.'])
  expect(said.filter((text) => text.includes('more than a day after they were sent'))).toEqual([
    expect.stringMatching(/• on the first day$/),
  ])
  // What the agent sent arrived once, or is shown with the reason.
  const [before] = await replies()
  const arrived = said.filter((text) => text === 'Before.').length
  if (before!.state === 'undeliverable') expect([arrived, before!.problem]).toEqual([0, expect.anything()])
  else expect([arrived, before!.state]).toEqual([1, 'sent'])
  // Telegram deletes after a day what nobody has read, so its owner is told.
  expect(said.filter((text) => text.startsWith('I was away for 7 days.'))).toHaveLength(kind === 'telegram' ? 1 : 0)
})
