import { UnpricedModels } from '../providers.ts'
import { z } from 'zod'
import { Settings, UpdateSettings, UpdateWebSearch } from '../settings.ts'
import { Spend, SpendQuery } from '../spend.ts'
import { routeTable } from './route.ts'

export const settingsRoutes = routeTable({
  getSettings: {
    method: 'GET',
    path: '/api/settings',
    gate: 'runner',
    summary: 'Settings of the workspace.',
    status: 200,
    answer: z.object({ settings: Settings }),
    errors: [],
    shows: ['settings'],
  },
  updateSettings: {
    method: 'PATCH',
    path: '/api/settings',
    gate: 'runner',
    summary: 'Change settings of the workspace.',
    body: UpdateSettings,
    status: 200,
    answer: z.object({ settings: Settings, unpricedModels: UnpricedModels }),
    errors: ['invalid_request', 'provider_not_found'],
  },
  updateWebSearch: {
    method: 'PATCH',
    path: '/api/settings/web-search',
    gate: 'runner',
    summary: 'Set up where agents search the web, or null to take the tool away. The key goes into the vault.',
    body: z.object({ webSearch: UpdateWebSearch.nullable() }),
    status: 200,
    answer: z.object({ settings: Settings }),
    errors: ['invalid_request', 'vault_unavailable'],
  },
  makeSampleFolder: {
    method: 'POST',
    path: '/api/sample-folder',
    gate: 'runner',
    summary: 'Make the folder “Deckhand sample” with a few harmless files in the documents of this computer, for a first try.',
    status: 200,
    answer: z.object({ path: z.string() }),
    errors: ['disk_full'],
  },
  getSpend: {
    method: 'GET',
    path: '/api/spend',
    gate: 'runner',
    summary: 'What was spent, grouped.',
    query: SpendQuery,
    status: 200,
    answer: Spend,
    errors: ['invalid_request'],
    shows: ['spend'],
  },
})
