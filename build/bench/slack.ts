import { SocketModeClient } from '@slack/socket-mode'
import { WebClient } from '@slack/web-api'
import { createSlackDriver } from '../../src-runner/adapters/channels/slack/slack.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { createOutbound } from '../../src-runner/platform/net/outbound.ts'
import { startSlackServer, type SlackServer, type SlackUser } from '../../src-runner/testing/slack-server/slack-server.ts'
import { atOwnServer, compareChats, connectDriver, type Connect } from './chat-rates.ts'

const ANNA: SlackUser = { id: 'U0ANNA00001', name: 'anna', realName: 'Anna Berg' }

/** Slack's own clients beside our driver. */
export function benchSlack(): Promise<void> {
  return compareChats({ service: 'Slack', received: 200, sent: 200, library: at(openLibrary), driver: at(openDriver) })
}

async function start(): Promise<SlackServer> {
  const server = await startSlackServer()
  server.directOf(ANNA)
  return server
}

const at = (connect: Connect<SlackServer>) => atOwnServer(start, (server, text) => server.say(ANNA, text), connect)

const openDriver: Connect<SlackServer> = async (server, onMessage) => {
  const outbound = createOutbound()
  const driver = createSlackDriver({ fetch: outbound.fetch, clock: systemClock, speech: () => inEnglish, random: Math.random })
  const access = { channelId: 'bench', token: server.botToken, appToken: server.appToken, baseUrl: server.url }
  const { send, close } = await connectDriver(driver, access, () => server.directOf(ANNA), onMessage)
  return { send, close: () => close().finally(() => outbound.close()) }
}

const openLibrary: Connect<SlackServer> = async (server, onMessage) => {
  const slackApiUrl = `${server.url}/api/`
  const socket = new SocketModeClient({ appToken: server.appToken, clientOptions: { slackApiUrl } })
  socket.on('slack_event', ({ ack }: { ack: () => Promise<void> }) => void ack().then(onMessage))
  await socket.start()
  const web = new WebClient(server.botToken, { slackApiUrl })
  return {
    send: (text) => web.chat.postMessage({ channel: server.directOf(ANNA), text }),
    close: () => socket.disconnect(),
  }
}
