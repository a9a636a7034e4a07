import { expect } from 'vitest'
import { z } from 'zod'
import type { Channel, ChannelPerson } from '../contract/channels.ts'
import { defineTool, type Tool } from '../thinking/tools/tool.ts'
import type { BotApiServer, ServedUser } from './bot-api-server/bot-api-server.ts'
import type { TestRunner } from './create-test-runner.ts'

export const ANNA: ServedUser = { id: 4711, first_name: 'Anna', last_name: 'Berg', username: 'anna_berg' }
export const BEN: ServedUser = { id: 4712, first_name: 'Ben' }

export type TelegramChat = {
  /** Gives the agent the bot. Whether the connection works is seen a moment later. */
  connect(agentId: string): Promise<Channel>
  /** The only channel there is. */
  channelNow(): Promise<Channel>
  /** What the channel knows of somebody; undefined: they have not written yet. */
  personOf(user: ServedUser): Promise<ChannelPerson | undefined>
  setRole(user: ServedUser, role: 'owner' | 'allowed' | 'refused'): Promise<void>
  /** They write for the first time, and the person of Deckhand says who they are. Resolves when they have been told. */
  letIn(user: ServedUser, role?: 'owner' | 'allowed'): Promise<ChannelPerson>
  /** What the bot has said to them. */
  said(user: ServedUser): string[]
  /** A text has to be said as it is, an expression to be found. */
  untilSaid(user: ServedUser, text: string | RegExp): Promise<void>
}

/** What people do and see in a chat with an agent's bot. `stage` is asked each time: each test has its own. */
export function createTelegramChat(stage: () => { runner: TestRunner; bot: BotApiServer }): TelegramChat {
  const chat: TelegramChat = {
    async connect(agentId) {
      const { runner, bot } = stage()
      const body = { agentId, kind: 'telegram', token: bot.token, baseUrl: bot.url } as const
      return (await runner.client.ok('createChannel', { body })).channel
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

/** A tool that asks at the usual level of trust, since it leaves the machine. */
export function createPostTool(onPost: (text: string) => void): Tool {
  const nothing = { paths: [], leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false }
  return defineTool({
    name: 'post',
    description: 'Posts a text.',
    args: z.object({ text: z.string() }),
    effect: 'once',
    parallel: false,
    facts: ({ text }) => ({ ...nothing, subject: `https://post.example/${text}`, summary: `Post "${text}"`, leavesMachine: true }),
    async run({ text }) {
      onPost(text)
      return { ok: true, output: 'posted' }
    },
  })
}
