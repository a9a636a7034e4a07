import type { ChannelDriver } from '../../src-runner/adapters/channels/channel.ts'
import type { ChannelAccess } from '../../src-runner/domain/channels/channel-access.ts'
import { median, spread } from './processes.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)

/** An account at a local chat server in this process. */
export type ChatClient = {
  /** A person writes to the account. */
  say(text: string): void
  send(text: string): Promise<unknown>
  close(): Promise<void>
}

/** Opens a client that calls `onMessage` for each message of a person. */
export type OpenChatClient = (onMessage: () => void) => Promise<ChatClient>

type Comparison = {
  service: string
  /** Messages of a round. */
  received: number
  sent: number
  library: OpenChatClient
  driver: OpenChatClient
}

/**
 * Messages per second through our driver beside the service's client library alone, without a database. In: all at once, until the
 * last one was handed over. Out: one after the other.
 */
export async function compareChats({ service, received, sent, library, driver }: Comparison): Promise<void> {
  console.log(`\n${service} (${ROUNDS} rounds in turn after one to warm up; ${received} messages in, ${sent} out; median, least and most)`)
  const sides = [await openSide('library', library), await openSide('driver', driver)]
  for (let round = 0; round <= ROUNDS; round++) {
    for (const side of sides) {
      const perSecond = { in: await side.receive(received), out: await side.send(sent) }
      if (round === 0) continue
      side.ins.push(perSecond.in)
      side.outs.push(perSecond.out)
    }
  }
  console.log('client | messages in, per second | messages out, per second')
  for (const { name, ins, outs } of sides) console.log(`${name} | ${spread(ins, 0)} | ${spread(outs, 0)}`)
  const ratio = (of: 'ins' | 'outs') => (median(sides[1]![of]) / median(sides[0]![of])).toFixed(2)
  console.log(`driver / library | ${ratio('ins')} | ${ratio('outs')}`)
  for (const side of sides) await side.close()
}

async function openSide(name: string, open: OpenChatClient) {
  let left = 0
  let done = () => {}
  const client = await open(() => {
    left--
    if (left === 0) done()
  })
  return {
    name,
    ins: [] as number[],
    outs: [] as number[],
    close: client.close,
    async receive(count: number): Promise<number> {
      left = count
      const all = new Promise<void>((resolve) => (done = resolve))
      const before = performance.now()
      for (let n = 0; n < count; n++) client.say(`message ${n}`)
      await all
      return (count * 1000) / (performance.now() - before)
    },
    async send(count: number): Promise<number> {
      const before = performance.now()
      for (let n = 0; n < count; n++) await client.send(`Answer **${n}** with \`code\``)
      return (count * 1000) / (performance.now() - before)
    },
  }
}

/** What is measured of a client at a server that somebody else has started. */
export type Connect<Server> = (server: Server, onMessage: () => void) => Promise<Omit<ChatClient, 'say'>>

/** A client at a server of its own, which ends with it. */
export function atOwnServer<Server extends { close(): Promise<void> }>(
  start: () => Promise<Server>,
  say: (server: Server, text: string) => unknown,
  connect: Connect<Server>,
): OpenChatClient {
  return async (onMessage) => {
    const server = await start()
    const { send, close } = await connect(server, onMessage)
    return {
      say: (text) => void say(server, text),
      send,
      async close() {
        await close()
        await server.close()
      },
    }
  }
}

/** Resolves when our driver is connected. */
export async function connectDriver(driver: ChannelDriver, access: ChannelAccess, chatId: () => string, onMessage: () => void) {
  const opened = Promise.withResolvers<void>()
  const connection = driver.connect(access, null, {
    incoming: async ({ type }) => void (type === 'message' && onMessage()),
    status: (status) => status === 'open' && opened.resolve(),
    roundTrip() {},
    knownChats: () => [],
    readFile: async () => ({ problem: 'there are no files here' }),
  })
  await opened.promise
  let sent = 0
  return {
    async send(text: string): Promise<void> {
      const message = { id: `message-${++sent}`, channelId: access.channelId, chatId: chatId(), text, buttons: [], files: [], partsSent: 0 }
      const { state } = await connection.deliver(message, new AbortController().signal, () => true)
      if (state !== 'sent') throw new Error('a message was not sent')
    },
    close: connection.close,
  }
}
