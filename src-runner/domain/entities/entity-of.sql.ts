import type { Db } from '../../platform/db/database.ts'

/**
 * The way from a thing to the workspace that owns it. A thing without an agent (a memory or a rule for all agents) belongs to
 * the whole installation.
 */
const ENTITY_OF = {
  entity: 'SELECT id AS entityId FROM entities WHERE id = ?',
  agent: 'SELECT entity_id AS entityId FROM agents WHERE id = ?',
  job: 'SELECT entity_id AS entityId FROM agent_jobs WHERE id = ?',
  conversation: 'SELECT entity_id AS entityId FROM conversations WHERE id = ?',
  approval: 'SELECT job.entity_id AS entityId FROM approvals CROSS JOIN agent_jobs AS job ON job.seq = approvals.job_seq WHERE approvals.id = ?',
  rule: 'SELECT agent.entity_id AS entityId FROM rules CROSS JOIN agents AS agent ON agent.id = rules.agent_id WHERE rules.id = ?',
  memory: 'SELECT agent.entity_id AS entityId FROM memories CROSS JOIN agents AS agent ON agent.id = memories.agent_id WHERE memories.id = ?',
  trigger: 'SELECT entity_id AS entityId FROM webhook_triggers WHERE id = ?',
  delivery: `SELECT coalesce((SELECT entity_id FROM agent_jobs WHERE id = given.id), (SELECT origin.entity_id FROM webhook_refusals AS refusal
      CROSS JOIN webhook_triggers AS origin ON origin.seq = refusal.trigger_seq WHERE refusal.id = given.id)) AS entityId
    FROM (SELECT ? AS id) AS given`,
  schedule: 'SELECT entity_id AS entityId FROM schedules WHERE id = ?',
  channel: 'SELECT agent.entity_id AS entityId FROM channels CROSS JOIN agents AS agent ON agent.id = channels.agent_id WHERE channels.id = ?',
  person: `SELECT agent.entity_id AS entityId FROM channel_people AS person CROSS JOIN channels ON channels.id = person.channel_id
    CROSS JOIN agents AS agent ON agent.id = channels.agent_id WHERE person.id = ?`,
  message: 'SELECT agent.entity_id AS entityId FROM outbox CROSS JOIN agents AS agent ON agent.id = outbox.agent_id WHERE outbox.id = ?',
  credential: 'SELECT entity_id AS entityId FROM credentials WHERE id = ?',
  authorization: 'SELECT entity_id AS entityId FROM authorizations WHERE id = ?',
  skill: 'SELECT entity_id AS entityId FROM skills WHERE id = ?',
  token: 'SELECT entity_id AS entityId FROM api_tokens WHERE id = ?',
  mcpServer: 'SELECT entity_id AS entityId FROM mcp_servers WHERE id = ?',
} as const // prettier-ignore

export type Noun = keyof typeof ENTITY_OF

/** The workspace that owns a thing, deleted agents included. null: there is no such thing, or all workspaces share it. */
export function findEntityOf(db: Db, noun: Noun, id: string): string | null {
  return db.prepare<{ entityId: string | null }>(ENTITY_OF[noun]).get(id)?.entityId ?? null
}
