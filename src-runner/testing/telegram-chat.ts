import { afterEach, beforeEach, expect } from 'vitest'
import type { Agent, CreateAgent } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import type { Channel, ChannelPerson } from '../contract/channels.ts'
import type { Job, JobSummary } from '../contract/jobs.ts'
import type { OutboundMessage } from '../contract/outbox.ts'
import { startBotApiServer, type BotApiServer, type ServedUser } from './bot-api-server/bot-api-server.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from './create-test-runner.ts'
import { systemClock } from '../lib/clock.ts'
import { createPostTool } from './post-tool.ts'

export const ANNA: ServedUser = { id: 4711, first_name: 'Anna', last_name: 'Berg', username: 'anna_berg' }
export const BEN: ServedUser = { id: 4712, first_name: 'Ben' }

export type TelegramChat = {
  /** Connects the bot to an agent and waits until it is open. Returns the channel as it was created. */
  connect(agentId?: string): Promise<Channel>
  /** The only channel. */
  channelNow(): Promise<Channel>
  /** A person as the channel knows them; undefined: they have not written yet. */
  personOf(user: ServedUser): Promise<ChannelPerson | undefined>
  setRole(user: ServedUser, role: 'owner' | 'allowed' | 'refused'): Promise<void>
  /** They write for the first time and get a role in Deckhand. Resolves when they have been notified. */
  letIn(user: ServedUser, role?: 'owner' | 'allowed'): Promise<ChannelPerson>
  /** What the bot has sent to them. */
  said(user: ServedUser): string[]
  /** A text must match exactly, an expression anywhere. */
  untilSaid(user: ServedUser, text: string | RegExp): Promise<void>
}

/** The whole runner and a bot at a local service, both new for each test. */
export type TelegramRig = TelegramChat & {
  readonly runner: TestRunner
  readonly bot: BotApiServer
  /** The runner that `begin` has started. */
  readonly agent: Agent
  /** The texts that the tool `post` got. */
  readonly posted: string[]
  /** Starts a runner with an agent that has the tool `post`. */
  begin(fields?: Partial<CreateAgent>, options?: TestRunnerOptions): Promise<Agent>
  /** As `begin`, and connects the bot to the agent. */
  beginConnected(fields?: Partial<CreateAgent>, options?: TestRunnerOptions): Promise<Channel>
  /** Newest first, like all lists. */
  jobs(): Promise<JobSummary[]>
  newestJob(): Promise<Job>
  /** Approvals that wait. */
  pending(): Promise<Approval[]>
  outbox(query?: { state?: OutboundMessage['state']; jobId?: string }): Promise<OutboundMessage[]>
  /** The model posts this and then replies with that. */
  playPost(text: string, after?: string): void
}

/** To be called once in a `describe`. */
export function useTelegramRig(): TelegramRig {
  let runner: TestRunner
  let bot: BotApiServer
  let agent: Agent
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
  const rig: TelegramRig = {
    ...createTelegramChat(() => ({ runner, bot, agent })),
    get runner() {
      return runner
    },
    get bot() {
      return bot
    },
    get agent() {
      return agent
    },
    get posted() {
      return posted
    },
    async begin(fields = {}, options = {}) {
      runner = await createTestRunner({ moreTools: [post], ...options })
      bot.clock.now = (options.clock ?? systemClock).now
      agent = await runner.addAgent({ name: 'Ada', ...fields })
      return agent
    },
    async beginConnected(fields, options) {
      await rig.begin(fields, options)
      return rig.connect()
    },
    jobs: async () => (await runner.client.ok('listJobs', { query: { limit: 50 } })).jobs,
    newestJob: async () => (await runner.client.ok('getJob', { params: { jobId: (await rig.jobs())[0]!.id } })).job,
    pending: async () => (await runner.client.ok('listApprovals', { query: { status: 'pending', limit: 50 } })).approvals,
    outbox: async (query = {}) => (await runner.client.ok('listOutbox', { query: { ...query, limit: 50 } })).messages,
    playPost: (text, after = 'It is posted.') =>
      runner.modelServer.play({ toolCalls: [{ id: `call_${text}`, name: 'post', args: { text } }] }, { text: [after] }),
  }
  return rig
}

/** What people do and see in a chat with an agent's bot. `stage` is a function, because each test has its own. */
function createTelegramChat(stage: () => { runner: TestRunner; bot: BotApiServer; agent: Agent }): TelegramChat {
  const chat: TelegramChat = {
    async connect(agentId = stage().agent.id) {
      const { runner, bot } = stage()
      const body = { agentId, kind: 'telegram', token: bot.token, baseUrl: bot.url } as const
      const { channel } = await runner.client.ok('createChannel', { body })
      await expect.poll(async () => (await chat.channelNow()).status).toBe('open')
      return channel
    },
    channelNow: async () => (await stage().runner.client.ok('listChannels', { query: {} })).channels[0]!,
    personOf: async (user) => (await chat.channelNow()).people.find(({ externalId }) => externalId === String(user.id)),
    async setRole(user, role) {
      const { id, channelId } = (await chat.personOf(user))!
      await stage().runner.client.ok('updateChannelPerson', { params: { channelId, personId: id }, body: { role } })
    },
    async letIn(user, role = 'owner') {
      const { bot } = stage()
      bot.say(user, 'Hello?')
      await expect.poll(() => chat.personOf(user)).toBeDefined()
      await chat.setRole(user, role)
      await bot.until(() => chat.said(user).length >= 2)
      return (await chat.personOf(user))!
    },
    said: (user) =>
      stage()
        .bot.sent.filter(({ chatId }) => chatId === user.id)
        .map(({ text }) => text),
    untilSaid: (user, text) =>
      stage().bot.until(() => chat.said(user).some((one) => (typeof text === 'string' ? one === text : text.test(one)))),
  }
  return chat
}
