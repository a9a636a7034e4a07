import { z } from 'zod'
import { Message } from '../messages.ts'
import { Channel, ChannelPerson, CreateChannel, UpdateChannel, UpdateChannelPerson } from '../channels.ts'
import { Pairing, StartPairing } from '../messenger.ts'
import { Id, NextCursor, ShortListQuery } from '../primitives.ts'
import { del, get, Nothing, patch, post } from './route.ts'

const channelParams = z.object({ channelId: Id })

export const channelRoutes = {
  listChannels: get('/api/channels', {
    reach: 'workspace',
    summary: 'The channels through which agents are reached, newest first.',
    query: ShortListQuery.extend({ agentId: Id.optional() }),
    answer: z.object({ channels: z.array(Channel), nextCursor: NextCursor }),
    shows: ['channels'],
  }),
  createChannel: post('/api/channels', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Connect an agent to a chat service. The token is tested, then stored in the vault.',
    body: CreateChannel,
    status: 201,
    answer: z.object({ channel: Channel }),
    errors: ['agent_not_found', 'channel_refused', 'channel_exists', 'vault_unavailable'],
  }),
  getChannel: get('/api/channels/:channelId', {
    reach: 'workspace',
    summary: 'One channel.',
    params: channelParams,
    answer: z.object({ channel: Channel }),
    errors: ['channel_not_found'],
    shows: ['channels'],
  }),
  updateChannel: patch('/api/channels/:channelId', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Turn a channel on or off, or give it another token of the same account.',
    params: channelParams,
    body: UpdateChannel,
    answer: z.object({ channel: Channel }),
    errors: ['channel_not_found', 'channel_refused', 'vault_unavailable'],
  }),
  deleteChannel: del('/api/channels/:channelId', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Disconnect a channel and delete its token. Its conversations stay.',
    params: channelParams,
    answer: Nothing,
    errors: ['channel_not_found', 'vault_unavailable'],
  }),
  updateChannelPerson: patch('/api/channels/:channelId/people/:personId', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Make somebody on a channel its owner, allow them, or refuse them.',
    params: z.object({ channelId: Id, personId: Id }),
    body: UpdateChannelPerson,
    answer: z.object({ person: ChannelPerson }),
    errors: ['channel_not_found', 'channel_person_not_found'],
  }),
  testChannel: post('/api/channels/:channelId/test', {
    reach: 'workspace',
    summary: 'Send a test message to the owner.',
    params: channelParams,
    answer: z.object({ ok: z.boolean(), message: Message.nullable() }),
    errors: ['channel_not_found'],
  }),
  getPairing: get('/api/messenger/pairing', {
    reach: 'workspace',
    ownerOnly: true,
    summary: 'How far the phone messenger (WhatsApp) of an agent is paired, with the code to scan.',
    query: z.object({ agentId: Id }),
    answer: Pairing,
    errors: ['no_messenger_binding', 'messenger_manager_unavailable'],
  }),
  startPairing: post('/api/messenger/pairing', {
    reach: 'workspace',
    ownerOnly: true,
    summary: 'Start pairing the phone messenger (WhatsApp) of an agent, unless it is paired or being paired.',
    body: StartPairing,
    status: 202,
    answer: Pairing,
    errors: ['agent_not_found', 'messenger_manager_unavailable', 'vault_unavailable'],
  }),
}
