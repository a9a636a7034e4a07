import { z } from 'zod'
import { SLACK_BOT_SCOPES, SLACK_TOKENS } from '../../../../resources/slack-manifest.ts'
import type { OutboundFetch } from '../../../platform/net/outbound.ts'
import type { Message } from '../../../contract/messages.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage, type Speech } from '../../../lib/messages.ts'
import type { Identified } from '../../../domain/channels/channels.ts'
import { nameForPeople } from '../../../domain/channels/people.ts'
import type { ChannelAccess } from '../../../domain/channels/channel-access.ts'
import type { ChannelDriver, Connection, RunnerOfChannel } from '../channel.ts'
import { readChatId, readMessageId, SlackId } from './events.ts'
import { readPressId } from './read-incoming.ts'
import { receive } from './receive.ts'
import { escapeText } from './rich-text.ts'
import { LIMITS, sendMessage } from './send-message.ts'
import { appIdOf, appLink, createSlackApi, type Answer, type SlackApi, type Trouble } from './web-api.ts'

export type SlackDeps = {
  fetch: OutboundFetch
  clock: Clock
  speech: Speech
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
}

export function createSlackDriver(deps: SlackDeps): ChannelDriver {
  return {
    kind: 'slack',
    serviceName: 'Slack',
    limits: LIMITS,
    identify: (access, signal) => identify(deps, access, signal),
    connect: (access, position, runner) => connect(deps, access, position, runner),
  }
}

const Whoami = z.object({ user_id: SlackId, user: z.string(), team_id: SlackId, team: z.string(), bot_id: z.string().optional() })

const BotInfo = z.object({ bot: z.object({ app_id: z.string() }) })

/** Checks both tokens, that they belong to one app, and that the bot token may do all that is needed. */
async function identify(deps: SlackDeps, access: ChannelAccess, signal: AbortSignal): Promise<Identified> {
  const wrongKind = findWrongKind(access)
  if (wrongKind !== null) return { state: 'refused', problem: wrongKind }
  const api = createSlackApi({ ...deps, access, onRoundTrip() {} })
  const who = await api.call('auth.test', {}, { signal })
  if (!who.ok) return refusalOf(who)
  const account = Whoami.safeParse(who.value).data
  if (account === undefined) return refusalOf(api.notUnderstood())
  const { user_id: userId, user, team_id: teamId, team, bot_id: botId } = account
  if (botId === undefined) return { state: 'refused', problem: createMessage('chat_slack_not_bot_token') }
  const link = appLink(access.appToken)
  const missing = missingScopes(who.value)
  if (missing.length > 0) {
    return { state: 'refused', problem: createMessage('chat_slack_scopes', { scopes: missing.join(', '), link: `${link}/oauth` }) }
  }
  const opened = await api.callAsApp('apps.connections.open', { signal })
  if (!opened.ok) return refusalOf(opened)
  const bot = await api.call('bots.info', { bot: botId }, { signal })
  if (!bot.ok) return refusalOf(bot)
  const appId = BotInfo.safeParse(bot.value).data?.bot.app_id ?? null
  const expected = appIdOf(access.appToken)
  if (appId !== null && expected !== null && appId !== expected) return { state: 'refused', problem: createMessage('chat_slack_two_apps') }
  const address = `https://slack.com/app_redirect?app=${appId ?? expected ?? ''}&team=${teamId}`
  const name = `@${nameForPeople(user)} (${nameForPeople(team)})`
  return { state: 'known', account: { accountId: `${teamId}:${userId}`, name, link: address } }
}

/** Names a token of the wrong kind before it is sent anywhere. */
function findWrongKind({ token, appToken }: ChannelAccess): Message | null {
  if (token.startsWith(SLACK_TOKENS.app) && (appToken ?? '').startsWith(SLACK_TOKENS.bot)) return createMessage('chat_slack_swapped')
  if (token.startsWith(SLACK_TOKENS.user)) return createMessage('chat_slack_user_token')
  if (!token.startsWith(SLACK_TOKENS.bot)) return createMessage('chat_slack_not_bot_token')
  if (appToken === null || appToken === '') return createMessage('chat_slack_no_app_token')
  return appToken.startsWith(SLACK_TOKENS.app) ? null : createMessage('chat_slack_not_app_token')
}

/** Slack names the scopes of a token in a header. Without it, the first call that needs a scope says so. */
function missingScopes({ response_metadata: about }: Answer): string[] {
  const scopes = (about as { scopes?: unknown } | undefined)?.scopes
  return Array.isArray(scopes) ? SLACK_BOT_SCOPES.filter((scope) => !scopes.includes(scope)) : []
}

function refusalOf({ kind, problem }: Trouble): Identified {
  const isRefused = kind === 'token' || kind === 'refused' || kind === 'forbidden'
  return { state: isRefused ? 'refused' : 'unreachable', problem }
}

function connect(deps: SlackDeps, access: ChannelAccess, position: string | null, runner: RunnerOfChannel): Connection {
  const closing = new AbortController()
  const { signal } = closing
  const roundTrip = () => signal.aborted || runner.roundTrip()
  const api = createSlackApi({ ...deps, access, onRoundTrip: roundTrip })
  const receiving = { ...deps, api, appToken: access.appToken, runner: { ...runner, roundTrip }, closing: signal }
  const ended = receive(receiving, position)

  return {
    ended,

    deliver(message, stopping, onPart) {
      const onTokenRefused = (problem: Message) => signal.aborted || runner.status('logged_out', problem)
      const sending = { api, t: deps.speech(), readFile: runner.readFile, signal: AbortSignal.any([stopping, signal]) }
      return sendMessage({ ...sending, onPart, onTokenRefused }, message)
    },

    /** Slack shows it in threads only, and takes it away when the reply arrives there. */
    async showTyping(chatId) {
      const { channel, thread } = readChatId(chatId)
      if (thread === null) return
      const status = deps.speech()('outbound.slack.typing')
      await api.call('assistant.threads.setStatus', { channel_id: channel, thread_ts: thread, status }, { signal })
    },

    async answerPress(pressId, note) {
      const { channel, user, thread } = readPressId(pressId)
      const text = escapeText(note.toWellFormed())
      const where = thread === null ? { channel, user } : { channel, user, thread_ts: thread }
      await api.call('chat.postEphemeral', { ...where, text }, { signal })
    },

    removeButtons: (_chatId, externalId) => removeButtons(api, externalId, signal),

    async close() {
      closing.abort(new Error('the channel is closed'))
      await ended.catch(() => {})
    },
  }
}

const Found = z.object({
  messages: z.array(
    z.object({ ts: z.string(), text: z.string().default(''), blocks: z.array(z.looseObject({ type: z.string() })).default([]) }),
  ),
})

/** Slack replaces a message as a whole, so it is read first. */
async function removeButtons(api: SlackApi, externalId: string, signal: AbortSignal): Promise<void> {
  const { channel, ts } = readMessageId(externalId)
  // With these limits, the replies to a message are the message itself, whether it is in a thread or not.
  const found = await api.call('conversations.replies', { channel, ts, latest: ts, inclusive: true, limit: 1 }, { signal })
  const message = found.ok ? Found.safeParse(found.value).data?.messages.find((one) => one.ts === ts) : undefined
  if (message === undefined) return
  const blocks = message.blocks.filter(({ type }) => type !== 'actions')
  await api.call('chat.update', { channel, ts, text: message.text, ...(blocks.length === 0 ? {} : { blocks }) }, { signal })
}
