import { afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { silenceConsole } from '../../platform/log/create-log.ts'
import type { Agent } from '../../contract/agents.ts'
import type { Channel } from '../../contract/channels.ts'
import type { Pairing } from '../../contract/messenger.ts'
import { silentLog } from '../../lib/log.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from '../create-test-runner.ts'
import { startWhatsAppServer, type ServedPerson, type WhatsAppServer } from './whatsapp-server.ts'

/** The whole runner and a local WhatsApp, both new for each test. */
export type WhatsAppRig = {
  readonly runner: TestRunner
  readonly server: WhatsAppServer
  readonly agent: Agent
  begin(options?: TestRunnerOptions): Promise<Agent>
  pairing(): Promise<Pairing>
  /** Scans the code that Deckhand shows, and waits until the channel is open. */
  link(): Promise<Channel>
  channelNow(): Promise<Channel>
  /** The texts in a chat, as the person sees them. `owner`: what is said to the account itself. Another text: a group. */
  said(to: ServedPerson | string): string[]
  untilSaid(to: ServedPerson | string, text: string | RegExp): Promise<void>
}

/** To be called once in a `describe`. */
export function useWhatsAppRig(): WhatsAppRig {
  let runner: TestRunner | null
  let server: WhatsAppServer
  let agent: Agent
  // The encryption prints keys.
  beforeAll(() => silenceConsole(silentLog))
  beforeEach(async () => {
    runner = null
    server = await startWhatsAppServer()
  })
  afterEach(async () => {
    await runner?.stop()
    await server.close()
  })
  const chatOf = (to: ServedPerson | string) => (to === 'owner' ? server.account.jid : typeof to === 'string' ? to : to.jid)
  const rig: WhatsAppRig = {
    get runner() {
      return runner!
    },
    get server() {
      return server
    },
    get agent() {
      return agent
    },
    async begin(options = {}) {
      const testMessenger = { url: server.url, rootKey: Buffer.from(server.rootKey).toString('hex') }
      runner = await createTestRunner({ ...options, config: { testMessenger, ...options.config } })
      agent = await runner.addAgent({ name: 'Ada' })
      return agent
    },
    pairing: () => runner!.client.ok('getPairing', { query: { agentId: agent.id } }),
    async link() {
      await runner!.client.ok('startPairing', { body: { agentId: agent.id } })
      await expect.poll(async () => (await rig.pairing()).status).toBe('qr_pending')
      server.scan((await rig.pairing()).qr!)
      await expect.poll(async () => (await rig.pairing()).status).toBe('open')
      await expect.poll(async () => (await rig.channelNow()).status).toBe('open')
      return rig.channelNow()
    },
    channelNow: async () => (await runner!.client.ok('listChannels', { query: {} })).channels[0]!,
    said: (to) => server.sent.filter(({ chat }) => chat === chatOf(to)).map(({ text }) => text),
    untilSaid: (to, text) => server.until(() => rig.said(to).some((one) => (typeof text === 'string' ? one === text : text.test(one)))),
  }
  return rig
}
