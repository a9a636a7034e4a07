import { Bot } from 'grammy'
import { createTelegramDriver } from '../../src-runner/adapters/channels/telegram/telegram.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { createOutbound } from '../../src-runner/platform/net/outbound.ts'
import { startBotApiServer, type BotApiServer, type ServedUser } from '../../src-runner/testing/bot-api-server/bot-api-server.ts'
import { atOwnServer, compareChats, connectDriver, type Connect } from './chat-rates.ts'

const ANNA: ServedUser = { id: 4711, first_name: 'Anna' }

/** The bot of grammY beside our driver, which uses only its calls. */
export function benchTelegram(): Promise<void> {
  return compareChats({ service: 'Telegram', received: 1000, sent: 300, library: at(openLibrary), driver: at(openDriver) })
}

/** A bot may write to somebody only when they have written. */
async function start(): Promise<BotApiServer> {
  const server = await startBotApiServer()
  server.say(ANNA, '/start')
  return server
}

function at(connect: Connect<BotApiServer>) {
  return atOwnServer(
    start,
    (server, text) => server.say(ANNA, text),
    async (server, onMessage) => {
      const client = await connect(server, onMessage)
      await server.until(() => server.waitingUpdates() === 0)
      return client
    },
  )
}

const openDriver: Connect<BotApiServer> = async (server, onMessage) => {
  const outbound = createOutbound()
  const driver = createTelegramDriver({ fetch: outbound.fetch, clock: systemClock, speech: () => inEnglish, random: Math.random })
  const access = { channelId: 'bench', token: server.token, appToken: null, baseUrl: server.url }
  const { send, close } = await connectDriver(driver, access, () => String(ANNA.id), onMessage)
  return { send, close: () => close().finally(() => outbound.close()) }
}

const openLibrary: Connect<BotApiServer> = async (server, onMessage) => {
  const bot = new Bot(server.token, { client: { apiRoot: server.url } })
  bot.on('message', onMessage)
  await bot.init()
  const ended = bot.start()
  return {
    send: (text) => bot.api.sendMessage(ANNA.id, text),
    close: () => Promise.all([bot.stop(), ended]).then(() => {}),
  }
}
