import { z } from 'zod'
import { Said } from '../said.ts'
import { Channel, ChannelPerson, CreateChannel, UpdateChannel, UpdateChannelPerson } from '../channels.ts'
import { Id } from '../primitives.ts'
import { Nothing, routeTable } from './route.ts'

const channelParams = z.object({ channelId: Id })

export const channelRoutes = routeTable({
  listChannels: {
    method: 'GET',
    path: '/api/channels',
    gate: 'runner',
    summary: 'The channels through which agents are reached, newest first.',
    query: z.object({ agentId: Id.optional() }),
    status: 200,
    answer: z.object({ channels: z.array(Channel) }),
    errors: ['invalid_request'],
    shows: ['channels'],
  },
  createChannel: {
    method: 'POST',
    path: '/api/channels',
    gate: 'runner',
    summary: 'Connect an agent to a chat service. The token is tried first and then goes to the vault.',
    body: CreateChannel,
    status: 201,
    answer: z.object({ channel: Channel }),
    errors: ['invalid_request', 'agent_not_found', 'channel_refused', 'channel_exists', 'vault_unavailable', 'disk_full'],
  },
  getChannel: {
    method: 'GET',
    path: '/api/channels/:channelId',
    gate: 'runner',
    summary: 'One channel.',
    params: channelParams,
    status: 200,
    answer: z.object({ channel: Channel }),
    errors: ['invalid_request', 'channel_not_found'],
    shows: ['channels'],
  },
  updateChannel: {
    method: 'PATCH',
    path: '/api/channels/:channelId',
    gate: 'runner',
    summary: 'Turn a channel on or off, or give it another token of the same account.',
    params: channelParams,
    body: UpdateChannel,
    status: 200,
    answer: z.object({ channel: Channel }),
    errors: ['invalid_request', 'channel_not_found', 'channel_refused', 'vault_unavailable', 'disk_full'],
  },
  deleteChannel: {
    method: 'DELETE',
    path: '/api/channels/:channelId',
    gate: 'runner',
    summary: 'Disconnect a channel and forget its token. What was said stays in the conversations.',
    params: channelParams,
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'channel_not_found', 'vault_unavailable'],
  },
  updateChannelPerson: {
    method: 'PATCH',
    path: '/api/channels/:channelId/people/:personId',
    gate: 'runner',
    summary: 'Say who somebody on a channel is: the owner, somebody who is allowed, or somebody who is not.',
    params: z.object({ channelId: Id, personId: Id }),
    body: UpdateChannelPerson,
    status: 200,
    answer: z.object({ person: ChannelPerson }),
    errors: ['invalid_request', 'channel_not_found', 'channel_person_not_found', 'disk_full'],
  },
  testChannel: {
    method: 'POST',
    path: '/api/channels/:channelId/test',
    gate: 'runner',
    summary: 'Send the owner a message now, to see that it arrives.',
    params: channelParams,
    bodyOptional: true,
    status: 200,
    answer: z.object({ ok: z.boolean(), message: z.string(), said: Said.optional() }),
    errors: ['invalid_request', 'channel_not_found'],
  },
})
