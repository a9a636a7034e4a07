import type { OutboundFetch } from '../../../platform/net/outbound.ts'
import type { Message } from '../../../contract/messages.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage, type Speech } from '../../../lib/messages.ts'
import type { ChannelAccess } from '../../../domain/channels/channel-access.ts'
import type { ChannelDriver, Connection, RunnerOfChannel } from '../channel.ts'
import { createBotApi, type BotApi } from './bot-api.ts'
import { pollUpdates } from './poll-updates.ts'
import { idOf, LIMITS, sendMessage } from './send-message.ts'

export type TelegramDeps = {
  fetch: OutboundFetch
  clock: Clock
  speech: Speech
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
}

const MAX_NOTE_CHARS = 200

export function createTelegramDriver(deps: TelegramDeps): ChannelDriver {
  return {
    kind: 'telegram',
    serviceName: 'Telegram',
    limits: LIMITS,
    // https://core.telegram.org/bots/api#getting-updates
    keepsMessagesMs: 24 * 3_600_000,

    async identify(access, signal) {
      const api = createBotApi({ ...deps, access, onRoundTrip() {} })
      const result = await api.call((bot, callSignal) => bot.getMe(callSignal), { signal })
      if (!result.ok) {
        const isRefused = result.kind === 'token' || result.kind === 'refused' || result.kind === 'forbidden'
        return { state: isRefused ? 'refused' : 'unreachable', problem: result.problem }
      }
      const { id, username } = (result.value ?? {}) as { id?: unknown; username?: unknown }
      if (typeof id !== 'number' || typeof username !== 'string' || !/^\w{1,64}$/.test(username)) {
        return { state: 'unreachable', problem: createMessage('chat_not_understood', { server: 'Telegram' }) }
      }
      return { state: 'known', account: { accountId: String(id), name: `@${username}`, link: `https://t.me/${username}` } }
    },

    connect: (access, position, runner) => connect(deps, access, position, runner),
  }
}

function connect(deps: TelegramDeps, access: ChannelAccess, position: string | null, runner: RunnerOfChannel): Connection {
  const closing = new AbortController()
  const api = createBotApi({ ...deps, access, onRoundTrip: () => closing.signal.aborted || runner.roundTrip() })
  const ended = pollUpdates({ ...deps, api, runner, closing: closing.signal }, position)

  async function call(make: Parameters<BotApi['call']>[0]): Promise<void> {
    await api.call(make, { signal: closing.signal })
  }

  return {
    ended,
    deliver(message, signal, onPart) {
      const onTokenRefused = (problem: Message) => closing.signal.aborted || runner.status('logged_out', problem)
      const sending = { api, t: deps.speech(), readFile: runner.readFile, signal: AbortSignal.any([signal, closing.signal]) }
      return sendMessage({ ...sending, onPart, onTokenRefused }, message)
    },
    showTyping: (chatId) => call((bot, callSignal) => bot.sendChatAction(idOf(chatId), 'typing', {}, callSignal)),
    answerPress: (pressId, note) =>
      call((bot, callSignal) => bot.answerCallbackQuery(pressId, { text: note.slice(0, MAX_NOTE_CHARS).toWellFormed() }, callSignal)),
    removeButtons: (chatId, externalId) =>
      call((bot, callSignal) =>
        bot.editMessageReplyMarkup(idOf(chatId), Number(externalId), { reply_markup: { inline_keyboard: [] } }, callSignal),
      ),
    async close() {
      closing.abort(new Error('the channel is closed'))
      await ended.catch(() => {})
    },
  }
}
