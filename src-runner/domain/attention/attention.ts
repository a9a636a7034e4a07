import type { Database, Db } from '../../platform/db/database.ts'
import type { DatabaseTrouble } from '../../contract/database.ts'
import { SERVICE_NAMES } from '../../contract/channels.ts'
import type { AttentionItem } from '../../contract/notifications.ts'
import type { PublicAddressState } from '../../contract/public-address.ts'
import { createMessage, readMessage } from '../../lib/messages.ts'
import { toUsd } from '../../lib/micros.ts'
import { listFailingServers } from '../mcp/mcp-servers.ts'
import { listServersWithChangedTools } from '../mcp/mcp-tools.ts'
import { readSettings } from '../settings/settings.ts'
import {
  isWebhookSilent,
  listBroken,
  listChangedSkills,
  listExhausted,
  listMissed,
  listRefused,
  listRefusedCredentials,
  listRequests,
  listUndeliverable,
} from './attention.sql.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A connection that recovers by itself within this time is not listed. */
const FAILING_AFTER_MS = 5 * 60_000
/** The outbox lists all undeliverable messages. */
const MAX_MESSAGES = 20

/**
 * What needs attention besides approvals and failed jobs, newest first. Everything is derived from other records, and disappears when
 * its cause is fixed or old enough.
 */
export function listAttention(
  db: Database,
  { now, publicAddress }: { now: number; publicAddress: PublicAddressState | null },
): AttentionItem[] {
  const trouble = db.trouble()
  if (trouble === 'damaged' || trouble === 'unavailable') return [databaseTrouble(trouble, now)]
  return [
    ...(trouble === null ? [] : [databaseTrouble(trouble, now)]),
    ...exhaustedSchedules(db, now),
    ...missedSchedules(db, now),
    ...refusedDeliveries(db, now),
    ...undeliverableMessages(db, now),
    ...brokenChannels(db, now),
    ...accessRequests(db),
    ...refusedCredentials(db),
    ...failingMcpServers(db, now),
    ...changedMcpTools(db),
    ...changedSkills(db),
    ...unreachableAddress(publicAddress),
    ...changedAddress(db, publicAddress, now),
  ].sort((a, b) => b.at - a.at)
}

function exhaustedSchedules(db: Db, now: number): AttentionItem[] {
  return listExhausted(db, now).map(({ id, name, agentName, dailyBudgetMicros, at }) => ({
    kind: 'budget_exhausted',
    subjectId: id,
    path: `/automations/schedules/${id}`,
    at,
    title: createMessage('attention_budget_exhausted', { schedule: name }),
    detail: createMessage('attention_budget_exhausted_detail', { agentName, limitUsd: toUsd(dailyBudgetMicros) }),
  }))
}

/** Missed runs of the last day without a success since. Those decided by a clock that was ahead are in the future. */
function missedSchedules(db: Db, now: number): AttentionItem[] {
  return listMissed(db, now - DAY_MS, now).map(({ id, name, times, reason, at }) => ({
    kind: 'schedule_missed',
    subjectId: id,
    path: `/automations/schedules/${id}`,
    at,
    title: createMessage('attention_schedule_missed', { schedule: name, times }),
    detail: readMessage(reason),
  }))
}

/** Refusals of the last day, of senders that know the secret. Guesses are not listed. */
function refusedDeliveries(db: Db, now: number): AttentionItem[] {
  return listRefused(db, now - DAY_MS).map(({ id, name, times, outcome, at }) => ({
    kind: 'delivery_refused',
    subjectId: id,
    path: `/automations/webhooks/${id}`,
    at,
    title: createMessage('attention_delivery_refused', { trigger: name, times }),
    detail: createMessage(`refused_${outcome}`),
  }))
}

function undeliverableMessages(db: Db, now: number): AttentionItem[] {
  return listUndeliverable(db, now - 7 * DAY_MS, MAX_MESSAGES).map(({ id, agentName, problem, at }) => ({
    kind: 'message_undeliverable',
    subjectId: id,
    path: '/channels',
    at,
    title: createMessage('not_delivered', { agentName }),
    detail: readMessage(problem),
  }))
}

/** Channels that only a person can repair, and those that have been failing for a while. */
function brokenChannels(db: Db, now: number): AttentionItem[] {
  return listBroken(db)
    .filter((row) => row.status === 'logged_out' || row.at <= now - FAILING_AFTER_MS)
    .map(({ id, status, agentName, kind, problem, at }) => {
      const names = { agentName, service: SERVICE_NAMES[kind] }
      const about = { subjectId: id, detail: readMessage(problem), path: '/channels', at }
      if (status === 'failing') return { ...about, kind: 'channel_failing', title: createMessage('attention_channel_failing', names) }
      return { ...about, kind: 'channel_logged_out', title: createMessage('channel_logged_out', names) }
    })
}

function refusedCredentials(db: Db): AttentionItem[] {
  return listRefusedCredentials(db).map(({ id, name, problem, at }) => ({
    kind: 'credential_refused',
    subjectId: id,
    path: `/connections/${id}`,
    at,
    title: createMessage('credential_refused', { name }),
    detail: readMessage(problem),
  }))
}

function accessRequests(db: Db): AttentionItem[] {
  return listRequests(db).map(({ id, displayName, agentName, kind, at }) => ({
    kind: 'channel_request',
    subjectId: id,
    path: '/channels',
    at,
    title: createMessage('channel_request', { person: displayName, agentName }),
    detail: createMessage('channel_request_detail', { service: SERVICE_NAMES[kind] }),
  }))
}

/** Servers that need a sign-in, and those that have been failing for a while. */
function failingMcpServers(db: Db, now: number): AttentionItem[] {
  return listFailingServers(db)
    .filter(({ status, at }) => status === 'needs_sign_in' || at <= now - FAILING_AFTER_MS)
    .map(({ serverId, name, status, problem, at }) => ({
      kind: 'mcp_server_failing',
      subjectId: serverId,
      path: `/connections/mcp/${serverId}`,
      at,
      title: createMessage(status === 'failing' ? 'attention_mcp_failing' : 'attention_mcp_sign_in', { server: name }),
      detail: readMessage(problem),
    }))
}

/** Agents do without these tools until a person has looked at them. */
function changedMcpTools(db: Db): AttentionItem[] {
  return listServersWithChangedTools(db).map(({ serverId, name, tools, at }) => ({
    kind: 'mcp_tool_changed',
    subjectId: serverId,
    path: `/connections/mcp/${serverId}`,
    at,
    title: createMessage('attention_mcp_changed', { server: name, tools }),
    detail: createMessage('attention_mcp_changed_detail'),
  }))
}

function changedSkills(db: Db): AttentionItem[] {
  return listChangedSkills(db).map(({ id, name, at }) => ({
    kind: 'skill_changed',
    subjectId: id,
    path: `/skills/${id}`,
    at,
    title: createMessage('attention_skill_changed', { skill: name }),
    detail: createMessage('attention_skill_changed_detail'),
  }))
}

function unreachableAddress(address: PublicAddressState | null): AttentionItem[] {
  const state = address?.check.state
  if (address === null || (state !== 'unreachable' && state !== 'exposed')) return []
  const { problem: detail, checkedAt } = address.check
  const about = { kind: 'public_address_unreachable', subjectId: null, path: '/settings/webhooks', at: checkedAt ?? 0 } as const
  return [{ ...about, title: createMessage(`address_${state}`), detail }]
}

/** Senders that use the address before it reach nothing. Shown for a week, as long as a webhook from that time gets no delivery. */
function changedAddress(db: Db, address: PublicAddressState | null, now: number): AttentionItem[] {
  const tunnel = address?.source === 'tunnel' ? readSettings(db).tunnelAddress : null
  if (tunnel === null || tunnel.before === null || tunnel.url !== address?.url) return []
  const { url, since, before } = tunnel
  if (since <= now - 7 * DAY_MS || !isWebhookSilent(db, since)) return []
  const detail = createMessage('attention_address_changed_detail', { before, url })
  const about = { kind: 'public_address_changed', subjectId: null, path: '/settings/webhooks', at: since } as const
  return [{ ...about, title: createMessage('attention_address_changed'), detail }]
}

function databaseTrouble(trouble: DatabaseTrouble, now: number): AttentionItem {
  return {
    kind: 'database_trouble',
    subjectId: null,
    path: '/settings/health',
    at: now,
    title: createMessage(`database_${trouble}`),
    detail: createMessage(`database_${trouble}_detail`, { fix: createMessage(`database_${trouble}_fix`) }),
  }
}
