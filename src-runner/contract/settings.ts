import { z } from 'zod'
import { BudgetUsd, ModelRef } from './agents.ts'
import { DEFAULT_NOTIFICATIONS, NotificationSettings } from './notifications.ts'
import { TunnelProgram } from './public-address.ts'

export const WebSearchKind = z.enum(['brave', 'tavily', 'searxng'])
export type WebSearchKind = z.infer<typeof WebSearchKind>

/** Where agents search the web. The key is in the vault and never comes back. */
export const WebSearch = z.object({
  kind: WebSearchKind,
  /** null: the provider's own address; SearXNG has none. */
  baseUrl: z.string().max(2000).nullable(),
  hasKey: z.boolean(),
})
export type WebSearch = z.infer<typeof WebSearch>

/** A key that is left out stays, as long as it goes to the same provider at the same address. */
export const UpdateWebSearch = z.object({
  kind: WebSearchKind,
  baseUrl: z.string().trim().min(1).max(2000).nullable().default(null),
  /** Written, never read. null removes it. */
  apiKey: z.string().trim().min(1).max(1000).nullable().optional(),
})
export type UpdateWebSearch = z.infer<typeof UpdateWebSearch>

/**
 * What tools may open on this machine or in its network, where everything is shut otherwise: `nas.local`,
 * `192.168.1.5:8080`, or a range like `198.18.0.0/15`.
 */
const OpenedHost = z.string().trim().min(1).max(260)

/** Settings of the workspace, kept in the runner's database. What belongs to the machine is the desktop's. */
export const Settings = z.object({
  /** How many jobs may run at once. */
  concurrency: z.number().int().min(1).max(32),
  defaultModel: ModelRef.nullable(),
  /** While on, no job is started and every tool call asks. Only a person releases it. */
  pauseAll: z.boolean(),
  /** What all agents together may spend in one local day. null: no cap. */
  dayBudgetUsd: BudgetUsd.nullable(),
  /** Where the first start is: it resumes there and is never shown again once `done`. */
  firstStart: z.enum(['model', 'agent', 'job', 'done']),
  /** null: agents have no `web_search`. */
  webSearch: WebSearch.nullable(),
  openedHosts: z.array(OpenedHost).max(100),
  /** Programs that agents run may be those that the person has installed in their home; else the system's alone. */
  ownPrograms: z.boolean(),
  notifications: NotificationSettings,
  /** The base of webhook addresses for the outside. Changed through `/api/public-address`, like the next two. */
  publicUrl: z.string().nullable(),
  /** Where the webhook-only listener is; null: there is none. */
  ingressPort: z.number().int().nullable(),
  /** The tunnel that is started with the app; null: none. */
  tunnel: TunnelProgram.nullable(),
})
export type Settings = z.infer<typeof Settings>

export const DEFAULT_SETTINGS: Settings = {
  concurrency: 4,
  defaultModel: null,
  firstStart: 'model',
  pauseAll: false,
  dayBudgetUsd: null,
  webSearch: null,
  openedHosts: [],
  ownPrograms: true,
  notifications: DEFAULT_NOTIFICATIONS,
  publicUrl: null,
  ingressPort: null,
  tunnel: null,
}

/** What has a route of its own is not written here. */
export const UpdateSettings = Settings.omit({ webSearch: true, publicUrl: true, ingressPort: true, tunnel: true }).partial()
export type UpdateSettings = z.infer<typeof UpdateSettings>
