import { REST } from '@discordjs/rest'
import { WebSocketManager, WebSocketShardEvents } from '@discordjs/ws'
import { createDiscordDriver } from '../../src-runner/adapters/channels/discord/discord.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { createOutbound } from '../../src-runner/platform/net/outbound.ts'
import { startDiscordServer, type DiscordServer, type DiscordUser } from '../../src-runner/testing/discord-server/discord-server.ts'
import { compareChats, connectDriver, type ChatClient, type OpenChatClient } from './chat-rates.ts'

const INTENTS = (1 << 9) | (1 << 12) | (1 << 15)
const ANNA: DiscordUser = { id: '4711000000000000001', username: 'anna', global_name: 'Anna' }

/** The libraries of discord.js beside our driver. */
export function benchDiscord(): Promise<void> {
  return compareChats({ service: 'Discord', received: 1000, sent: 300, library: onServer(openLibrary), driver: onServer(openDriver) })
}

type Connect = (server: DiscordServer, onMessage: () => void) => Promise<Omit<ChatClient, 'say'>>

function onServer(connect: Connect): OpenChatClient {
  return async (onMessage) => {
    const server = await startDiscordServer()
    server.chatOf(ANNA)
    const { send, close } = await connect(server, onMessage)
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
  const driver = createDiscordDriver({ fetch: outbound.fetch, clock: systemClock, speech: () => inEnglish, random: Math.random })
  const access = { channelId: 'bench', token: server.token, appToken: null, baseUrl: server.url }
  const { send, close } = await connectDriver(driver, access, () => server.chatOf(ANNA), onMessage)
  return { send, close: () => close().finally(() => outbound.close()) }
}

const openLibrary: Connect = async (server, onMessage) => {
  const rest = new REST({ api: server.url, version: '10', globalRequestsPerSecond: 1_000_000 }).setToken(server.token)
  const manager = new WebSocketManager({ token: server.token, intents: INTENTS, rest })
  manager.on(WebSocketShardEvents.Dispatch, ({ t }) => void (t === 'MESSAGE_CREATE' && onMessage()))
  await manager.connect()
  return {
    send: (content) => rest.post(`/channels/${server.chatOf(ANNA)}/messages`, { body: { content, allowed_mentions: { parse: [] } } }),
    close: async () => {
      await manager.destroy()
    },
  }
}
