import { z } from 'zod'
import { ModelRef } from '../agents.ts'
import { NextCursor, ShortListQuery } from '../primitives.ts'
import { CreateProvider, FoundServer, ModelList, Price, Provider, UpdateProvider } from '../providers.ts'
import { Message } from '../messages.ts'
import { del, get, Nothing, patch, post } from './route.ts'

const providerParams = z.object({ providerId: z.string().min(1).max(64) })

export const providerRoutes = {
  listProviders: get('/api/providers', {
    reach: 'machine',
    summary: 'Providers: the demo, added ones, and those found on this machine.',
    query: ShortListQuery,
    answer: z.object({ providers: z.array(Provider), nextCursor: NextCursor }),
    shows: ['providers'],
  }),
  createProvider: post('/api/providers', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Add a provider. The key is stored in the vault.',
    body: CreateProvider,
    status: 201,
    answer: z.object({ provider: Provider }),
    errors: ['vault_unavailable'],
  }),
  updateProvider: patch('/api/providers/:providerId', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Change a provider or its key.',
    params: providerParams,
    body: UpdateProvider,
    answer: z.object({
      provider: Provider,
      /** The new address is another server, so the key of the old one was removed. */
      keyRemoved: z.boolean(),
    }),
    errors: ['provider_not_found', 'provider_read_only', 'vault_unavailable'],
  }),
  deleteProvider: del('/api/providers/:providerId', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Remove a provider and its key. Refused while an agent uses it.',
    params: providerParams,
    answer: Nothing,
    errors: ['provider_not_found', 'provider_read_only', 'provider_in_use', 'vault_unavailable'],
  }),
  checkProvider: post('/api/providers/:providerId/check', {
    reach: 'machine',
    summary: 'Test the key by listing the models of the provider. Costs nothing.',
    params: providerParams,
    answer: z.object({ ok: z.boolean(), models: z.number().int(), message: Message.nullable() }),
    errors: ['provider_not_found', 'vault_unavailable'],
  }),
  listFoundServers: get('/api/providers/found', {
    reach: 'machine',
    summary: 'Ollama, LM Studio and llama.cpp servers on this machine that are not added yet.',
    answer: z.object({ servers: z.array(FoundServer) }),
    shows: ['providers'],
  }),
  listModels: get('/api/models', {
    reach: 'machine',
    summary: 'The models of all providers, as the providers list them.',
    query: ShortListQuery,
    answer: ModelList.extend({ nextCursor: NextCursor }),
    shows: ['models'],
  }),
  setModelPrice: post('/api/models/price', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Set an own price for a model, or null to use the known one.',
    body: z.object({ model: ModelRef, price: Price.nullable() }),
    answer: Nothing,
    errors: ['provider_not_found'],
  }),
}
