import { afterAll } from 'vitest'
import { createOutbound } from '../../../base/net/outbound.ts'
import { startBotApiServer, type ServedFault, type ServedUser } from '../../../testing/bot-api-server/bot-api-server.ts'
import { describeChannelDriver, SLOW_DOWN_SECONDS, type ServiceFault } from '../../../testing/channel-conformance.ts'
import { createTelegramDriver } from './telegram.ts'

const outbound = createOutbound()
afterAll(() => outbound.close())

const ANNA: ServedUser = { id: 4711, first_name: 'Anna', last_name: 'Berg', username: 'anna_berg' }
const BEN: ServedUser = { id: 4712, first_name: 'Ben' }

const FAULTS: Record<ServiceFault, ServedFault> = {
  reset: { kind: 'reset' },
  garbage: { kind: 'garbage' },
  error: { kind: 'error', code: 502, description: 'Bad Gateway' },
  stall: { kind: 'stall' },
  slow_down: { kind: 'error', code: 429, description: 'Too Many Requests: retry later', retryAfter: SLOW_DOWN_SECONDS },
}

describeChannelDriver('Telegram', async (clock) => {
  const server = await startBotApiServer()
  const driver = createTelegramDriver({ fetch: outbound.fetch, clock, random: () => 0.5 })
  return {
    driver,
    service: {
      access: { token: server.token, baseUrl: server.url },
      accountName: `@${server.botName}`,
      chatId: String(ANNA.id),
      say: (text, { replyTo, isForwarded } = {}) =>
        void server.say(ANNA, text, {
          ...(replyTo === undefined ? {} : { replyTo: Number(replyTo) }),
          ...(isForwarded === true ? { forwardedFrom: BEN } : {}),
        }),
      sayInGroup: (text) => void server.say(ANNA, text, { group: true }),
      sendFile: (name, bytes) => void server.sendFile(ANNA, { name, bytes }),
      press: (action) => void server.press(ANNA, action),
      sent: () =>
        server.sent.map(({ text, buttons, document }) => ({
          text,
          buttons: buttons.map((button) => button.callback_data),
          file: document,
        })),
      untilSent: server.untilSent,
      notes: () => server.notes.map((note) => note.text),
      isTyping: () => server.calls.at(-1)?.method === 'sendChatAction',
      untilListening: server.untilPolled,
      untilAsked: (times) => server.until(() => server.calls.length >= times),
      timesAsked: () => server.calls.length,
      fault: (fault) => server.fault('*', FAULTS[fault]),
      faultOnSending: (fault) => server.fault('sendMessage', FAULTS[fault]),
      block: () => server.block(ANNA),
      revokeToken: server.revokeToken,
      close: server.close,
    },
  }
})
