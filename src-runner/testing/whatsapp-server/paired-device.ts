import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadLibrary } from '../../adapters/channels/whatsapp/library.ts'
import { createKey, createLinkState, linkStateFile } from '../../adapters/channels/whatsapp/link-state.ts'
import { pairDevice } from '../../adapters/channels/whatsapp/pair-device.ts'
import type { WhatsAppDeps } from '../../adapters/channels/whatsapp/connection.ts'
import { createWhatsAppDriver } from '../../adapters/channels/whatsapp/whatsapp.ts'
import { createOutbound } from '../../platform/net/outbound.ts'
import type { Clock } from '../../lib/clock.ts'
import { inEnglish } from '../../lib/messages.ts'
import { startWhatsAppServer } from './whatsapp-server.ts'

/** A local WhatsApp with a person, the device of an account that is linked to it, and the driver that connects it. */
export async function startPairedDevice(clock: Clock, channelId = 'channel') {
  const server = await startWhatsAppServer()
  const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-whatsapp-'))
  const outbound = createOutbound()
  const testServer = { url: server.url, rootKey: Buffer.from(server.rootKey).toString('hex') }
  const deps: WhatsAppDeps = { dataDir, fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5, testServer }
  const key = createKey()
  const file = linkStateFile(dataDir, channelId)
  const state = createLinkState(file, key)
  const result = await pairDevice(
    {
      library: await loadLibrary(testServer),
      state,
      clock,
      testServer,
      phoneNumber: null,
      accept: () => true,
      onStep: (step) => step.status === 'qr_pending' && server.scan(step.qr),
    },
    new AbortController().signal,
  )
  state.close()
  if (result.state !== 'paired') throw new Error('the device was not paired')
  return {
    server,
    deps,
    file,
    person: server.addPerson('4915112345678', 'Anna Berg'),
    driver: createWhatsAppDriver(deps),
    access: { channelId, token: key, appToken: null, baseUrl: null },
    async close(): Promise<void> {
      await server.close()
      outbound.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** A message as a phone shows it: with formatting in place of the marks. */
export function asShown(text: string): string {
  return text
    .replace(/```([\s\S]+?)```/g, '$1')
    .replace(/(?<![\p{L}\p{N}])([*_~`])(\S|\S.*?\S)\1(?![\p{L}\p{N}])/gu, '$2')
    .replace(/(?<![\p{L}\p{N}])([*_~`])(\S|\S.*?\S)\1(?![\p{L}\p{N}])/gu, '$2')
}
