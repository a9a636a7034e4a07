import { eq } from 'drizzle-orm'
import type { Database } from '../../platform/db/database.ts'
import type { Reads } from '../../platform/db/statements.ts'
import type { EventHub } from '../../platform/events/event-hub.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { SignatureScheme } from '../../contract/triggers.ts'
import { digitsOf } from './secrets.ts'
import { triggers } from './triggers-table.ts'

/** What a delivery needs of its trigger, as it was when it was read: a change makes a new object. */
export type IndexedTrigger = {
  readonly seq: number
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly secretDigest: Buffer | null
  readonly secretDigits: Buffer | null
  readonly active: boolean
  readonly agentId: string | null
  readonly taskTemplate: string
  readonly signature: SignatureScheme | null
  readonly dedupe: boolean
  /** Refuses deliveries that leave a placeholder without a value. */
  readonly requirePlaceholders: boolean
}

/**
 * All triggers by slug, in memory. The response time must not show whether a slug exists, and a query takes longer when it
 * finds something. The transaction that accepts the delivery checks everything again.
 */
export type TriggerIndex = {
  find(slug: string): IndexedTrigger | undefined
  stop(): void
}

function selectTriggers(db: Reads) {
  return db
    .select({
      ...{ seq: triggers.seq, id: triggers.id, name: triggers.name, slug: triggers.slug, secretDigest: triggers.secretDigest },
      ...{ status: triggers.status, agentId: triggers.agentId, taskTemplate: triggers.taskTemplate, signature: triggers.signature },
      ...{ dedupe: triggers.dedupe, requirePlaceholders: triggers.requirePlaceholders },
    })
    .from(triggers)
}

type Row = ReturnType<ReturnType<typeof selectTriggers>['all']>[number]

export function createTriggerIndex({ db, hub }: { db: Database; hub: Pick<EventHub, 'subscribe'> }): TriggerIndex {
  const bySlug = new Map<string, IndexedTrigger>()
  const slugs = new Map<string, string>()

  function keep(row: Row): void {
    bySlug.set(row.slug, indexedOf(row))
    slugs.set(row.id, row.slug)
  }

  function forget(triggerId: string): void {
    const slug = slugs.get(triggerId)
    if (slug !== undefined && bySlug.get(slug)?.id === triggerId) bySlug.delete(slug)
    slugs.delete(triggerId)
  }

  function readAgain(triggerId: string): void {
    forget(triggerId)
    const row = selectTriggers(db).where(eq(triggers.id, triggerId)).get()
    if (row !== undefined) keep(row)
  }

  function onEvent({ type, payload }: StoredEvent): void {
    if (type === 'trigger.created' || type === 'trigger.changed' || type === 'trigger.deleted') readAgain(payload.triggerId)
    if (type !== 'agent.deleted') return
    for (const trigger of [...bySlug.values()]) if (trigger.agentId === payload.agentId) readAgain(trigger.id)
  }

  for (const row of selectTriggers(db).all()) keep(row)
  return { find: (slug) => bySlug.get(slug), stop: hub.subscribe(onEvent) }
}

export function readIndexedTrigger(db: Reads, triggerId: string): IndexedTrigger | null {
  const row = selectTriggers(db).where(eq(triggers.id, triggerId)).get()
  return row === undefined ? null : indexedOf(row)
}

function indexedOf({ status, ...row }: Row): IndexedTrigger {
  return { ...row, active: status === 'active', secretDigits: row.secretDigest && digitsOf(row.secretDigest) }
}
