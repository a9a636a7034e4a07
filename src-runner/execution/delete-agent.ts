import type { Tx } from '../platform/db/database.ts'
import type { Clock } from '../lib/clock.ts'
import { getAgent, markAgentDeleted } from '../domain/agents/agents.ts'
import { deleteChannelsOfAgent } from '../domain/channels/channels.ts'
import { deleteGrantsOfAgent } from '../domain/credentials/credentials.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import { deleteMcpGrantsOfAgent } from '../domain/mcp/mcp-servers.ts'
import { deleteRulesOfAgent } from '../domain/rules/rules.ts'
import { deleteSchedulesOfAgent } from '../domain/schedules/change-schedule.ts'
import { deselectSkillsOfAgent } from '../domain/skills/skills.ts'
import { detachTriggersOfAgent } from '../domain/triggers/triggers.ts'

/**
 * Deletes an agent with its schedules, channels and rules, and cancels its unfinished jobs. Its history stays, and its
 * webhooks stay without an agent for good. Throws AppError agent_not_found.
 */
export function deleteAgent(tx: Tx, { clock, jobs }: { clock: Clock; jobs: Pick<JobStore, 'cancelAllOf'> }, agentId: string): void {
  getAgent(tx, agentId)
  // Schedules go before the jobs: a run that waits for one of these jobs must not start when that job ends.
  deleteSchedulesOfAgent(tx, agentId)
  deleteChannelsOfAgent(tx, agentId)
  deleteGrantsOfAgent(tx, agentId)
  deselectSkillsOfAgent(tx, agentId)
  jobs.cancelAllOf(tx, { agentId })
  deleteRulesOfAgent(tx, agentId)
  detachTriggersOfAgent(tx, agentId)
  deleteMcpGrantsOfAgent(tx, agentId)
  markAgentDeleted(tx, { clock }, agentId)
}
