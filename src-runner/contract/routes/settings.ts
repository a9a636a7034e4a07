import { UnpricedModels } from '../providers.ts'
import { z } from 'zod'
import { McpEndpoint, Settings, UpdateSettings, UpdateWebSearch } from '../settings.ts'
import { Spend, SpendQuery } from '../spend.ts'
import { get, patch, post } from './route.ts'

export const settingsRoutes = {
  getSettings: get('/api/settings', {
    reach: 'machine',
    summary: 'Settings of the workspace.',
    answer: z.object({ settings: Settings }),
    shows: ['settings'],
  }),
  updateSettings: patch('/api/settings', {
    reach: 'machine',
    summary: 'Change settings of the workspace.',
    body: UpdateSettings,
    answer: z.object({ settings: Settings, unpricedModels: UnpricedModels }),
    errors: ['provider_not_found'],
    ownerOnly: true,
  }),
  /** The one setting that everybody may change who works with the agents. */
  setPauseAll: post('/api/pause-all', {
    reach: 'machine',
    summary: 'Pause or resume all agents.',
    body: Settings.pick({ pauseAll: true }),
    answer: z.object({ settings: Settings }),
  }),
  getMcpEndpoint: get('/api/mcp-endpoint', {
    reach: 'machine',
    summary: 'Where other programs of this machine reach Deckhand by the Model Context Protocol, and what they must send.',
    answer: McpEndpoint,
    shows: ['settings'],
  }),
  updateWebSearch: patch('/api/settings/web-search', {
    reach: 'machine',
    summary: 'Set the web search provider, or null to remove the tool. The key is stored in the vault.',
    body: z.object({ webSearch: UpdateWebSearch.nullable() }),
    answer: z.object({ settings: Settings }),
    errors: ['vault_unavailable'],
    ownerOnly: true,
  }),
  makeSampleFolder: post('/api/sample-folder', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Create the folder “Deckhand sample” with a few files in the documents folder, for a first try.',
    answer: z.object({ path: z.string() }),
  }),
  getSpend: get('/api/spend', {
    reach: 'workspace',
    summary: 'Spending, grouped.',
    query: SpendQuery,
    answer: Spend,
    shows: ['spend'],
  }),
}
