import type { Handlers } from './handler.ts'
import { agentHandlers } from './handlers/agents.ts'
import { approvalHandlers } from './handlers/approvals.ts'
import { backupHandlers } from './handlers/backups.ts'
import { chatHandlers } from './handlers/chat.ts'
import { connectorHandlers } from './handlers/connectors.ts'
import { codeResultHandlers } from './handlers/code-results.ts'
import { codeTaskHandlers } from './handlers/code-tasks.ts'
import { conversationHandlers } from './handlers/conversations.ts'
import type { HandlerDeps } from './handlers/deps.ts'
import { exportHandlers } from './handlers/export.ts'
import { eventHandlers } from './handlers/events.ts'
import { jobHandlers } from './handlers/jobs.ts'
import { mcpHandlers } from './handlers/mcp.ts'
import { mcpSignInHandlers } from './handlers/mcp-sign-in.ts'
import { mcpSourceHandlers } from './handlers/mcp-sources.ts'
import { memoryHandlers } from './handlers/memory.ts'
import { providerHandlers } from './handlers/providers.ts'
import { retentionHandlers } from './handlers/retention.ts'
import { ruleHandlers } from './handlers/rules.ts'
import { settingsHandlers } from './handlers/settings.ts'
import { skillHandlers } from './handlers/skills.ts'
import { systemHandlers } from './handlers/system.ts'
import { tokenHandlers } from './handlers/tokens.ts'
import { triggerHandlers } from './handlers/triggers.ts'
import { scheduleHandlers } from './handlers/schedules.ts'
import { channelHandlers } from './handlers/channels.ts'
import { credentialKeyHandlers } from './handlers/credential-keys.ts'
import { credentialHandlers } from './handlers/credentials.ts'
import { outboxHandlers } from './handlers/outbox.ts'
import { publicAddressHandlers } from './handlers/public-address.ts'

/** Every route's handler, noun by noun. */
export function createHandlers(deps: HandlerDeps): Handlers {
  return {
    ...systemHandlers(deps),
    ...jobHandlers(deps),
    ...chatHandlers(deps),
    ...conversationHandlers(deps),
    ...approvalHandlers(deps),
    ...ruleHandlers(deps),
    ...agentHandlers(deps),
    ...memoryHandlers(deps),
    ...providerHandlers(deps),
    ...connectorHandlers(deps),
    ...settingsHandlers(deps),
    ...triggerHandlers(deps),
    ...scheduleHandlers(deps),
    ...channelHandlers(deps),
    ...credentialHandlers(deps),
    ...skillHandlers(deps),
    ...credentialKeyHandlers(deps),
    ...outboxHandlers(deps),
    ...publicAddressHandlers(deps),
    ...backupHandlers(deps),
    ...retentionHandlers(deps),
    ...exportHandlers(deps),
    ...tokenHandlers(deps),
    ...mcpHandlers(deps),
    ...mcpSourceHandlers(deps),
    ...mcpSignInHandlers(deps),
    ...codeTaskHandlers(deps),
    ...codeResultHandlers(deps),
    ...eventHandlers(deps),
  }
}
