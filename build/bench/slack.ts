import { SocketModeClient } from '@slack/socket-mode'
import { WebClient } from '@slack/web-api'
import { createSlackDriver } from '../../src-runner/adapters/channels/slack/slack.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { createOutbound } from '../../src-runner/platform/net/outbound.ts'
import { startSlackServer, type SlackServer, type SlackUser } from '../../src-runner/testing/slack-server/slack-server.ts'
import { compareChats, connectDriver, type ChatClient, type OpenChatClient } from './chat-rates.ts'

const ANNA: SlackUser = { id: 'U0ANNA00001', name: 'anna', realName: 'Anna Berg' }

/** Slack's own clients beside our driver. */
export function benchSlack(): Promise<void> {
  return compareChats({ service: 'Slack', received: 200, sent: 200, library: onServer(openLibrary), driver: onServer(openDriver) })
}

type Connect = (server: SlackServer, onMessage: () => void) => Promise<Omit<ChatClient, 'say'>>

function onServer(connect: Connect): OpenChatClient {
  return async (onMessage) => {
    const server = await startSlackServer()
    server.directOf(ANNA)
    const { send, close } = await connect(server, onMessage)
    await server.untilConnected()
    return {
      say: (text) => void server.say(ANNA, text),
      send,
      async close() {
        await close()
        await server.close()
      },
    }
  }
}

const openDriver: Connect = async (server, onMessage) => {
  const outbound = createOutbound()
  const driver = createSlackDriver({ fetch: outbound.fetch, clock: systemClock, speech: () => inEnglish, random: Math.random })
  const access = { channelId: 'bench', token: server.botToken, appToken: server.appToken, baseUrl: server.url }
  const { send, close } = await connectDriver(driver, access, () => server.directOf(ANNA), onMessage)
  return { send, close: () => close().finally(() => outbound.close()) }
}

const openLibrary: Connect = async (server, onMessage) => {
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
