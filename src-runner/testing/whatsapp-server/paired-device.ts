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
import { silentLog, type Log } from '../../lib/log.ts'
import { inEnglish } from '../../lib/messages.ts'
import type { DeviceBundle } from './signal-party.ts'
import { startWhatsAppServer, type WhatsAppServer } from './whatsapp-server.ts'

type Paired = { key: string; entries: [string, string][]; bundle: DeviceBundle }
let paired: Promise<Paired> | undefined

/** Pairs a device once in a process, because that takes longer than most of what is tested with it. */
async function pairOnce(clock: Clock): Promise<Paired> {
  const server = await startWhatsAppServer()
  const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-whatsapp-'))
  const testServer = testServerOf(server)
  const key = createKey()
  const state = createLinkState(linkStateFile(dataDir, 'channel'), key)
  const result = await pairDevice(
    {
      library: await loadLibrary(testServer),
      state,
      clock,
      testServer,
      phoneNumber: null,
      accept: () => true,
      onStep: (step) => 'qr' in step && server.scan(step.qr),
    },
    new AbortController().signal,
  )
  const entries = [...state.names()].map((name): [string, string] => [name, state.get(name)!])
  state.close()
  await server.close()
  rmSync(dataDir, { recursive: true })
  if (result.state !== 'paired') throw new Error('the device was not paired')
  return { key, entries, bundle: server.device() }
}

const testServerOf = ({ url, rootKey }: WhatsAppServer) => ({ url, rootKey: Buffer.from(rootKey).toString('hex') })

/** A local WhatsApp with a person, the device of an account that is linked to it, and the driver that connects it. */
export async function startPairedDevice(clock: Clock, channelId = 'channel', log: Log = silentLog) {
  const { key, entries, bundle } = await (paired ??= pairOnce(clock))
  const server = await startWhatsAppServer(bundle)
  const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-whatsapp-'))
  const outbound = createOutbound()
  const deps: WhatsAppDeps = {
    dataDir,
    fetch: outbound.fetch,
    clock,
    log,
    speech: () => inEnglish,
    random: () => 0.5,
    testServer: testServerOf(server),
  }
  const file = linkStateFile(dataDir, channelId)
  const state = createLinkState(file, key)
  state.write(entries)
  state.close()
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
