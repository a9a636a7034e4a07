import { and, desc, eq, getTableColumns, lt, sql, type SQL } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy } from '../../platform/db/statements.ts'
import type { MachineTime } from '../../platform/time/machine-time.ts'
import type { CreateTrigger, DeliveryOutcome, Trigger } from '../../contract/triggers.ts'
import type { Clock } from '../../lib/clock.ts'
import { createMessage } from '../../lib/messages.ts'
import { AppError, required } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import { agents } from '../agents/agents-table.ts'
import { getAgent } from '../agents/agents.ts'
import { slugFor } from '../agents/slugs.ts'
import { decodeSeqCursor, pageOf } from '../cursors.ts'
import { findDefaultEntity } from '../entities/entities.ts'
import { countThisHour } from './hourly-limit.ts'
import { digestOf, makeSecret } from './secrets.ts'
import { triggers } from './triggers-table.ts'
import { deleteBodies } from './triggers.sql.ts'

/** Reserved: Deckhand calls this address to check whether it can be reached from outside. */
export const PROBE_SLUG = 'probe'

const newestRefusal = (column: 'outcome' | 'after_job_seq') =>
  sql`(SELECT ${sql.raw(column)} FROM webhook_refusals AS refusal WHERE refusal.trigger_seq = ${triggers.seq}
    ORDER BY refusal.after_job_seq DESC, refusal.seq DESC LIMIT 1)`

function selectTriggers(db: Db) {
  return db
    .select({
      ...getTableColumns(triggers),
      agentName: agents.name,
      /** The newest refusal, and the job before it in the inbox. null: there was none. */
      refusedLast: newestRefusal('outcome') as SQL<DeliveryOutcome | null>,
      refusedAfter: newestRefusal('after_job_seq') as SQL<number | null>,
    })
    .from(triggers)
    .leftJoin(agents, eq(agents.id, triggers.agentId))
}

type TriggerWithAgent = NonNullable<ReturnType<ReturnType<typeof selectTriggers>['get']>>

export function findTrigger(db: Db, time: MachineTime, triggerId: string): Trigger | null {
  const row = selectTriggers(db).where(eq(triggers.id, triggerId)).get()
  return row === undefined ? null : triggerOf(row, time)
}

/** Throws AppError trigger_not_found. */
export function getTrigger(db: Db, time: MachineTime, triggerId: string): Trigger {
  return required(findTrigger(db, time, triggerId), 'trigger_not_found')
}

/** Newest first. */
export function listTriggers(
  db: Db,
  time: MachineTime,
  { agentId, entityId, cursor, limit }: { agentId?: string; entityId?: string | undefined; cursor?: string; limit: number },
): { triggers: Trigger[]; nextCursor: string | null } {
  const rows = selectTriggers(db)
    .where(and(lt(triggers.seq, decodeSeqCursor(cursor)), filterBy(triggers.agentId, agentId), filterBy(triggers.entityId, entityId)))
    .orderBy(desc(triggers.seq))
    .limit(limit + 1)
    .all()
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { triggers: page.rows.map((row) => triggerOf(row, time)), nextCursor: page.nextCursor }
}

/**
 * `id`: made by the caller, because the signature's secret is already in the vault under it. The secret of the address is
 * returned here and stored nowhere. Throws AppError agent_not_found or trigger_slug_taken.
 */
export function createTrigger(
  tx: Tx,
  { clock, ids, time }: { clock: Clock; ids: Ids; time: MachineTime },
  id: string,
  input: CreateTrigger,
  /** The workspace of a webhook without an agent. */
  ownEntityId?: string,
): { trigger: Trigger; secret: string } {
  const entityId = input.agentId === null ? (ownEntityId ?? findDefaultEntity(tx).id) : getAgent(tx, input.agentId).entityId
  const slug = input.slug === undefined ? freeSlugFor(tx, ids, input.name) : requireFreeSlug(tx, input.slug)
  const secret = makeSecret()
  const { agentId, name, taskTemplate, notifyOnSuccess, notifyVia, dedupe, requirePlaceholders } = input
  tx.insert(triggers)
    .values({
      id,
      entityId,
      agentId,
      name,
      slug,
      taskTemplate,
      notifyOnSuccess,
      notifyVia,
      dedupe,
      requirePlaceholders,
      secretDigest: digestOf(secret),
      signature: input.signature?.scheme ?? null,
      status: 'active',
      createdAt: clock.now(),
    })
    .run()
  tx.emit({ type: 'trigger.created', payload: { triggerId: id } })
  return { trigger: getTrigger(tx, time, id), secret }
}

/** Throws AppError trigger_not_found. */
export function setTriggerStatus(tx: Tx, time: MachineTime, triggerId: string, status: Trigger['status']): Trigger {
  const trigger = getTrigger(tx, time, triggerId)
  if (trigger.status === status) return trigger
  tx.update(triggers).set({ status }).where(eq(triggers.id, triggerId)).run()
  tx.emit({ type: 'trigger.changed', payload: { triggerId } })
  return { ...trigger, status }
}

/** Throws AppError trigger_not_found. */
export function rotateSecret(tx: Tx, time: MachineTime, triggerId: string): { trigger: Trigger; secret: string } {
  const trigger = getTrigger(tx, time, triggerId)
  const secret = makeSecret()
  tx.update(triggers)
    .set({ secretDigest: digestOf(secret) })
    .where(eq(triggers.id, triggerId))
    .run()
  tx.emit({ type: 'trigger.changed', payload: { triggerId } })
  return { trigger, secret }
}

/** Deletes its inbox too; its jobs stay. Throws AppError trigger_not_found. */
export function deleteTrigger(tx: Tx, triggerId: string): void {
  const trigger = tx.select({ seq: triggers.seq, entityId: triggers.entityId }).from(triggers).where(eq(triggers.id, triggerId)).get()
  if (trigger === undefined) throw new AppError('trigger_not_found')
  deleteBodies(tx, trigger.seq)
  tx.delete(triggers).where(eq(triggers.seq, trigger.seq)).run()
  tx.emit({ type: 'trigger.deleted', payload: { triggerId, entityId: trigger.entityId } })
}

/** The webhooks stay without an agent for good, and refuse deliveries. */
export function detachTriggersOfAgent(tx: Tx, agentId: string): void {
  tx.update(triggers).set({ agentId: null }).where(eq(triggers.agentId, agentId)).run()
}

function requireFreeSlug(tx: Tx, slug: string): string {
  if (isSlugTaken(tx, slug)) throw new AppError('trigger_slug_taken', createMessage('slug_taken', { slug }))
  return slug
}

/** The suffix is the random end of an id, because a number would show how many such webhooks there are. */
function freeSlugFor(tx: Tx, ids: Ids, name: string): string {
  const preferred = slugFor(name, 'webhook')
  let slug = preferred
  while (isSlugTaken(tx, slug)) slug = `${preferred.slice(0, 55).replace(/-+$/, '')}-${ids.next().slice(-6)}`
  return slug
}

export function isSlugTaken(tx: Tx, slug: string): boolean {
  return slug === PROBE_SLUG || tx.select({ seq: triggers.seq }).from(triggers).where(eq(triggers.slug, slug)).get() !== undefined
}

function triggerOf(row: TriggerWithAgent, time: MachineTime): Trigger {
  const { id, entityId, agentId, agentName, name, slug, taskTemplate, notifyOnSuccess, notifyVia, signature, dedupe } = row
  const { requirePlaceholders, status, triggerCount, lastTriggeredAt, createdAt } = row
  return {
    id,
    entityId,
    agentId,
    agentName,
    name,
    slug,
    taskTemplate,
    notifyOnSuccess,
    notifyVia,
    signature,
    dedupe,
    requirePlaceholders,
    status,
    triggerCount,
    lastTriggeredAt,
    createdAt,
    firesThisHour: countThisHour(row, time),
    lastOutcome: lastOutcomeOf(row),
  }
}

function lastOutcomeOf({ refusedLast, refusedAfter, newestJobSeq }: TriggerWithAgent): DeliveryOutcome | null {
  if (refusedLast !== null && (refusedAfter ?? 0) >= (newestJobSeq ?? 0)) return refusedLast
  return newestJobSeq === null ? null : 'accepted'
}
