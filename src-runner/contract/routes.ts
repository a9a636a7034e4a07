import { agentRoutes } from './routes/agents.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { backupRoutes } from './routes/backups.ts'
import { channelRoutes } from './routes/channels.ts'
import { chatRoutes } from './routes/chat.ts'
import { codeResultRoutes } from './routes/code-results.ts'
import { codeTaskRoutes } from './routes/code-tasks.ts'
import { connectorRoutes } from './routes/connectors.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { credentialRoutes } from './routes/credentials.ts'
import { exportRoutes } from './routes/export.ts'
import { fileRoutes } from './routes/files.ts'
import { jobRoutes } from './routes/jobs.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { memoryRoutes } from './routes/memory.ts'
import { outboxRoutes } from './routes/outbox.ts'
import { providerRoutes } from './routes/providers.ts'
import { publicAddressRoutes } from './routes/public-address.ts'
import { retentionRoutes } from './routes/retention.ts'
import type { AnswerOf, InputOf, RequestOf } from './routes/route.ts'
import { ruleRoutes } from './routes/rules.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { settingsRoutes } from './routes/settings.ts'
import { skillRoutes } from './routes/skills.ts'
import { systemRoutes } from './routes/system.ts'
import { tokenRoutes } from './routes/tokens.ts'
import type { RouteReach } from './routes/route.ts'
import { triggerRoutes } from './routes/triggers.ts'

export type { Route, RouteAccess } from './routes/route.ts'

/**
 * Every route of the runner, noun by noun. Handlers, the typed client and the OpenAPI document are made from this table. A
 * route that does not say what limited callers reach does not compile.
 */
export const ROUTES = {
  ...systemRoutes,
  ...jobRoutes,
  ...chatRoutes,
  ...approvalRoutes,
  ...ruleRoutes,
  ...fileRoutes,
  ...memoryRoutes,
  ...conversationRoutes,
  ...agentRoutes,
  ...providerRoutes,
  ...connectorRoutes,
  ...settingsRoutes,
  ...triggerRoutes,
  ...scheduleRoutes,
  ...channelRoutes,
  ...credentialRoutes,
  ...skillRoutes,
  ...outboxRoutes,
  ...publicAddressRoutes,
  ...backupRoutes,
  ...retentionRoutes,
  ...exportRoutes,
  ...tokenRoutes,
  ...mcpRoutes,
  ...codeTaskRoutes,
  ...codeResultRoutes,
} satisfies Record<string, { reach: RouteReach }>

export type Routes = typeof ROUTES
export type RouteName = keyof Routes

export type RouteInput<N extends RouteName> = InputOf<Routes[N]>
export type RouteRequest<N extends RouteName> = RequestOf<Routes[N]>
export type RouteAnswer<N extends RouteName> = AnswerOf<Routes[N]>
