import type { Services } from '../../../platform/services.ts'
import type { Message } from '../../../contract/messages.ts'
import type { Pairing } from '../../../contract/messenger.ts'
import { AppError, problemOf } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { channelTokenKey } from '../../../lib/vault.ts'
import { findConnectable } from '../../../domain/channels/channels.ts'
import { loadLibrary, readCreds, type TestServer } from './library.ts'
import { deleteLinkState, linkStateFile, type LinkState } from './link-state.ts'
import { pairDevice, type Paired } from './pair-device.ts'
import { storePaired, type StorePairedDeps } from './store-paired.ts'

export type PairingDeps = StorePairedDeps &
  Pick<Services, 'vault' | 'log'> & {
    dataDir: string
    testServer: TestServer
    /** Connects the channel that was paired. */
    refresh(channelId: string): Promise<void>
  }

export type LivePairing = ReturnType<typeof createPairing>

/** Who is being paired is in the link state too, so that a pairing survives a crash between the phone and the first login. */
export const AGENT = 'agent'
/** A view before there is anything to show. */
export const NOTHING: Omit<Pairing, 'status'> = {
  qr: null,
  code: null,
  scanned: false,
  expiresAt: null,
  number: null,
  channelId: null,
  problem: null,
}

/** One try to pair an agent with a phone. It shows what to scan or type, and how it ended. */
export function createPairing(
  deps: PairingDeps,
  { agentId, channelId, phoneNumber }: { agentId: string; channelId: string; phoneNumber: string | null },
) {
  const { log, testServer } = deps
  const stopping = new AbortController()
  let view: Pairing = { ...NOTHING, status: 'connecting' }
  let isRunning = true
  let done = Promise.resolve()

  function show(shown: Partial<Pairing> & Pick<Pairing, 'status'>): void {
    view = { ...NOTHING, ...shown }
  }

  async function pair(state: LinkState): Promise<void> {
    const library = await loadLibrary(testServer)
    let isKept = false
    try {
      let refusal: Message | null = null
      const accept = (paired: Paired) => {
        refusal = storePaired(deps, { id: channelId, agentId }, paired)
        return refusal === null
      }
      const given = { library, state, clock: deps.clock, testServer, phoneNumber: digitsOf(phoneNumber), onStep: show, accept }
      const result = await pairDevice(given, stopping.signal)
      isKept = result.state === 'paired'
      // From now on the channel says whose it is. If it is deleted, nothing brings it back.
      if (isKept) state.write([[AGENT, null]])
      state.close()
      if (result.state !== 'paired') return show({ status: result.state, problem: refusal ?? result.problem })
      await deps.refresh(channelId)
      show({ status: 'open', number: result.paired.account.name, channelId })
    } finally {
      isKept ||= stopping.signal.aborted && readCreds(library, state) !== null
      state.close()
      if (!isKept) await discardPairing(deps, channelId)
    }
  }

  return {
    phoneNumber,
    view: () => view,
    isRunning: () => isRunning,
    run(state: LinkState): void {
      done = pair(state)
        .catch((error: unknown) => {
          if (stopping.signal.aborted) return
          log.error({ error, agentId }, 'a pairing failed')
          show({ status: 'closed', problem: error instanceof AppError ? problemOf(error) : createMessage('ours_broken') })
        })
        .finally(() => (isRunning = false))
    },
    async stop(): Promise<void> {
      stopping.abort(new Error('the pairing was stopped'))
      await done
    },
  }
}

/** The link state of a pairing that came to nothing. The key of a channel stays, because its entry is overwritten or deleted with it. */
export async function discardPairing({ db, vault, log, dataDir }: PairingDeps, channelId: string): Promise<void> {
  deleteLinkState(linkStateFile(dataDir, channelId))
  if (findConnectable(db, channelId) !== null) return
  await vault
    .delete(channelTokenKey(channelId))
    .catch((error: unknown) => log.warn({ error, channelId }, 'could not delete the key of a pairing'))
}

function digitsOf(phoneNumber: string | null): string | null {
  return phoneNumber === null ? null : phoneNumber.replace(/\D/g, '').replace(/^00/, '')
}
