import { Bot } from 'grammy'
import { createTelegramDriver } from '../../src-runner/adapters/channels/telegram/telegram.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { createOutbound } from '../../src-runner/platform/net/outbound.ts'
import { startBotApiServer, type BotApiServer, type ServedUser } from '../../src-runner/testing/bot-api-server/bot-api-server.ts'
import { compareChats, connectDriver, type ChatClient, type OpenChatClient } from './chat-rates.ts'

const ANNA: ServedUser = { id: 4711, first_name: 'Anna' }

/** The bot of grammY beside our driver, which uses only its calls. */
export function benchTelegram(): Promise<void> {
  return compareChats({ service: 'Telegram', received: 1000, sent: 300, library: onServer(openLibrary), driver: onServer(openDriver) })
}

type Connect = (server: BotApiServer, onMessage: () => void) => Promise<Omit<ChatClient, 'say'>>

function onServer(connect: Connect): OpenChatClient {
  return async (onMessage) => {
    const server = await startBotApiServer()
    let seen = () => {}
    const first = new Promise<void>((resolve) => (seen = resolve))
    const { send, close } = await connect(server, () => {
      seen()
      onMessage()
    })
    // A bot may write to somebody only when they have written.
    server.say(ANNA, '/start')
    await first
    await server.untilPolled()
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
  const driver = createTelegramDriver({ fetch: outbound.fetch, clock: systemClock, speech: () => inEnglish, random: Math.random })
  const access = { channelId: 'bench', token: server.token, appToken: null, baseUrl: server.url }
  const { send, close } = await connectDriver(driver, access, () => String(ANNA.id), onMessage)
  return { send, close: () => close().finally(() => outbound.close()) }
}

const openLibrary: Connect = async (server, onMessage) => {
  const bot = new Bot(server.token, { client: { apiRoot: server.url } })
  bot.on('message', onMessage)
  await bot.init()
  const ended = bot.start()
  return {
    send: (text) => bot.api.sendMessage(ANNA.id, text),
    close: () => Promise.all([bot.stop(), ended]).then(() => {}),
  }
}
