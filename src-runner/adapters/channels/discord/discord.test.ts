import { afterAll } from 'vitest'
import { inEnglish } from '../../../lib/messages.ts'
import { createOutbound } from '../../../platform/net/outbound.ts'
import { describeChannelDriver, SLOW_DOWN_SECONDS, type ServiceFault } from '../../../testing/channel-conformance.ts'
import { startDiscordServer, type DiscordFault, type DiscordUser } from '../../../testing/discord-server/discord-server.ts'
import { createDiscordDriver } from './discord.ts'

const outbound = createOutbound()
afterAll(() => outbound.close())

const ANNA: DiscordUser = { id: '4711000000000000001', username: 'anna_berg', global_name: 'Anna Berg' }

const FAULTS: Record<ServiceFault, DiscordFault> = {
  reset: { kind: 'reset' },
  garbage: { kind: 'garbage' },
  error: { kind: 'error', status: 502, message: '502: Bad Gateway' },
  stall: { kind: 'stall' },
  slow_down: { kind: 'error', status: 429, message: 'You are being rate limited.', retryAfter: SLOW_DOWN_SECONDS },
}
const SENDING = /^POST \/channels\/\d+\/messages$/

describeChannelDriver('Discord', async (clock) => {
  const server = await startDiscordServer({ now: clock.now })
  const driver = createDiscordDriver({ fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5 })
  return {
    driver,
    service: {
      access: { channelId: 'channel', token: server.token, appToken: null, baseUrl: server.url },
      accountName: `@${server.bot.username}`,
      chatId: server.chatOf(ANNA),
      say: (text, { replyTo, isForwarded } = {}) =>
        void server.say(ANNA, isForwarded === true ? '' : text, {
          ...(replyTo === undefined ? {} : { replyTo }),
          ...(isForwarded === true ? { forwarded: { content: text } } : {}),
        }),
      sayInGroup: (text) => void server.say(ANNA, text, { channelId: server.roomId }),
      sendFile: (name, bytes) => void server.say(ANNA, '', { files: [{ name, bytes }] }),
      press: (action) => void server.press(ANNA, action),
      sent: () => server.sent.map(({ text, buttons, file }) => ({ text, buttons: buttons.map((button) => button.custom_id), file })),
      untilSent: server.untilSent,
      notes: () => server.notes.map((note) => note.text),
      isTyping: () => server.calls.some(({ call }) => call.endsWith('/typing')),
      untilListening: server.untilListening,
      untilAsked: (times) => server.until(() => server.calls.length >= times),
      timesAsked: () => server.calls.length,
      fault: (fault) => server.fault(/./, FAULTS[fault]),
      faultOnSending: (fault) => server.fault(SENDING, FAULTS[fault]),
      faultOnFile: (fault) => server.fault(/messages with a file$/, FAULTS[fault]),
      block: () => server.block(ANNA),
      revokeToken: server.revokeToken,
      close: server.close,
    },
  }
})
