import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { hasReplacedData } from '../../../platform/db/replacement.ts'
import type { Pairing } from '../../../contract/messenger.ts'
import { channelTokenKey } from '../../../lib/vault.ts'
import { findAgent, getAgent } from '../../../domain/agents/agents.ts'
import { findChannel, findConnectable, listChannels } from '../../../domain/channels/channels.ts'
import { loadLibrary, readCreds } from './library.ts'
import { createKey, createLinkState, linkStateFile, openLinkState } from './link-state.ts'
import { AGENT, createPairing, discardPairing, NOTHING, type LivePairing, type PairingDeps } from './pairing.ts'
import { unlinkDevice } from './whatsapp.ts'

/** Pairs agents with phones. There is one pairing for each agent at a time; its channel is made when the phone has accepted it. */
export function createPairings(deps: PairingDeps) {
  const { db, vault, log, dataDir, testServer } = deps
  const live = new Map<string, LivePairing>()
  const stops: (() => void)[] = []

  const channelOf = (agentId: string) => listChannels(db, { agentId }).find(({ kind }) => kind === 'messenger') ?? null

  function read(agentId: string): Pairing | null {
    const pairing = live.get(agentId)
    if (pairing !== undefined) return pairing.view()
    const channel = channelOf(agentId)
    if (channel === null) return null
    const { id: channelId, name: number, problem } = channel
    return { ...NOTHING, status: channel.status === 'logged_out' ? 'logged_out' : 'open', number, channelId, problem }
  }

  /**
   * Starts a pairing unless there is one. A phone number starts another one that shows a code to type. Throws AppError
   * agent_not_found, vault_unavailable.
   */
  async function start(agentId: string, phoneNumber: string | null): Promise<Pairing> {
    getAgent(db, agentId)
    const present = live.get(agentId)
    if (present?.isRunning() === true && (present.phoneNumber === phoneNumber || present.view().scanned)) return present.view()
    const channel = channelOf(agentId)
    if (channel !== null && channel.status !== 'logged_out') {
      live.delete(agentId)
      return read(agentId)!
    }
    const channelId = channel?.id ?? deps.ids.next()
    const key = createKey()
    const begun = begin(agentId, channelId, phoneNumber)
    await present?.stop()
    try {
      await vault.set(channelTokenKey(channelId), key)
      // It may have been deleted meanwhile.
      getAgent(db, agentId)
      const state = createLinkState(linkStateFile(dataDir, channelId), key)
      state.write([[AGENT, agentId]])
      begun.run(state)
    } catch (error) {
      live.delete(agentId)
      if (findAgent(db, agentId) === null) await discardPairing(deps, channelId)
      throw error
    }
    return begun.view()
  }

  /** Registers the pairing at once, so that a second call finds it. */
  function begin(agentId: string, channelId: string, phoneNumber: string | null): LivePairing {
    const pairing = createPairing(deps, { agentId, channelId, phoneNumber })
    live.set(agentId, pairing)
    return pairing
  }

  /** Finishes a pairing that a crash has interrupted after the phone had accepted it. Deletes what is left of others. */
  async function resume(channelId: string): Promise<void> {
    const key = await vault.get(channelTokenKey(channelId))
    const state = key === null ? null : openLinkState(linkStateFile(dataDir, channelId), key)
    const agentId = state?.get(AGENT)
    if (agentId === undefined && findConnectable(db, channelId) !== null) return state?.close()
    const isPaired = state !== null && readCreds(await loadLibrary(testServer), state) !== null
    if (!isPaired || agentId === undefined || findAgent(db, agentId) === null || live.has(agentId)) {
      state?.close()
      // It belongs to data that was replaced, which a person may put back.
      if (findConnectable(db, channelId) === null && hasReplacedData(db.file)) return
      // The phone may still list the device: the channel or the agent was deleted just before a crash.
      await unlinkDevice(deps, channelId, key)
      return discardPairing(deps, channelId)
    }
    begin(agentId, channelId, null).run(state)
  }

  return {
    start(): void {
      stops.push(
        deps.hub.subscribe(({ type, payload }) => {
          if (type === 'agent.deleted') {
            void live.get(payload.agentId)?.stop()
            live.delete(payload.agentId)
          }
          if (type === 'channel.deleted' && live.get(payload.agentId)?.view().channelId === payload.channelId) live.delete(payload.agentId)
          if (type === 'channel.changed' && live.get(payload.agentId)?.view().status === 'open') live.delete(payload.agentId)
        }),
      )
      for (const channelId of listStates(dataDir)) {
        const channel = findChannel(db, channelId)
        if (channel !== null && channel.status !== 'logged_out') continue
        // Without the keychain, the next start tries again.
        resume(channelId).catch((error: unknown) => log.warn({ error, channelId }, 'could not finish a pairing'))
      }
    },
    async stop(): Promise<void> {
      for (const stop of stops.splice(0)) stop()
      await Promise.all([...live.values()].map((pairing) => pairing.stop()))
    },
    read,
    pair: start,
  }
}

/** Ids of channels. */
function listStates(dataDir: string): string[] {
  try {
    return readdirSync(join(dataDir, 'whatsapp')).filter((name) => /^[0-9a-f-]{36}$/.test(name))
  } catch {
    return []
  }
}
