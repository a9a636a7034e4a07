import { REST } from '@discordjs/rest'
import { WebSocketManager, WebSocketShardEvents } from '@discordjs/ws'
import { createDiscordDriver } from '../../src-runner/adapters/channels/discord/discord.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { createOutbound } from '../../src-runner/platform/net/outbound.ts'
import { startDiscordServer, type DiscordServer, type DiscordUser } from '../../src-runner/testing/discord-server/discord-server.ts'
import { atOwnServer, compareChats, connectDriver, type Connect } from './chat-rates.ts'

const INTENTS = (1 << 9) | (1 << 12) | (1 << 15)
const ANNA: DiscordUser = { id: '4711000000000000001', username: 'anna', global_name: 'Anna' }

/** The libraries of discord.js beside our driver. */
export function benchDiscord(): Promise<void> {
  return compareChats({ service: 'Discord', received: 1000, sent: 300, library: at(openLibrary), driver: at(openDriver) })
}

async function start(): Promise<DiscordServer> {
  const server = await startDiscordServer()
  server.chatOf(ANNA)
  return server
}

const at = (connect: Connect<DiscordServer>) => atOwnServer(start, (server, text) => server.say(ANNA, text), connect)

const openDriver: Connect<DiscordServer> = async (server, onMessage) => {
  const outbound = createOutbound()
  const driver = createDiscordDriver({ fetch: outbound.fetch, clock: systemClock, speech: () => inEnglish, random: Math.random })
  const access = { channelId: 'bench', token: server.token, appToken: null, baseUrl: server.url }
  const { send, close } = await connectDriver(driver, access, () => server.chatOf(ANNA), onMessage)
  return { send, close: () => close().finally(() => outbound.close()) }
}

const openLibrary: Connect<DiscordServer> = async (server, onMessage) => {
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
