import { z } from 'zod'
import { NextCursor } from '../primitives.ts'
import { CreateProvider, FoundServer, Provider, UpdateProvider } from '../providers.ts'
import { Said } from '../said.ts'
import { Nothing, routeTable } from './route.ts'

const providerParams = z.object({ providerId: z.string().min(1).max(64) })

export const providerRoutes = routeTable({
  listProviders: {
    method: 'GET',
    path: '/api/providers',
    gate: 'runner',
    summary: 'Providers: the demo, those the person added, those found on this machine.',
    status: 200,
    answer: z.object({ providers: z.array(Provider), nextCursor: NextCursor }),
    errors: [],
    shows: ['providers'],
  },
  createProvider: {
    method: 'POST',
    path: '/api/providers',
    gate: 'runner',
    summary: 'Add a provider. The key goes into the vault.',
    body: CreateProvider,
    status: 201,
    answer: z.object({ provider: Provider }),
    errors: ['invalid_request', 'vault_unavailable'],
  },
  updateProvider: {
    method: 'PATCH',
    path: '/api/providers/:providerId',
    gate: 'runner',
    summary: 'Change a provider or its key.',
    params: providerParams,
    body: UpdateProvider,
    status: 200,
    answer: z.object({
      provider: Provider,
      /** The new address is another server, so the key of the old one was removed. */
      keyRemoved: z.boolean(),
    }),
    errors: ['invalid_request', 'provider_not_found', 'provider_read_only', 'vault_unavailable'],
  },
  deleteProvider: {
    method: 'DELETE',
    path: '/api/providers/:providerId',
    gate: 'runner',
    summary: 'Remove a provider and its key. Refused while an agent uses it.',
    params: providerParams,
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'provider_not_found', 'provider_read_only', 'provider_in_use', 'vault_unavailable'],
  },
  checkProvider: {
    method: 'POST',
    path: '/api/providers/:providerId/check',
    gate: 'runner',
    summary: 'Ask the provider for its models now: does the key work? Costs nothing.',
    params: providerParams,
    bodyOptional: true,
    status: 200,
    answer: z.object({ ok: z.boolean(), models: z.number().int(), message: z.string(), said: Said.optional() }),
    errors: ['invalid_request', 'provider_not_found', 'vault_unavailable'],
  },
  listFoundServers: {
    method: 'GET',
    path: '/api/providers/found',
    gate: 'runner',
    summary: 'Ollama, LM Studio and llama.cpp servers that answer on this machine and are not added yet.',
    status: 200,
    answer: z.object({ servers: z.array(FoundServer) }),
    errors: [],
    shows: ['providers'],
  },
})
