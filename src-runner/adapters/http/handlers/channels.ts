import type { Message } from '../../../contract/messages.ts'
import { transact, type Tx } from '../../../platform/db/database.ts'
import type { Channel, CreateChannel } from '../../../contract/channels.ts'
import { AppError, invalidAt, required } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { channelTokenKey } from '../../../lib/vault.ts'
import { getAgent } from '../../../domain/agents/agents.ts'
import { pageOfList } from '../../../domain/cursors.ts'
import { joinTokens, type ChannelAccess } from '../../../domain/channels/channel-access.ts'
import {
  deleteChannel,
  findChannelOfAccount,
  findConnectable,
  getChannel,
  insertChannel,
  listChannels,
  renameChannel,
  setChannelEnabled,
  type ChannelAccount,
} from '../../../domain/channels/channels.ts'
import { chatOfPerson, findOwner } from '../../../domain/channels/people.ts'
import { decideOnPerson } from '../../../domain/channels/receive-message.ts'
import type { Caller } from '../caller.ts'
import type { Handlers } from '../handler.ts'
import { writeWithSecret } from '../write-with-secret.ts'
import type { HandlerDeps } from './deps.ts'

/** A token is stored only after the service has accepted it. */
export function channelHandlers({ db, jobs, clock, ids, vault, log, speech, channels, pairings }: HandlerDeps) {
  /** Throws AppError channel_refused, with the service's reason. */
  async function identify(kind: CreateChannel['kind'], access: ChannelAccess): Promise<ChannelAccount> {
    const identified = await channels.identify(kind, access)
    if (identified.state === 'known') return identified.account
    throw new AppError('channel_refused', identified.problem)
  }

  function withLiveTrip(channel: Channel): Channel {
    return { ...channel, lastRoundTripAt: channels.lastRoundTripAt(channel.id) ?? channel.lastRoundTripAt }
  }

  /** Members decide on nobody, so they get no code. */
  function shownTo(caller: Caller): (channel: Channel) => Channel {
    const isMember = caller.entityId === undefined && caller.isMember === true
    return (channel) => (isMember ? { ...withLiveTrip(channel), pairingCode: null } : withLiveTrip(channel))
  }

  async function changeTokens(channelId: string, tokens: { token: string; appToken: string | null }): Promise<void> {
    const { kind, accountId, baseUrl } = findConnectable(db, channelId)!
    const account = await identify(kind as CreateChannel['kind'], { channelId, ...tokens, baseUrl })
    if (account.accountId !== accountId) {
      throw new AppError('channel_refused', createMessage('chat_other_account', { account: account.name }))
    }
    const rename = () => transact(db, (tx) => renameChannel(tx, channelId, account))
    await writeWithSecret({ vault, log }, channelTokenKey(channelId), joinTokens(tokens), rename)
  }

  function requirePairings(): NonNullable<HandlerDeps['pairings']> {
    return required(pairings, 'messenger_manager_unavailable')
  }

  return {
    listChannels({ query }, { caller }) {
      const listed = listChannels(db, { agentId: query.agentId, entityId: caller.entityId })
      const { items, nextCursor } = pageOfList(listed, query, ({ id }) => id)
      return { channels: items.map(shownTo(caller)), nextCursor }
    },
    getChannel: ({ params }, { caller }) => ({ channel: shownTo(caller)(getChannel(db, params.channelId)) }),

    async createChannel({ body: { agentId, kind, token, appToken, baseUrl } }) {
      getAgent(db, agentId)
      requireHttpAddress(baseUrl)
      const id = ids.next()
      const account = await identify(kind, { channelId: id, token, appToken, baseUrl })
      const present = findChannelOfAccount(db, kind, account.accountId)
      if (present !== null)
        throw new AppError('channel_exists', createMessage('chat_account_taken', { account: account.name, agentName: present.agentName }))
      const insert = (tx: Tx) => {
        // The agent may have been deleted while the service was asked.
        getAgent(tx, agentId)
        return insertChannel(tx, { clock }, { id, agentId, kind, account, baseUrl })
      }
      await writeWithSecret({ vault, log }, channelTokenKey(id), joinTokens({ token, appToken }), () => transact(db, insert))
      await channels.refresh(id)
      return { channel: withLiveTrip(getChannel(db, id)) }
    },

    async updateChannel({ params: { channelId }, body: { enabled, token, appToken = null } }) {
      const before = getChannel(db, channelId)
      if (token !== undefined) await changeTokens(channelId, { token, appToken })
      const changes = token !== undefined || (enabled !== undefined && (enabled !== before.enabled || before.status === 'logged_out'))
      if (changes) {
        transact(db, (tx) => setChannelEnabled(tx, channelId, enabled ?? before.enabled))
        await channels.refresh(channelId)
      }
      return { channel: withLiveTrip(getChannel(db, channelId)) }
    },

    async deleteChannel({ params: { channelId } }) {
      getChannel(db, channelId)
      // Fails if the keychain is locked: it would keep a token that nobody can find again.
      await vault.get(channelTokenKey(channelId))
      transact(db, (tx) => deleteChannel(tx, channelId))
      return { ok: true }
    },

    updateChannelPerson({ params: { channelId, personId }, body: { role } }) {
      const channel = getChannel(db, channelId)
      return { person: transact(db, (tx) => decideOnPerson(tx, { clock, ids, speech, jobs }, channel, personId, role)) }
    },

    async testChannel({ params: { channelId } }, call) {
      const { enabled, name, agentName } = getChannel(db, channelId)
      if (!enabled) return failed(createMessage('chat_off'))
      const owner = findOwner(db, channelId)
      if (owner === null) return failed(createMessage('chat_nobody', { account: name }))
      const result = await channels.deliver(
        {
          id: ids.next(),
          channelId,
          chatId: chatOfPerson(db, owner.id),
          text: speech()('outbound.test', { agent: agentName }),
          buttons: [],
          files: [],
          partsSent: 0,
        },
        call.gone,
      )
      return result.state === 'sent' ? { ok: true, message: null } : failed(result.problem)
    },

    getPairing({ query: { agentId } }) {
      return required(requirePairings().read(agentId), 'no_messenger_binding')
    },

    startPairing: ({ body: { agentId, phoneNumber = null } }) => requirePairings().pair(agentId, phoneNumber),
  } satisfies Partial<Handlers>
}

function failed(message: Message) {
  return { ok: false, message }
}

function requireHttpAddress(baseUrl: string | null): void {
  const isFit = baseUrl === null || (URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol) && new URL(baseUrl).search === '')
  if (!isFit) throw invalidAt('baseUrl', createMessage('server_address'))
}
