import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { MachineTime } from '../../base/time/machine-time.ts'
import type { CreateTrigger, DeliveryOutcome, NotifyVia, SignatureScheme, Trigger } from '../../contract/triggers.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import type { Ids } from '../../kit/ids.ts'
import { getAgent } from '../agents/agents.ts'
import { slugFor } from '../agents/slugs.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { findDefaultEntity } from '../entities/entities.ts'
import { forgetAllBodies } from './delivered-jobs.ts'
import { countThisHour, type FiresRow } from './hour-window.ts'
import { digestOf, makeSecret } from './secrets.ts'

/** No trigger has this slug: by it Deckhand sees whether it can be reached from outside. */
export const PROBE_SLUG = 'probe'

type TriggerRow = FiresRow & {
  seq: number
  id: string
  entity_id: string
  agent_id: string | null
  agent_name: string | null
  name: string
  slug: string
  task_template: string
  notify_on_success: number
  notify_via: NotifyVia
  signature: SignatureScheme | null
  dedupe: number
  require_placeholders: number
  status: 'active' | 'paused'
  last_triggered_at: number | null
  /** The newest refusal, and the job that it stands behind in the inbox; null: there was none. */
  refused_last: DeliveryOutcome | null
  refused_after: number | null
  newest_job_seq: number | null
  created_at: number
}

const SELECT_TRIGGER = `
  SELECT t.seq, t.id, t.entity_id, t.agent_id, agent.name AS agent_name, t.name, t.slug, t.task_template, t.notify_on_success, t.notify_via,
    t.signature, t.dedupe, t.require_placeholders, t.status, t.trigger_count, t.last_triggered_at, t.created_at, t.fires,
    t.newest_job_seq,
    (SELECT refusal.outcome FROM webhook_refusals AS refusal WHERE refusal.trigger_seq = t.seq
     ORDER BY refusal.after_job_seq DESC, refusal.seq DESC LIMIT 1) AS refused_last,
    (SELECT max(refusal.after_job_seq) FROM webhook_refusals AS refusal WHERE refusal.trigger_seq = t.seq) AS refused_after
  FROM webhook_triggers AS t LEFT JOIN agents AS agent ON agent.id = t.agent_id`

const Position = z.tuple([z.number().int()])

export function findTrigger(db: Db, time: MachineTime, triggerId: string): Trigger | null {
  const row = db.prepare<TriggerRow>(`${SELECT_TRIGGER} WHERE t.id = ?`).get(triggerId)
  return row === undefined ? null : triggerOf(row, time)
}

/** Throws AppError trigger_not_found. */
export function getTrigger(db: Db, time: MachineTime, triggerId: string): Trigger {
  const trigger = findTrigger(db, time, triggerId)
  if (trigger === null) throw noTrigger()
  return trigger
}

/** Newest first. */
export function listTriggers(
  db: Db,
  time: MachineTime,
  { agentId, cursor, limit }: { agentId?: string; cursor?: string; limit: number },
): { triggers: Trigger[]; nextCursor: string | null } {
  const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : decodeCursor(cursor, Position)
  const ofAgent = agentId === undefined ? '' : 'AND t.agent_id = ?'
  const rows = db
    .prepare<TriggerRow>(`${SELECT_TRIGGER} WHERE t.seq < ? ${ofAgent} ORDER BY t.seq DESC LIMIT ?`)
    .all(before, ...(agentId === undefined ? [] : [agentId]), limit + 1)
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { triggers: page.rows.map((row) => triggerOf(row, time)), nextCursor: page.nextCursor }
}

/**
 * `id`: made before, since the secret of a signature is in the vault under it by now. The address's secret is answered
 * here and kept nowhere. Throws AppError agent_not_found or trigger_slug_taken.
 */
export function createTrigger(
  tx: Tx,
  { clock, ids, time }: { clock: Clock; ids: Ids; time: MachineTime },
  id: string,
  input: CreateTrigger,
): { trigger: Trigger; secret: string } {
  const entityId = input.agentId === null ? findDefaultEntity(tx).id : getAgent(tx, input.agentId).entityId
  const slug = input.slug === undefined ? freeSlugFor(tx, ids, input.name) : requireFree(tx, input.slug)
  const secret = makeSecret()
  tx.prepare(
    `INSERT INTO webhook_triggers (id, entity_id, agent_id, name, slug, secret_digest, task_template, notify_on_success, notify_via, signature,
       dedupe, require_placeholders, status, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?)`,
  ).run(
    id,
    entityId,
    input.agentId,
    input.name,
    slug,
    digestOf(secret),
    input.taskTemplate,
    input.notifyOnSuccess ? 1 : 0,
    input.notifyVia,
    input.signature?.scheme ?? null,
    input.dedupe ? 1 : 0,
    input.requirePlaceholders ? 1 : 0,
    clock.now(),
  )
  tx.emit({ type: 'trigger.created', payload: { triggerId: id } })
  return { trigger: getTrigger(tx, time, id), secret }
}

/** Pausing what is paused changes nothing, and neither does resuming what is active. Throws AppError trigger_not_found. */
export function setTriggerStatus(tx: Tx, time: MachineTime, triggerId: string, status: Trigger['status']): Trigger {
  const trigger = getTrigger(tx, time, triggerId)
  if (trigger.status === status) return trigger
  tx.prepare('UPDATE webhook_triggers SET status = ? WHERE id = ?').run(status, triggerId)
  tx.emit({ type: 'trigger.changed', payload: { triggerId } })
  return { ...trigger, status }
}

/** Throws AppError trigger_not_found. */
export function rotateSecret(tx: Tx, time: MachineTime, triggerId: string): { trigger: Trigger; secret: string } {
  const trigger = getTrigger(tx, time, triggerId)
  const secret = makeSecret()
  tx.prepare('UPDATE webhook_triggers SET secret_digest = ? WHERE id = ?').run(digestOf(secret), triggerId)
  tx.emit({ type: 'trigger.changed', payload: { triggerId } })
  return { trigger, secret }
}

/** The trigger goes with its inbox; its jobs stay. Throws AppError trigger_not_found. */
export function deleteTrigger(tx: Tx, triggerId: string): void {
  const trigger = tx.prepare<{ seq: number }>('SELECT seq FROM webhook_triggers WHERE id = ?').get(triggerId)
  if (trigger === undefined) throw noTrigger()
  forgetAllBodies(tx, trigger.seq)
  tx.prepare('DELETE FROM webhook_triggers WHERE seq = ?').run(trigger.seq)
  tx.emit({ type: 'trigger.deleted', payload: { triggerId } })
}

function requireFree(tx: Tx, slug: string): string {
  if (isTaken(tx, slug)) throw new AppError('trigger_slug_taken', `Another webhook has “${slug}” in its address. Choose another word.`)
  return slug
}

/** A tail from the end of an id, which is random, where a number would tell how many such webhooks there are. */
function freeSlugFor(tx: Tx, ids: Ids, name: string): string {
  const wanted = slugFor(name, 'webhook')
  let slug = wanted
  while (isTaken(tx, slug)) slug = `${wanted.slice(0, 55).replace(/-+$/, '')}-${ids.next().slice(-6)}`
  return slug
}

function isTaken(tx: Tx, slug: string): boolean {
  return slug === PROBE_SLUG || tx.prepare('SELECT 1 FROM webhook_triggers WHERE slug = ?').get(slug) !== undefined
}

export function noTrigger(): AppError {
  return new AppError('trigger_not_found', 'There is no such webhook.')
}

function triggerOf(row: TriggerRow, time: MachineTime): Trigger {
  return {
    id: row.id,
    entityId: row.entity_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    name: row.name,
    slug: row.slug,
    taskTemplate: row.task_template,
    notifyOnSuccess: row.notify_on_success === 1,
    notifyVia: row.notify_via,
    signature: row.signature,
    dedupe: row.dedupe === 1,
    requirePlaceholders: row.require_placeholders === 1,
    status: row.status,
    triggerCount: row.trigger_count,
    lastTriggeredAt: row.last_triggered_at,
    firesThisHour: countThisHour(row, time),
    lastOutcome: lastOutcomeOf(row),
    createdAt: row.created_at,
  }
}

function lastOutcomeOf({ refused_last: refused, refused_after: after, newest_job_seq: taken }: TriggerRow): DeliveryOutcome | null {
  if (refused !== null && (after ?? 0) >= (taken ?? 0)) return refused
  return taken === null ? null : 'accepted'
}
