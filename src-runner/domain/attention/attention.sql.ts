import type { Db } from '../../platform/db/database.ts'
import type { agents } from '../agents/agents-table.ts'
import type { channelPeople, channels } from '../channels/channels-table.ts'
import type { credentials } from '../credentials/credentials-table.ts'
import type { outbox } from '../outbox/outbox-table.ts'
import type { occurrences, schedules } from '../schedules/schedules-table.ts'
import type { skills } from '../skills/skills-table.ts'
import type { refusals, triggers } from '../triggers/triggers-table.ts'

type OfAgent = { agentName: (typeof agents.$inferSelect)['name'] }
type Schedule = Pick<typeof schedules.$inferSelect, 'id' | 'name'>
type Channel = Pick<typeof channels.$inferSelect, 'id' | 'kind'> & OfAgent
/** The time of the item in the list. */
type At = { at: number }

/** SQL text reads columns as SQLite stores them: money in micro-dollars, JSON as text. */
type ExhaustedRow = Schedule & { dailyBudgetMicros: number } & OfAgent & At

export function listExhausted(db: Db, now: number): ExhaustedRow[] {
  return db
    .prepare<ExhaustedRow>(
      `SELECT schedule.id, schedule.name, agent.name AS agentName, schedule.daily_budget_micros AS dailyBudgetMicros,
         coalesce(schedule.exhausted_notified_at, schedule.updated_at) AS at
       FROM schedules AS schedule JOIN agents AS agent ON agent.id = schedule.agent_id
       WHERE schedule.resume_at > ? AND schedule.status = 'budget_exhausted'`,
    )
    .all(now)
}

type MissedRow = Schedule & Pick<typeof occurrences.$inferSelect, 'times'> & { reason: string } & At

export function listMissed(db: Db, from: number, to: number): MissedRow[] {
  return db
    .prepare<MissedRow>(
      `SELECT schedule.id, schedule.name, missed.times, missed.reason, missed.at
       FROM (SELECT schedule_seq, sum(times) AS times, reason, max(decided_at) AS at FROM occurrences INDEXED BY occurrences_missed
         WHERE state = 'missed' AND decided_at > ? AND decided_at <= ? GROUP BY schedule_seq) AS missed
       JOIN schedules AS schedule ON schedule.seq = missed.schedule_seq
       WHERE schedule.status <> 'paused' AND NOT EXISTS (SELECT 1 FROM agent_jobs AS job
         WHERE job.schedule_id = schedule.id AND job.created_at >= missed.at AND job.finished_at IS NOT NULL AND job.status = 'completed')`,
    )
    .all(from, to)
}

type SenderOutcome =
  | 'rate_limited'
  | 'unsupported_encoding'
  | 'payload_too_large'
  | 'invalid_json'
  | 'no_agent'
  | 'placeholder_missing'
  | 'job_creation_failed'
type RefusedRow = Pick<typeof triggers.$inferSelect, 'id' | 'name'> &
  Pick<typeof refusals.$inferSelect, 'times'> & { outcome: SenderOutcome } & At

export function listRefused(db: Db, since: number): RefusedRow[] {
  return db
    .prepare<RefusedRow>(
      `SELECT origin.id, origin.name, sum(refused.times) AS times, refused.outcome, max(refused.received_at) AS at
       FROM webhook_refusals AS refused JOIN webhook_triggers AS origin ON origin.seq = refused.trigger_seq
       WHERE refused.outcome IN
           ('rate_limited', 'unsupported_encoding', 'payload_too_large', 'invalid_json', 'no_agent', 'placeholder_missing', 'job_creation_failed')
         AND refused.received_at > ? AND origin.status = 'active'
       GROUP BY origin.id`,
    )
    .all(since)
}

/** Whether an active webhook from before that moment has accepted no delivery since then. */
export function isWebhookSilent(db: Db, since: number): boolean {
  const silent = `SELECT 1 FROM webhook_triggers WHERE status = 'active' AND created_at < ? AND ifnull(last_triggered_at, 0) < ? LIMIT 1`
  return db.prepare(silent).get(since, since) !== undefined
}

type UndeliverableRow = Pick<typeof outbox.$inferSelect, 'id' | 'problem'> & OfAgent & At

export function listUndeliverable(db: Db, since: number, limit: number): UndeliverableRow[] {
  return db
    .prepare<UndeliverableRow>(
      `SELECT message.id, agent.name AS agentName, message.problem, message.failed_at AS at
       FROM outbox AS message INDEXED BY outbox_undeliverable JOIN agents AS agent ON agent.id = message.agent_id
       WHERE message.state = 'undeliverable' AND message.failed_at > ? AND message.channel_id IS NOT NULL ORDER BY message.failed_at DESC LIMIT ?`,
    )
    .all(since, limit)
}

type BrokenRow = Channel & Pick<typeof channels.$inferSelect, 'status' | 'problem'> & At

export function listBroken(db: Db): BrokenRow[] {
  return db
    .prepare<BrokenRow>(
      `SELECT channel.id, channel.kind, agent.name AS agentName, channel.status, channel.problem,
         channel.status_since AS at
       FROM channels AS channel JOIN agents AS agent ON agent.id = channel.agent_id WHERE channel.status IN ('logged_out', 'failing')`,
    )
    .all()
}

type ChangedSkillRow = Pick<typeof skills.$inferSelect, 'id'> & { name: (typeof skills.$inferSelect)['slug'] } & At

export function listChangedSkills(db: Db): ChangedSkillRow[] {
  return db.prepare<ChangedSkillRow>('SELECT id, slug AS name, changed_at AS at FROM skills WHERE changed_at IS NOT NULL').all()
}

type RequestRow = Channel & Pick<typeof channelPeople.$inferSelect, 'displayName'> & At

export function listRequests(db: Db): RequestRow[] {
  return db
    .prepare<RequestRow>(
      `SELECT channel.id, person.display_name AS displayName, channel.kind, agent.name AS agentName, person.first_seen_at AS at
       FROM channel_people AS person JOIN channels AS channel ON channel.id = person.channel_id JOIN agents AS agent ON agent.id = channel.agent_id
       WHERE person.role = 'requested' ORDER BY person.first_seen_at DESC LIMIT 50`,
    )
    .all()
}

type RefusedCredentialRow = Pick<typeof credentials.$inferSelect, 'id' | 'name' | 'problem'> & At

export function listRefusedCredentials(db: Db): RefusedCredentialRow[] {
  return db
    .prepare<RefusedCredentialRow>(`SELECT id, name, problem, status_since AS at FROM credentials WHERE status = 'needs_sign_in'`)
    .all()
}
