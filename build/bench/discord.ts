import { REST } from '@discordjs/rest'
import { WebSocketManager, WebSocketShardEvents } from '@discordjs/ws'
import { createDiscordDriver } from '../../src-runner/adapters/channels/discord/discord.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { createOutbound } from '../../src-runner/platform/net/outbound.ts'
import { startDiscordServer, type DiscordServer, type DiscordUser } from '../../src-runner/testing/discord-server/discord-server.ts'
import { median, spread } from './processes.ts'

/** Messages per second through the driver, beside the libraries of Discord alone, with the same local server in this process. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
const RECEIVED = 1000
const SENT = 300
const INTENTS = (1 << 9) | (1 << 12) | (1 << 15)
const ANNA: DiscordUser = { id: '4711000000000000001', username: 'anna', global_name: 'Anna' }

type Client = {
  name: string
  connect(server: DiscordServer, onMessage: () => void): Promise<{ send(text: string): Promise<void>; close(): Promise<void> }>
}

const outbound = createOutbound()

const DRIVER: Client = {
  name: 'driver',
  async connect(server, onMessage) {
    const driver = createDiscordDriver({ fetch: outbound.fetch, clock: systemClock, speech: () => inEnglish, random: Math.random })
    const access = { channelId: 'channel', token: server.token, appToken: null, baseUrl: server.url }
    const connection = driver.connect(access, null, {
      incoming: async () => onMessage(),
      status() {},
      roundTrip() {},
      knownChats: () => [],
      readFile: async () => ({ problem: 'there are no files here' }),
    })
    await server.untilListening()
    let sent = 0
    return {
      async send(text) {
        const message = {
          id: `message-${++sent}`,
          channelId: 'channel',
          chatId: server.chatOf(ANNA),
          text,
          buttons: [],
          files: [],
          partsSent: 0,
        }
        const result = await connection.deliver(message, new AbortController().signal, () => true)
        if (result.state !== 'sent') throw new Error('a message was not sent')
      },
      close: connection.close,
    }
  },
}

const LIBRARY: Client = {
  name: 'discord.js libraries',
  async connect(server, onMessage) {
    const rest = new REST({ api: server.url, version: '10', globalRequestsPerSecond: 1_000_000 }).setToken(server.token)
    const manager = new WebSocketManager({ token: server.token, intents: INTENTS, rest })
    manager.on(WebSocketShardEvents.Dispatch, ({ t }) => void (t === 'MESSAGE_CREATE' && onMessage()))
    await manager.connect()
    return {
      send: async (content) =>
        void (await rest.post(`/channels/${server.chatOf(ANNA)}/messages`, { body: { content, allowed_mentions: { parse: [] } } })),
      async close() {
        await manager.destroy()
      },
    }
  },
}

async function measure({ connect }: Client): Promise<{ received: number; sent: number }> {
  const server = await startDiscordServer()
  server.chatOf(ANNA)
  let left = RECEIVED
  const received = Promise.withResolvers<void>()
  const client = await connect(server, () => void (--left === 0 && received.resolve()))
  const before = performance.now()
  for (let n = 0; n < RECEIVED; n++) server.say(ANNA, `message ${n}`)
  await received.promise
  const between = performance.now()
  for (let n = 0; n < SENT; n++) await client.send(`Answer **${n}**`)
  const after = performance.now()
  await client.close()
  await server.close()
  return { received: (RECEIVED * 1000) / (between - before), sent: (SENT * 1000) / (after - between) }
}

export async function benchDiscord(): Promise<void> {
  console.log(`\nDiscord (${ROUNDS} rounds in turn; ${RECEIVED} messages in, ${SENT} out, one after the other)`)
  const clients = [LIBRARY, DRIVER]
  const results = clients.map(() => [] as { received: number; sent: number }[])
  for (let round = -1; round < ROUNDS; round++) {
    for (const [index, client] of clients.entries()) {
      const result = await measure(client)
      if (round >= 0) results[index]!.push(result)
    }
  }
  console.log('client | messages in, per second | messages out, per second')
  for (const [index, { name }] of clients.entries()) {
    const [ins, outs] = [results[index]!.map(({ received }) => received), results[index]!.map(({ sent }) => sent)]
    console.log(`${name} | ${spread(ins, 0)} | ${spread(outs, 0)}`)
  }
  const ratio = (of: 'received' | 'sent') => median(results[1]!.map((one) => one[of])) / median(results[0]!.map((one) => one[of]))
  console.log(`driver beside the libraries | ${ratio('received').toFixed(2)} | ${ratio('sent').toFixed(2)}`)
  outbound.close()
}
