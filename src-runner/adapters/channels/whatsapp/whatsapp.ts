import { existsSync } from 'node:fs'
import { createMessage } from '../../../lib/messages.ts'
import type { ChannelDriver } from '../channel.ts'
import { connect, type WhatsAppDeps } from './connection.ts'
import { loadLibrary, readCreds } from './library.ts'
import { DEVICE_NAME, openLinkSocket } from './link-socket.ts'
import { deleteLinkState, linkStateFile, openLinkState } from './link-state.ts'
import { LIMITS } from './send-message.ts'

const UNLINK_DEADLINE_MS = 5_000

/**
 * WhatsApp by an account's linked device. The token is the key of the link state in the data folder. An account has no token that
 * somebody could enter: pairings.ts creates the state, and the channel when it is paired.
 */
export function createWhatsAppDriver(deps: WhatsAppDeps): ChannelDriver {
  return {
    kind: 'messenger',
    serviceName: 'WhatsApp',
    limits: LIMITS,
    identify: () => Promise.resolve({ state: 'refused', problem: createMessage('chat_wa_pair') }),
    connect: (access, _position, runner) => connect(deps, access, runner),
    forget: (channelId, access) => unlinkDevice(deps, channelId, access?.token ?? null),
  }
}

/** Deletes the link state, and removes the device from the phone's list if there is a key and the service can be reached. */
export async function unlinkDevice(
  { dataDir, clock, testServer }: Pick<WhatsAppDeps, 'dataDir' | 'clock' | 'testServer'>,
  channelId: string,
  key: string | null,
): Promise<void> {
  const file = linkStateFile(dataDir, channelId)
  if (!existsSync(file)) return
  const state = key === null ? null : openLinkState(file, key)
  try {
    const library = state === null ? null : await loadLibrary(testServer)
    const creds = library === null ? null : readCreds(library, state!)
    if (library === null || creds === null) return
    const ended = Promise.withResolvers<void>()
    const events = { qr() {}, paired() {}, frame() {}, message: () => Promise.reject(new Error('the channel was deleted')) }
    const link = openLinkSocket({
      library,
      state: state!,
      creds,
      clock,
      testServer,
      browser: DEVICE_NAME,
      events: { ...events, open: () => void link.socket.logout().catch(() => {}), closed: () => ended.resolve() },
    })
    const cancel = clock.after(UNLINK_DEADLINE_MS, () => ended.resolve())
    await ended.promise
    cancel()
    await link.close()
  } finally {
    state?.close()
    deleteLinkState(file)
  }
}
