import { beforeAll } from 'vitest'
import { silenceConsole } from '../../../platform/log/create-log.ts'
import { silentLog } from '../../../lib/log.ts'
import { describeChannelDriver, type ServiceFault } from '../../../testing/channel-conformance.ts'
import { asShown, startPairedDevice } from '../../../testing/whatsapp-server/paired-device.ts'

// The encryption prints keys.
beforeAll(() => silenceConsole(silentLog))

describeChannelDriver(
  'WhatsApp',
  async (clock) => {
    const { server, driver, access, person, close } = await startPairedDevice(clock)
    const asked = server.connections()
    const onConnect: Record<ServiceFault, () => void> = {
      reset: () => server.faults.connect.push('reset'),
      garbage: () => server.faults.connect.push('garbage'),
      stall: () => server.faults.connect.push('stall'),
      error: () => server.faults.login.push(503),
      slow_down: () => server.faults.login.push(503),
    }
    return {
      driver,
      service: {
        access,
        accountName: server.account.number,
        chatId: person.jid,
        say: (text, options = {}) => void server.say(person, text, options),
        sayInGroup: (text) => void server.say(person, text, { group: '1203631@g.us' }),
        sendFile: (name, bytes) => void server.sendFile(person, { name, bytes }),
        press() {},
        sent: () => server.sent.map(({ text, file }) => ({ text: asShown(text), buttons: [], file })),
        untilSent: server.untilSent,
        notes: () => [],
        isTyping: () => server.presence.some(({ tag }) => tag === 'chatstate'),
        untilListening: server.untilConnected,
        untilAsked: (times) => server.until(() => server.connections() - asked + server.attempts.length >= times),
        timesAsked: () => server.connections() - asked + server.attempts.length,
        fault: (fault) => onConnect[fault](),
        faultOnSending: (fault) => server.faults.message.push(fault === 'stall' ? 'stall' : fault === 'garbage' ? 479 : 503),
        faultOnFile: (fault) => server.faults.upload.push(fault === 'garbage' || fault === 'reset' ? fault : 'error'),
        block: () => server.block(person),
        revokeToken: server.unlink,
        close,
      },
    }
  },
  { lacks: ['token', 'buttons', 'position', 'pause'] },
)
