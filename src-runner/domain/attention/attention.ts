import type { Database, Db } from '../../platform/db/database.ts'
import type { DatabaseTrouble } from '../../contract/database.ts'
import { SERVICE_NAMES } from '../../contract/channels.ts'
import type { AttentionItem } from '../../contract/notifications.ts'
import type { PublicAddress } from '../../contract/public-address.ts'
import { createMessage, readMessage } from '../../lib/messages.ts'
import { toUsd } from '../../lib/micros.ts'
import { listBroken, listExhausted, listMissed, listRefused, listRequests, listUndeliverable } from './attention.sql.ts'

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
  return listExhausted(db, now).map((row) => ({
    kind: 'budget_exhausted',
    subjectId: row.id,
    title: createMessage('attention_budget_exhausted', { schedule: row.name }),
    detail: createMessage('attention_budget_exhausted_detail', { agentName: row.agentName, limitUsd: toUsd(row.dailyBudgetMicros) }),
    path: scheduleOf(row.id),
    at: row.at,
  }))
}

/** Of the last day, as long as no run has succeeded since. What a clock decided that was ahead is of no day that has been. */
function missedSchedules(db: Db, now: number): AttentionItem[] {
  return listMissed(db, now - DAY_MS, now).map((row) => ({
    kind: 'schedule_missed',
    subjectId: row.id,
    title: createMessage('attention_schedule_missed', { schedule: row.name, times: row.times }),
    detail: readMessage(row.reason),
    path: scheduleOf(row.id),
    at: row.at,
  }))
}

/** Of senders that knew the secret. Who guesses is no concern of the person's. */
function refusedDeliveries(db: Db, now: number): AttentionItem[] {
  return listRefused(db, now - DAY_MS).map((row) => ({
    kind: 'delivery_refused',
    subjectId: row.id,
    title: createMessage('attention_delivery_refused', { trigger: row.name, times: row.times }),
    detail: createMessage(`refused_${row.outcome}`),
    path: `/automations/webhooks/${row.id}`,
    at: row.at,
  }))
}

function undeliverableMessages(db: Db, now: number): AttentionItem[] {
  return listUndeliverable(db, now - 7 * DAY_MS, MOST_MESSAGES).map((row) => ({
    kind: 'message_undeliverable',
    subjectId: row.id,
    title: createMessage('not_delivered', { agentName: row.agentName }),
    detail: readMessage(row.problem),
    path: '/channels',
    at: row.at,
  }))
}

/** Those that only a person can mend, and those that have been broken for a while. There are few channels. */
function brokenChannels(db: Db, now: number): AttentionItem[] {
  return listBroken(db)
    .filter((row) => row.status === 'logged_out' || row.at <= now - FAILING_AFTER_MS)
    .map((row) => ({
      kind: row.status === 'logged_out' ? 'channel_logged_out' : 'channel_failing',
      subjectId: row.id,
      title: createMessage(row.status === 'logged_out' ? 'channel_logged_out' : 'attention_channel_failing', {
        agentName: row.agentName,
        service: SERVICE_NAMES[row.kind],
      }),
      detail: readMessage(row.problem),
      path: '/channels',
      at: row.at,
    }))
}

function peopleWhoAsked(db: Db): AttentionItem[] {
  return listRequests(db).map((row) => ({
    kind: 'channel_request',
    subjectId: row.id,
    title: createMessage('channel_request', { person: row.displayName, agentName: row.agentName }),
    detail: createMessage('channel_request_detail', { service: SERVICE_NAMES[row.kind] }),
    path: '/channels',
    at: row.at,
  }))
}

function unreachableAddress(address: PublicAddress | null): AttentionItem[] {
  const state = address?.check.state
  if (address === null || (state !== 'unreachable' && state !== 'exposed')) return []
  return [
    {
      kind: 'public_address_unreachable',
      subjectId: null,
      title: createMessage(`address_${state}`),
      detail: address.check.problem,
      path: '/settings/webhooks',
      at: address.check.checkedAt ?? 0,
    },
  ]
}

function databaseTrouble(trouble: DatabaseTrouble, now: number): AttentionItem {
  return {
    kind: 'database_trouble',
    subjectId: null,
    title: createMessage(`database_${trouble}`),
    detail: createMessage(`database_${trouble}_detail`, { fix: createMessage(`database_${trouble}_fix`) }),
    path: '/settings/health',
    at: now,
  }
}

function scheduleOf(id: string): string {
  return `/automations/schedules/${id}`
}
