import { z } from 'zod'
import { BudgetUsd, ModelRef } from './agents.ts'
import { DEFAULT_NOTIFICATIONS, NotificationSettings } from './notifications.ts'
import { Moment } from './primitives.ts'
import { TunnelProgram } from './public-address.ts'
import { DEFAULT_RETENTION, Retention } from './retention.ts'

export const WebSearchKind = z.enum(['brave', 'tavily', 'searxng'])
export type WebSearchKind = z.infer<typeof WebSearchKind>

/** The key is in the vault and never returned. */
export const WebSearch = z.object({
  kind: WebSearchKind,
  /** null: the provider's own address. SearXNG has none. */
  baseUrl: z.string().max(2000).nullable(),
  hasKey: z.boolean(),
})
export type WebSearch = z.infer<typeof WebSearch>

/** A key that is left out is kept if provider and address stay the same. */
export const UpdateWebSearch = z.object({
  kind: WebSearchKind,
  baseUrl: z.string().trim().min(1).max(2000).nullable().default(null),
  /** null removes it. */
  apiKey: z.string().trim().min(1).max(1000).nullable().optional(),
})
export type UpdateWebSearch = z.infer<typeof UpdateWebSearch>

/**
 * A local address that tools may open, which are closed otherwise: `nas.local`, `192.168.1.5:8080`, or a range like
 * `198.18.0.0/15`.
 */
const OpenedHost = z.string().trim().min(1).max(260)

/** Settings of the workspace, in the runner's database. The desktop keeps those of the machine. */
export const Settings = z.object({
  concurrency: z.number().int().min(1).max(32),
  defaultModel: ModelRef.nullable(),
  /** While on, no job starts and every tool call needs approval. */
  pauseAll: z.boolean(),
  /** The daily spending limit of all agents. null: no limit. */
  dayBudgetUsd: BudgetUsd.nullable(),
  /** Where the first start is: it resumes there and is never shown again once `done`. */
  firstStart: z.enum(['model', 'agent', 'job', 'done']),
  /** null: agents have no `web_search`. */
  webSearch: WebSearch.nullable(),
  openedHosts: z.array(OpenedHost).max(100),
  /** Agents may run programs from the person's home folder, and not only those of the system. */
  ownPrograms: z.boolean(),
  notifications: NotificationSettings,
  /** Programs that use Deckhand over `/mcp` may answer approvals. */
  mcpApprovals: z.boolean(),
  /** The public base of webhook addresses. Changed through `/api/public-address`, like the next two. */
  publicUrl: z.string().nullable(),
  /** The port of the webhook listener. null: off. */
  ingressPort: z.number().int().nullable(),
  /** The tunnel that starts with the app. */
  tunnel: TunnelProgram.nullable(),
  /** The last address of a tunnel, since when it has it, and the one before it. null: no tunnel ran yet. */
  tunnelAddress: z.object({ url: z.string(), since: Moment, before: z.string().nullable() }).nullable(),
  /** A second place for backups, such as an external disk; null: none. */
  backupFolder: z.string().trim().min(1).max(4096).nullable(),
  retention: Retention,
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
  mcpApprovals: false,
  publicUrl: null,
  ingressPort: null,
  tunnel: null,
  tunnelAddress: null,
  backupFolder: null,
  retention: DEFAULT_RETENTION,
}

/** `bearer`: what a program sends in `Authorization`. */
export const McpEndpoint = z.object({ url: z.string(), bearer: z.enum(['none', 'secret', 'secret_or_token']) })
export type McpEndpoint = z.infer<typeof McpEndpoint>

/** The omitted settings have routes of their own. */
export const UpdateSettings = Settings.omit({
  webSearch: true,
  publicUrl: true,
  ingressPort: true,
  tunnel: true,
  tunnelAddress: true,
}).partial()
export type UpdateSettings = z.infer<typeof UpdateSettings>
