import { SocketModeClient } from '@slack/socket-mode'
import { WebClient } from '@slack/web-api'
import { createSlackDriver } from '../../src-runner/adapters/channels/slack/slack.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { createOutbound } from '../../src-runner/platform/net/outbound.ts'
import { startSlackServer, type SlackServer, type SlackUser } from '../../src-runner/testing/slack-server/slack-server.ts'
import { spread } from './processes.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
const MESSAGES = 200
const ANNA: SlackUser = { id: 'U0ANNA00001', name: 'anna', realName: 'Anna Berg' }

type Side = {
  send(text: string): Promise<unknown>
  close(): Promise<void>
}

/**
 * Messages per second through the driver beside Slack's own client, against a local server in this process. In: from the event to its
 * acknowledgement, without a database. Out: one after the other.
 */
export async function benchSlack(): Promise<void> {
  console.log(`\nSlack messages per second (${ROUNDS} rounds of ${MESSAGES} in turn after one to warm up; median, least and most)`)
  const sides = { Deckhand: await startSide(openDriver), 'the bare client': await startSide(openBareClient) }
  const received: Record<string, number[]> = {}
  const sent: Record<string, number[]> = {}
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, { server, side }] of Object.entries(sides)) {
      const perSecond = [await measureReceiving(server), await measureSending(side)]
      if (round === 0) continue
      ;(received[name] ??= []).push(perSecond[0]!)
      ;(sent[name] ??= []).push(perSecond[1]!)
    }
  }
  console.log('through | received | sent')
  for (const [name, { server, side }] of Object.entries(sides)) {
    console.log([name, spread(received[name]!, 0), spread(sent[name]!, 0)].join(' | '))
    await side.close()
    await server.close()
  }
}

async function startSide(open: (server: SlackServer) => Promise<Side>): Promise<{ server: SlackServer; side: Side }> {
  const server = await startSlackServer()
  server.directOf(ANNA)
  const side = await open(server)
  await server.untilConnected()
  return { server, side }
}

async function measureReceiving(server: SlackServer): Promise<number> {
  server.forgetEvents()
  const startedAt = performance.now()
  for (let i = 0; i < MESSAGES; i++) server.say(ANNA, `message ${i}`)
  await server.untilIdle()
  return (MESSAGES * 1000) / (performance.now() - startedAt)
}

async function measureSending(side: Side): Promise<number> {
  const startedAt = performance.now()
  for (let i = 0; i < MESSAGES; i++) await side.send(`**message** ${i} with \`code\``)
  return (MESSAGES * 1000) / (performance.now() - startedAt)
}

async function openDriver(server: SlackServer): Promise<Side> {
  const outbound = createOutbound()
  const driver = createSlackDriver({ fetch: outbound.fetch, clock: systemClock, speech: () => inEnglish, random: Math.random })
  const access = { channelId: 'bench', token: server.botToken, appToken: server.appToken, baseUrl: server.url }
  const connection = driver.connect(access, null, {
    incoming: async () => {},
    status() {},
    roundTrip() {},
    knownChats: () => [],
    readFile: async () => ({ problem: 'there are none' }),
  })
  let sent = 0
  return {
    send: (text) => {
      const message = {
        id: `bench-${sent++}`,
        channelId: 'bench',
        chatId: server.directOf(ANNA),
        text,
        buttons: [],
        files: [],
        partsSent: 0,
      }
      return connection.deliver(message, new AbortController().signal, () => true)
    },
    async close() {
      await connection.close()
      outbound.close()
    },
  }
}

async function openBareClient(server: SlackServer): Promise<Side> {
  const slackApiUrl = `${server.url}/api/`
  const socket = new SocketModeClient({ appToken: server.appToken, clientOptions: { slackApiUrl } })
  socket.on('slack_event', ({ ack }: { ack: () => Promise<void> }) => void ack())
  await socket.start()
  const web = new WebClient(server.botToken, { slackApiUrl })
  return {
    send: (text) => web.chat.postMessage({ channel: server.directOf(ANNA), text }),
    close: () => socket.disconnect(),
  }
}
