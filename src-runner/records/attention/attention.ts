import type { Database, Db } from '../../base/db/database.ts'
import { DATABASE_TROUBLE_WORDS, type DatabaseTrouble } from '../../contract/database.ts'
import { SERVICE_NAMES, type ChannelKind } from '../../contract/channels.ts'
import type { AttentionItem } from '../../contract/notifications.ts'
import type { PublicAddress } from '../../contract/public-address.ts'
import type { DeliveryOutcome } from '../../contract/triggers.ts'
import { saidAs } from '../../kit/said.ts'
import { toUsd } from '../micros.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A connection that breaks and comes back by itself is nothing to look at. */
const FAILING_AFTER_MS = 5 * 60_000
/** More undeliverable messages than this say nothing new; the outbox has all of them. */
const MOST_MESSAGES = 20

/**
 * What needs the person besides approvals and failed jobs, the newest first. Everything in it is read from what is recorded
 * elsewhere, and leaves the list when that is mended or lies far enough back: there is nothing to tick off.
 */
export function listAttention(db: Database, { now, publicAddress }: { now: number; publicAddress: PublicAddress | null }): AttentionItem[] {
  const trouble = db.trouble()
  if (trouble === 'damaged' || trouble === 'unavailable') return [databaseTrouble(trouble, now)]
  return [
    ...(trouble === null ? [] : [databaseTrouble(trouble, now)]),
    ...exhaustedSchedules(db, now),
    ...missedSchedules(db, now),
    ...refusedDeliveries(db, now),
    ...undeliverableMessages(db, now),
    ...brokenChannels(db, now),
    ...peopleWhoAsked(db),
    ...unreachableAddress(publicAddress),
  ].sort((a, b) => b.at - a.at)
}

function exhaustedSchedules(db: Db, now: number): AttentionItem[] {
  return db
    .prepare<{ id: string; name: string; agent_name: string; daily_budget_micros: number; at: number }>(
      `SELECT schedule.id, schedule.name, agent.name AS agent_name, schedule.daily_budget_micros,
         coalesce(schedule.exhausted_told_at, schedule.updated_at) AS at
       FROM schedules AS schedule JOIN agents AS agent ON agent.id = schedule.agent_id
       WHERE schedule.resume_at > ? AND schedule.status = 'budget_exhausted'`,
    )
    .all(now)
    .map((row) => ({
      kind: 'budget_exhausted',
      subjectId: row.id,
      title: `“${row.name}” has used up its budget`,
      detail: `${row.agent_name} has spent the $${toUsd(row.daily_budget_micros).toFixed(2)} of today. It goes on by itself tomorrow.`,
      about: { kind: 'budget_exhausted', schedule: row.name, agentName: row.agent_name, budgetUsd: toUsd(row.daily_budget_micros) },
      path: scheduleOf(row.id),
      at: row.at,
    }))
}

/** Of the last day, as long as no run has succeeded since. What a clock decided that was ahead is of no day that has been. */
function missedSchedules(db: Db, now: number): AttentionItem[] {
  return db
    .prepare<{ id: string; name: string; times: number; reason: string; at: number }>(
      `SELECT schedule.id, schedule.name, missed.times, missed.reason, missed.at
       FROM (SELECT schedule_seq, sum(times) AS times, reason, max(decided_at) AS at FROM occurrences INDEXED BY occurrences_missed
         WHERE state = 'missed' AND decided_at > ? AND decided_at <= ? GROUP BY schedule_seq) AS missed
       JOIN schedules AS schedule ON schedule.seq = missed.schedule_seq
       WHERE schedule.status <> 'paused' AND NOT EXISTS (SELECT 1 FROM agent_jobs AS job
         WHERE job.schedule_id = schedule.id AND job.created_at >= missed.at AND job.finished_at IS NOT NULL AND job.status = 'completed')`,
    )
    .all(now - DAY_MS, now)
    .map((row) => ({
      kind: 'schedule_missed',
      subjectId: row.id,
      title: row.times === 1 ? `“${row.name}” missed a run` : `“${row.name}” missed ${row.times} runs`,
      detail: row.reason,
      about: { kind: 'schedule_missed', schedule: row.name, times: row.times },
      ...saidAs('detailSaid', row.reason),
      path: scheduleOf(row.id),
      at: row.at,
    }))
}

/** Of senders that knew the secret. Who guesses is no concern of the person's. */
const REFUSALS = {
  rate_limited: 'More than 30 deliveries came within an hour.',
  payload_too_large: 'A delivery was larger than one megabyte.',
  invalid_json: 'A delivery was not valid JSON.',
  no_agent: 'No agent is attached to this webhook.',
  job_creation_failed: 'A job could not be written down. The disk may be full.',
} as const satisfies Partial<Record<DeliveryOutcome, string>>

function refusedDeliveries(db: Db, now: number): AttentionItem[] {
  return db
    .prepare<{ id: string; name: string; times: number; outcome: keyof typeof REFUSALS; at: number }>(
      `SELECT origin.id, origin.name, sum(refused.times) AS times, refused.outcome, max(refused.received_at) AS at
       FROM webhook_refusals AS refused JOIN webhook_triggers AS origin ON origin.seq = refused.trigger_seq
       WHERE refused.outcome IN ('rate_limited', 'payload_too_large', 'invalid_json', 'no_agent', 'job_creation_failed')
         AND refused.received_at > ? AND origin.status = 'active'
       GROUP BY origin.id`,
    )
    .all(now - DAY_MS)
    .map((row) => ({
      kind: 'delivery_refused',
      subjectId: row.id,
      title: row.times === 1 ? `A delivery to “${row.name}” was refused` : `${row.times} deliveries to “${row.name}” were refused`,
      detail: REFUSALS[row.outcome],
      about: { kind: 'delivery_refused', trigger: row.name, times: row.times, outcome: row.outcome },
      path: `/automations/webhooks/${row.id}`,
      at: row.at,
    }))
}

function undeliverableMessages(db: Db, now: number): AttentionItem[] {
  return db
    .prepare<{ id: string; agent_name: string; problem: string; at: number }>(
      `SELECT message.id, agent.name AS agent_name, message.problem, message.failed_at AS at
       FROM outbox AS message INDEXED BY outbox_undeliverable JOIN agents AS agent ON agent.id = message.agent_id
       WHERE message.state = 'undeliverable' AND message.failed_at > ? AND message.channel_id IS NOT NULL ORDER BY message.failed_at DESC LIMIT ?`,
    )
    .all(now - 7 * DAY_MS, MOST_MESSAGES)
    .map((row) => ({
      kind: 'message_undeliverable',
      subjectId: row.id,
      title: `A message of ${row.agent_name} could not be delivered`,
      detail: row.problem,
      about: { kind: 'message_undeliverable', agentName: row.agent_name },
      ...saidAs('detailSaid', row.problem),
      path: '/channels',
      at: row.at,
    }))
}

/** Those that only a person can mend, and those that have been broken for a while. There are few channels. */
function brokenChannels(db: Db, now: number): AttentionItem[] {
  return db
    .prepare<{ id: string; kind: ChannelKind; agent_name: string; status: 'logged_out' | 'failing'; problem: string; at: number }>(
      `SELECT channel.id, channel.kind, agent.name AS agent_name, channel.status, channel.problem,
         channel.status_since AS at
       FROM channels AS channel JOIN agents AS agent ON agent.id = channel.agent_id WHERE channel.status IN ('logged_out', 'failing')`,
    )
    .all()
    .filter((row) => row.status === 'logged_out' || row.at <= now - FAILING_AFTER_MS)
    .map((row) => ({
      kind: row.status === 'logged_out' ? 'channel_logged_out' : 'channel_failing',
      subjectId: row.id,
      title:
        row.status === 'logged_out'
          ? `${row.agent_name} is logged out of ${SERVICE_NAMES[row.kind]}`
          : `${row.agent_name} cannot reach ${SERVICE_NAMES[row.kind]}`,
      detail: row.problem,
      about: { kind: row.status === 'logged_out' ? 'channel_logged_out' : 'channel_failing', agentName: row.agent_name, service: row.kind },
      ...saidAs('detailSaid', row.problem),
      path: '/channels',
      at: row.at,
    }))
}

function peopleWhoAsked(db: Db): AttentionItem[] {
  return db
    .prepare<{ id: string; display_name: string; kind: ChannelKind; agent_name: string; at: number }>(
      `SELECT channel.id, person.display_name, channel.kind, agent.name AS agent_name, person.first_seen_at AS at
       FROM channel_people AS person JOIN channels AS channel ON channel.id = person.channel_id JOIN agents AS agent ON agent.id = channel.agent_id
       WHERE person.role = 'asked' ORDER BY person.first_seen_at DESC LIMIT 50`,
    )
    .all()
    .map((row) => ({
      kind: 'channel_request',
      subjectId: row.id,
      title: `${row.display_name} wants to talk to ${row.agent_name}`,
      detail: `They wrote on ${SERVICE_NAMES[row.kind]} and wait for your word.`,
      about: { kind: 'channel_request', agentName: row.agent_name, service: row.kind, person: row.display_name },
      path: '/channels',
      at: row.at,
    }))
}

function unreachableAddress(address: PublicAddress | null): AttentionItem[] {
  const state = address?.check.state
  if (address === null || (state !== 'unreachable' && state !== 'exposed')) return []
  const exposed = state === 'exposed'
  return [
    {
      kind: 'public_address_unreachable',
      subjectId: null,
      title: exposed ? 'Deckhand can be reached from the internet' : 'Webhooks cannot reach this machine',
      detail: address.check.problem,
      about: { kind: 'public_address_unreachable', exposed },
      ...saidAs('detailSaid', address.check.problem),
      path: '/settings/webhooks',
      at: address.check.checkedAt ?? 0,
    },
  ]
}

function databaseTrouble(trouble: DatabaseTrouble, now: number): AttentionItem {
  const { title, detail, fix } = DATABASE_TROUBLE_WORDS[trouble]
  return {
    ...{ kind: 'database_trouble', subjectId: null, title, detail: `${detail} ${fix}` },
    ...{ about: { kind: 'database_trouble', trouble }, path: '/settings/health', at: now },
  }
}

function scheduleOf(id: string): string {
  return `/automations/schedules/${id}`
}
