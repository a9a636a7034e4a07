import { afterAll } from 'vitest'
import { createOutbound } from '../../../platform/net/outbound.ts'
import { describeChannelDriver, SLOW_DOWN_SECONDS, type ServiceFault } from '../../../testing/channel-conformance.ts'
import { startSlackServer, type SlackFault, type SlackUser } from '../../../testing/slack-server/slack-server.ts'
import { inEnglish } from '../../../lib/messages.ts'
import { createSlackDriver } from './slack.ts'

const outbound = createOutbound()
afterAll(() => outbound.close())

const ANNA: SlackUser = { id: 'U0ANNA00001', name: 'anna', realName: 'Anna Berg' }
const BEN: SlackUser = { id: 'U0BEN000001', name: 'ben', realName: 'Ben' }
const GENERAL = { id: 'C0GENERAL01', name: 'general' }

const FAULTS: Record<ServiceFault, SlackFault> = {
  reset: { kind: 'reset' },
  garbage: { kind: 'garbage' },
  error: { kind: 'status', status: 503 },
  stall: { kind: 'stall' },
  slow_down: { kind: 'rate_limited', retryAfter: SLOW_DOWN_SECONDS },
}

describeChannelDriver('Slack', async (clock) => {
  const server = await startSlackServer({ now: () => clock.now() })
  const driver = createSlackDriver({ fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5 })
  const chatId = server.directOf(ANNA)
  return {
    driver,
    service: {
      access: { channelId: 'channel', token: server.botToken, appToken: server.appToken, baseUrl: server.url },
      accountName: server.accountName,
      chatId,
      say: (text, { replyTo, isForwarded } = {}) =>
        void server.say(ANNA, text, {
          ...(replyTo === undefined ? {} : { threadTs: replyTo.split(':')[1]! }),
          ...(isForwarded === true ? { forwardedFrom: BEN } : {}),
        }),
      sayInGroup: (text) => void server.sayInChannel(ANNA, GENERAL, text),
      sendFile: (name, bytes) => void server.sendFile(ANNA, { name, bytes }),
      press: (action) => server.press(ANNA, action),
      sent: () => server.sent.map(({ text, buttons, file }) => ({ text, buttons: buttons.map(({ value }) => value), file })),
      untilSent: server.untilSent,
      notes: () => server.ephemerals.map(({ text }) => text),
      isTyping: null,
      untilListening: server.untilConnected,
      untilAsked: (times) => server.until(() => server.calls.length >= times),
      timesAsked: () => server.calls.length,
      fault: (fault) => server.fault('*', FAULTS[fault]),
      faultOnSending: (fault) => server.fault('chat.postMessage', FAULTS[fault]),
      faultOnFile: (fault) => server.fault('files.getUploadURLExternal', FAULTS[fault]),
      block: () => server.block(ANNA),
      revokeToken: server.revokeTokens,
      close: server.close,
    },
  }
})
