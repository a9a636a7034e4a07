import { expect } from 'vitest'
import type { Agent } from '../contract/agents.ts'
import type { Channel, ChannelKind } from '../contract/channels.ts'
import type { Job } from '../contract/jobs.ts'
import { silenceConsole } from '../platform/log/create-log.ts'
import { silentLog } from '../lib/log.ts'
import { startBotApiServer } from './bot-api-server/bot-api-server.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from './create-test-runner.ts'
import { startDiscordServer } from './discord-server/discord-server.ts'
import { createPostTool } from './post-tool.ts'
import { startSlackServer } from './slack-server/slack-server.ts'
import { startWhatsAppServer } from './whatsapp-server/whatsapp-server.ts'

/** Who writes: the owner, a guest whom the owner lets talk, and somebody whom nobody knows. */
export type Who = 'owner' | 'guest' | 'stranger'

/** Each service numbers people in its own way. The stranger has taken the name of the owner. */
type Numbered = { n: number; name: string; handle: string }
const PEOPLE: Record<Who, Numbered> = {
  owner: { n: 1, name: 'Anna Berg', handle: 'anna' },
  guest: { n: 2, name: 'Ben Ash', handle: 'ben' },
  stranger: { n: 3, name: 'Anna Berg', handle: 'anna_berg' },
}

export type Sent = { to: string; text: string; actions: string[]; id: string }
export type Said = { replyTo?: string; forwardedFrom?: Who; inGroup?: boolean }

/** What all services have in common for somebody who attacks through them. */
export type AttackedService<Server = unknown> = {
  kind: ChannelKind
  server: Server
  /** As the channel knows them. */
  idOf(who: Who): string
  /** Of the group in which people write with `inGroup`. */
  groupId: string
  say(who: Who, text: string, options?: Said): void
  /** null: the service has no buttons. */
  press: ((who: Who, action: string) => void) | null
  /** What people saw who pressed a button. */
  notes(): string[]
  sent(): Sent[]
  /** The place in `Sent.to` of the private chat with them. */
  chatOf(who: Who): string
  /** They are called this from now on. */
  rename(who: Who, name: string, handle?: string): void
  until(isTrue: () => boolean): Promise<void>
  options: TestRunnerOptions
  connect(runner: TestRunner, agent: Agent): Promise<void>
  close(): Promise<void>
}

export async function startTelegram() {
  const server = await startBotApiServer()
  const people = new Map(
    Object.entries(PEOPLE).map(([who, { n, name, handle }]) => [who, { id: 4710 + n, first_name: name, username: handle }]),
  )
  const user = (who: Who) => people.get(who)!
  return {
    kind: 'telegram',
    server,
    user,
    groupId: '',
    idOf: (who) => String(user(who).id),
    say: (who, text, { replyTo, forwardedFrom, inGroup = false } = {}) =>
      void server.say(user(who), text, {
        group: inGroup,
        ...(replyTo === undefined ? {} : { replyTo: Number(replyTo) }),
        ...(forwardedFrom === undefined ? {} : { forwardedFrom: user(forwardedFrom) }),
      }),
    press: (who, action) => server.press(user(who), action),
    notes: () => server.notes.map(({ text }) => text),
    sent: () =>
      server.sent.map(({ chatId, text, buttons, messageId }) => ({
        to: String(chatId),
        text,
        id: String(messageId),
        actions: buttons.map((button) => button.callback_data),
      })),
    chatOf: (who) => String(user(who).id),
    rename: (who, name, handle) => Object.assign(user(who), { first_name: name, ...(handle === undefined ? {} : { username: handle }) }),
    until: server.until,
    options: {},
    connect: async (runner, { id: agentId }) => {
      await runner.client.ok('createChannel', { body: { agentId, kind: 'telegram', token: server.token, baseUrl: server.url } })
      await server.untilPolled()
    },
    close: server.close,
  } satisfies AttackedService & { user: unknown }
}

export async function startDiscord() {
  const server = await startDiscordServer()
  const people = new Map(
    Object.entries(PEOPLE).map(([who, { n, name, handle }]) => [
      who,
      { id: `471${n}000000000000001`, username: handle, global_name: name },
    ]),
  )
  const user = (who: Who) => people.get(who)!
  return {
    kind: 'discord',
    server,
    user,
    groupId: server.guild.id,
    idOf: (who) => user(who).id,
    say: (who, text, { replyTo, forwardedFrom, inGroup = false } = {}) =>
      void server.say(user(who), inGroup ? `<@${server.bot.id}> ${text}` : forwardedFrom === undefined ? text : '', {
        ...(inGroup ? { channelId: server.roomId } : {}),
        ...(replyTo === undefined ? {} : { replyTo }),
        ...(forwardedFrom === undefined ? {} : { forwarded: { content: text } }),
      }),
    press: (who, action) => void server.press(user(who), action),
    notes: () => server.notes.map(({ text }) => text),
    sent: () =>
      server.sent.map(({ channelId, text, buttons, id }) => ({
        to: channelId,
        text,
        id,
        actions: buttons.map((button) => button.custom_id),
      })),
    chatOf: (who) => server.chatOf(user(who)),
    rename: (who, name, handle) => Object.assign(user(who), { global_name: name, ...(handle === undefined ? {} : { username: handle }) }),
    until: server.until,
    options: {},
    connect: async (runner, { id: agentId }) => {
      await runner.client.ok('createChannel', { body: { agentId, kind: 'discord', token: server.token, baseUrl: server.url } })
      await server.untilListening()
    },
    close: server.close,
  } satisfies AttackedService & { user: unknown }
}

export async function startSlack() {
  const server = await startSlackServer()
  const group = { id: 'C0GENERAL01', name: 'general' }
  const people = new Map(
    Object.entries(PEOPLE).map(([who, { n, name, handle }]) => [who, { id: `U0PERSON00${n}`, name: handle, realName: name }]),
  )
  const user = (who: Who) => people.get(who)!
  return {
    kind: 'slack',
    server,
    user,
    groupId: group.id,
    idOf: (who) => user(who).id,
    say: (who, text, { replyTo, forwardedFrom, inGroup = false } = {}) => {
      const thread = replyTo === undefined ? {} : { threadTs: replyTo }
      if (inGroup) server.mention(user(who), group, `<@${server.botUserId}> ${text}`, thread)
      else server.say(user(who), text, { ...thread, ...(forwardedFrom === undefined ? {} : { forwardedFrom: user(forwardedFrom) }) })
    },
    press: (who, action) => server.press(user(who), action),
    notes: () => server.ephemerals.map(({ text }) => text),
    sent: () =>
      server.sent.map(({ channel, text, buttons, ts }) => ({ to: channel, text, id: ts, actions: buttons.map(({ value }) => value) })),
    chatOf: (who) => server.directOf(user(who)),
    // The name that people see, which anybody may choose.
    rename: (who, name) => Object.assign(user(who), { realName: name, name }),
    until: server.until,
    options: {},
    connect: async (runner, { id: agentId }) => {
      const tokens = { token: server.botToken, appToken: server.appToken, baseUrl: server.url }
      await runner.client.ok('createChannel', { body: { agentId, kind: 'slack', ...tokens } })
      await server.untilConnected()
    },
    close: server.close,
  } satisfies AttackedService & { user: unknown }
}

export async function startWhatsApp() {
  // The encryption prints keys.
  silenceConsole(silentLog)
  const server = await startWhatsAppServer()
  const guest = server.addPerson('4915100000002', PEOPLE.guest.name)
  const stranger = server.addPerson('4915100000003', PEOPLE.stranger.name)
  const groupId = '1203631@g.us'
  const user = (who: Exclude<Who, 'owner'>) => (who === 'guest' ? guest : stranger)
  return {
    kind: 'messenger',
    server,
    user,
    groupId,
    idOf: (who) => (who === 'owner' ? server.account.jid : `9${user(who).jid.split('@')[0]}@lid`),
    say: (who, text, { replyTo, forwardedFrom, inGroup = false } = {}) => {
      const options = {
        ...(replyTo === undefined ? {} : { replyTo }),
        ...(forwardedFrom === undefined ? {} : { isForwarded: true }),
        ...(inGroup ? { group: groupId, isMention: true } : {}),
      }
      if (who === 'owner') server.sayOnPhone(text, options)
      else server.say(user(who), text, options)
    },
    press: null,
    notes: () => [],
    sent: () => server.sent.map(({ chat, text, id }) => ({ to: chat, text, id, actions: [] })),
    chatOf: (who) => (who === 'owner' ? server.account.jid : user(who).jid),
    rename: (who, name) => void (who === 'owner' || server.rename(user(who), name)),
    until: server.until,
    options: { config: { testMessenger: { url: server.url, rootKey: Buffer.from(server.rootKey).toString('hex') } } },
    connect: async ({ client }, { id: agentId }) => {
      const pairing = () => client.ok('getPairing', { query: { agentId } })
      await client.ok('startPairing', { body: { agentId } })
      await expect.poll(async () => (await pairing()).status).toBe('qr_pending')
      server.scan((await pairing()).qr!)
      await expect.poll(async () => (await pairing()).status).toBe('open')
    },
    close: server.close,
  } satisfies AttackedService & { user: unknown }
}

export const ATTACKED = { Telegram: startTelegram, Discord: startDiscord, Slack: startSlack, WhatsApp: startWhatsApp }

export type Attack = Awaited<ReturnType<typeof beginAttack>>

/** The whole runner, connected to this service, with the owner in the channel. */
export async function beginAttack<Service extends AttackedService>(service: Service, options: TestRunnerOptions = {}) {
  const posted: string[] = []
  const post = createPostTool((text) => posted.push(text))
  const config = { ...service.options.config, ...options.config }
  const runner = await createTestRunner({ moreTools: [post], ...options, config })
  const agent = await runner.addAgent({ name: 'Ada', folders: [] })
  await service.connect(runner, agent)
  const channelNow = async (): Promise<Channel> => (await runner.client.ok('listChannels', { query: {} })).channels[0]!
  const personOf = async (externalId: string) => (await channelNow()).people.find((person) => person.externalId === externalId)
  const said = (who: Who) => service.sent().flatMap(({ to, text }) => (to === service.chatOf(who) ? [text] : []))
  const attack = {
    service,
    runner,
    agent,
    /** The texts that the tool `post` got. */
    posted,
    channelNow,
    untilOpen: () => expect.poll(async () => (await channelNow()).status).toBe('open'),
    personOf: (who: Who) => personOf(service.idOf(who)),
    said,
    untilSaid: (who: Who, text: string | RegExp) =>
      service.until(() => said(who).some((one) => (typeof text === 'string' ? one === text : text.test(one)))),
    jobs: async () => (await runner.client.ok('listJobs', { query: { limit: 100 } })).jobs,
    taskOf: async (jobId: string): Promise<Job> => (await runner.client.ok('getJob', { params: { jobId } })).job,
    pending: async () => (await runner.client.ok('listApprovals', { query: { status: 'pending', limit: 50 } })).approvals,
    async setRole(externalId: string, role: 'owner' | 'allowed' | 'refused'): Promise<void> {
      await expect.poll(() => personOf(externalId)).toBeDefined()
      const { id: personId, channelId } = (await personOf(externalId))!
      await runner.client.ok('updateChannelPerson', { params: { channelId, personId }, body: { role } })
    },
    /** They write for the first time and get a role. On WhatsApp the owner of the account is there from the beginning. */
    async letIn(who: Who, role: 'owner' | 'allowed' = who === 'owner' ? 'owner' : 'allowed'): Promise<void> {
      const { pairingCode } = await channelNow()
      if (service.kind !== 'messenger' || who !== 'owner') {
        service.say(who, service.kind === 'messenger' ? pairingCode! : 'Hello?')
        await attack.setRole(service.idOf(who), role)
      }
      await attack.untilSaid(who, /I am Ada/)
    },
    /** Lines of the log that tell of something unforeseen. */
    errors: () => runner.logLines.filter((line) => /"level":(50|60|"error"|"fatal")/.test(line)),
    async close(): Promise<void> {
      await runner.stop()
      await service.close()
    },
  }
  return attack
}
