import type { OutboundFetch } from '../../../platform/net/outbound.ts'
import type { Message } from '../../../contract/messages.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage, type Speech } from '../../../lib/messages.ts'
import type { ChannelAccess } from '../../../domain/channels/channel-access.ts'
import type { ChannelDriver, Connection, RunnerOfChannel } from '../channel.ts'
import { createDiscordApi, inviteLink } from './discord-api.ts'
import { listen } from './listen.ts'
import { createPresses } from './presses.ts'
import { LIMITS, sendMessage } from './send-message.ts'

export type DiscordDeps = {
  fetch: OutboundFetch
  clock: Clock
  speech: Speech
  /** Uniform in [0, 1): spreads retries and heartbeats. */
  random: () => number
}

export function createDiscordDriver(deps: DiscordDeps): ChannelDriver {
  return {
    kind: 'discord',
    serviceName: 'Discord',
    limits: LIMITS,

    async identify(access, signal) {
      const api = createDiscordApi({ ...deps, access, onRoundTrip() {} })
      const user = await api.call('GET', '/users/@me', { signal })
      const application = user.ok ? await api.call('GET', '/applications/@me', { signal }) : user
      if (!user.ok || !application.ok) {
        const trouble = user.ok ? application : user
        if (trouble.ok) throw new Error('one of them has failed')
        const isRefused = trouble.kind === 'token' || trouble.kind === 'refused' || trouble.kind === 'forbidden'
        return { state: isRefused ? 'refused' : 'unreachable', problem: trouble.problem }
      }
      const { id, username } = (user.value ?? {}) as { id?: unknown; username?: unknown }
      const { id: applicationId } = (application.value ?? {}) as { id?: unknown }
      const areIds = [id, applicationId].every((one) => typeof one === 'string' && /^\d{1,20}$/.test(one))
      if (!areIds || typeof username !== 'string' || !/^[^\p{C}@]{1,64}$/u.test(username)) {
        return { state: 'unreachable', problem: createMessage('chat_not_understood', { server: 'Discord' }) }
      }
      return { state: 'known', account: { accountId: id as string, name: `@${username}`, link: inviteLink(applicationId as string) } }
    },

    connect: (access, position, runner) => connect(deps, access, position, runner),
  }
}

function connect(deps: DiscordDeps, access: ChannelAccess, position: string | null, given: RunnerOfChannel): Connection {
  const closing = new AbortController()
  const { signal } = closing
  const runner = { ...given, roundTrip: () => signal.aborted || given.roundTrip() }
  const api = createDiscordApi({ ...deps, access, onRoundTrip: runner.roundTrip })
  const presses = createPresses(api, signal)
  const ended = listen({ ...deps, api, access, runner, presses, closing: signal }, position)
  const chatPath = (chatId: string) => `/channels/${encodeURIComponent(chatId)}`
  return {
    ended,
    deliver(message, stopping, onPart) {
      const onTokenRefused = (problem: Message) => signal.aborted || runner.status('logged_out', problem)
      const sending = { api, t: deps.speech(), readFile: runner.readFile, signal: AbortSignal.any([stopping, signal]) }
      return sendMessage({ ...sending, onPart, onTokenRefused }, message)
    },
    async showTyping(chatId) {
      await api.call('POST', `${chatPath(chatId)}/typing`, { signal })
    },
    answerPress: presses.answer,
    async removeButtons(chatId, externalId) {
      const path = `${chatPath(chatId)}/messages/${encodeURIComponent(externalId)}`
      await api.call('PATCH', path, { signal, body: { components: [] } })
    },
    async close() {
      closing.abort(new Error('the channel is closed'))
      await ended.catch(() => {})
    },
  }
}
