import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { transact, type Tx } from '../../../platform/db/database.ts'
import type { Services } from '../../../platform/services.ts'
import type { Message } from '../../../contract/messages.ts'
import type { Pairing } from '../../../contract/messenger.ts'
import { AppError, problemOf } from '../../../lib/errors.ts'
import { createMessage, type Speech } from '../../../lib/messages.ts'
import { channelTokenKey } from '../../../lib/vault.ts'
import { findAgent, getAgent } from '../../../domain/agents/agents.ts'
import {
  findChannel,
  findConnectable,
  insertChannel,
  listChannels,
  renameChannel,
  setChannelEnabled,
} from '../../../domain/channels/channels.ts'
import { addRequest, findOwner } from '../../../domain/channels/people.ts'
import { decideOnPerson } from '../../../domain/channels/receive-message.ts'
import type { JobStore } from '../../../domain/jobs/job-store.ts'
import { loadLibrary, readCreds, type TestServer } from './library.ts'
import { createKey, createLinkState, deleteLinkState, linkStateFile, openLinkState, type LinkState } from './link-state.ts'
import { pairDevice, type Paired, type PairingStep } from './pair-device.ts'
import { unlinkDevice } from './whatsapp.ts'

export type PairingsDeps = Pick<Services, 'db' | 'hub' | 'clock' | 'ids' | 'vault' | 'log'> & {
  dataDir: string
  speech: Speech
  jobs: Pick<JobStore, 'enqueue' | 'cancelAllOf'>
  testServer: TestServer
  /** Connects the channel that was paired. */
  refresh(channelId: string): Promise<void>
}

/** Who is being paired is in the link state too, so that a pairing survives a crash between the phone and the first login. */
const AGENT = 'agent'
const NOTHING = { qr: null, code: null, expiresAt: null, number: null, channelId: null, problem: null } satisfies Omit<Pairing, 'status'>

type Live = { view: Pairing; phoneNumber: string | null; isRunning: boolean; stop(): Promise<void> }

/** Pairs agents with phones. There is one pairing for each agent at a time; its channel is made when the phone has accepted it. */
export function createPairings(deps: PairingsDeps) {
  const { db, clock, vault, log, dataDir, testServer } = deps
  const live = new Map<string, Live>()
  const stops: (() => void)[] = []

  const channelOf = (agentId: string) => listChannels(db, { agentId }).find(({ kind }) => kind === 'messenger') ?? null

  function read(agentId: string): Pairing | null {
    const pairing = live.get(agentId)
    if (pairing !== undefined) return pairing.view
    const channel = channelOf(agentId)
    if (channel === null) return null
    const { id: channelId, name: number, problem } = channel
    return { ...NOTHING, status: channel.status === 'logged_out' ? 'logged_out' : 'linked', number, channelId, problem }
  }

  /** Starts a pairing unless there is one. A phone number starts another one that shows a code to type. Throws AppError agent_not_found, vault_unavailable. */
  async function start(agentId: string, phoneNumber: string | null): Promise<Pairing> {
    getAgent(db, agentId)
    const present = live.get(agentId)
    if (present?.isRunning === true && (present.phoneNumber === phoneNumber || present.view.status === 'scanned')) return present.view
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
      const state = createLinkState(linkStateFile(dataDir, channelId), key)
      state.write([[AGENT, agentId]])
      begun.run(state)
    } catch (error) {
      live.delete(agentId)
      throw error
    }
    return live.get(agentId)!.view
  }

  /** Registers the pairing at once, so that a second call finds it. */
  function begin(agentId: string, channelId: string, phoneNumber: string | null) {
    const ending = new AbortController()
    let done = Promise.resolve()
    const pairing: Live = {
      ...{ view: { ...NOTHING, status: 'connecting' }, phoneNumber, isRunning: true },
      async stop() {
        ending.abort(new Error('the pairing was stopped'))
        await done
      },
    }
    live.set(agentId, pairing)
    const show = (view: Partial<Pairing> & Pick<Pairing, 'status'>) => (pairing.view = { ...NOTHING, ...view })
    return {
      run(state: LinkState): void {
        done = pair(agentId, channelId, phoneNumber, state, show, ending.signal)
          .catch((error: unknown) => {
            if (ending.signal.aborted) return
            log.error({ error, agentId }, 'a pairing failed')
            show({ status: 'failed', problem: error instanceof AppError ? problemOf(error) : createMessage('ours_broken') })
          })
          .finally(() => (pairing.isRunning = false))
      },
    }
  }

  async function pair(
    agentId: string,
    channelId: string,
    phoneNumber: string | null,
    state: LinkState,
    show: (view: Partial<Pairing> & Pick<Pairing, 'status'>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const library = await loadLibrary(testServer)
    let isKept = false
    try {
      let refusal: Message | null = null
      const onStep = (step: PairingStep) => show(step)
      const accept = (paired: Paired) => {
        refusal = store(agentId, channelId, paired)
        return refusal === null
      }
      const given = { library, state, clock, testServer, phoneNumber: digitsOf(phoneNumber), onStep, accept }
      const result = await pairDevice(given, signal)
      isKept = result.state === 'paired'
      // From now on the channel says whose it is. If it is deleted, nothing brings it back.
      if (isKept) state.write([[AGENT, null]])
      state.close()
      if (result.state !== 'paired') return show({ status: result.state, problem: refusal ?? result.problem })
      await deps.refresh(channelId)
      show({ status: 'linked', number: result.paired.account.name, channelId })
    } finally {
      isKept ||= signal.aborted && readCreds(library, state) !== null
      state.close()
      if (!isKept) await discard(channelId)
    }
  }

  /** The link state of a pairing that came to nothing. The key of a channel stays, because its entry is overwritten or deleted with it. */
  async function discard(channelId: string): Promise<void> {
    deleteLinkState(linkStateFile(dataDir, channelId))
    if (findConnectable(db, channelId) !== null) return
    await vault
      .delete(channelTokenKey(channelId))
      .catch((error: unknown) => log.warn({ error, channelId }, 'could not delete the key of a pairing'))
  }

  /** Stores the channel, with the person as its owner: they have scanned a code from their own window. Returns why it is refused. */
  function store(agentId: string, channelId: string, { account, displayName }: Paired): Message | null {
    try {
      transact(db, (tx) => {
        const present = findConnectable(tx, channelId)
        if (present === null)
          insertChannel(tx, deps, { id: channelId, agentId: getAgent(tx, agentId).id, kind: 'messenger', account, baseUrl: null })
        else if (present.accountId !== account.accountId) {
          throw new AppError('channel_refused', createMessage('chat_wa_other_account', { account: account.name }))
        } else {
          renameChannel(tx, channelId, account)
          setChannelEnabled(tx, channelId, true)
        }
        addOwner(tx, { id: channelId, agentId }, account.accountId, displayName, account.name)
      })
      return null
    } catch (error) {
      if (error instanceof AppError && error.code !== 'disk_full') return problemOf(error)
      throw error
    }
  }

  function addOwner(tx: Tx, channel: { id: string; agentId: string }, externalId: string, displayName: string, handle: string): void {
    if (findOwner(tx, channel.id) !== null) return
    const sender = { externalId, chatId: externalId, displayName, handle, isRoom: false }
    const person = addRequest(tx, deps, channel, sender, { hasCode: true })
    if (person !== null) decideOnPerson(tx, deps, channel, person.id, 'owner')
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
      // The phone may still list the device: the channel or the agent was deleted just before a crash.
      await unlinkDevice(deps, channelId, key)
      return discard(channelId)
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
          if (type === 'channel.deleted' && live.get(payload.agentId)?.view.channelId === payload.channelId) live.delete(payload.agentId)
          if (type === 'channel.changed' && live.get(payload.agentId)?.view.status === 'linked') live.delete(payload.agentId)
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

function digitsOf(phoneNumber: string | null): string | null {
  return phoneNumber === null ? null : phoneNumber.replace(/\D/g, '').replace(/^00/, '')
}

/** Ids of channels. */
function listStates(dataDir: string): string[] {
  try {
    return readdirSync(join(dataDir, 'whatsapp')).filter((name) => /^[0-9a-f-]{36}$/.test(name))
  } catch {
    return []
  }
}
