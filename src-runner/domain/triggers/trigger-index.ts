import { eq } from 'drizzle-orm'
import type { Database } from '../../platform/db/database.ts'
import type { Reads } from '../../platform/db/statements.ts'
import type { EventHub } from '../../platform/events/event-hub.ts'
import type { SignatureScheme } from '../../contract/triggers.ts'
import { digitsOf } from './secrets.ts'
import { triggers } from './triggers-table.ts'

/** The part of a trigger that deliveries need. After a change there is a new object. */
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
 * All triggers by slug, in memory until one changes. A query takes longer if it finds something, and the response time must not
 * show whether a slug exists. The transaction that accepts a delivery checks everything again.
 */
export type TriggerIndex = {
  find(slug: string): IndexedTrigger | undefined
  stop(): void
}

function selectTriggers(db: Reads) {
  return db
    .select({
      seq: triggers.seq,
      id: triggers.id,
      name: triggers.name,
      slug: triggers.slug,
      secretDigest: triggers.secretDigest,
      status: triggers.status,
      agentId: triggers.agentId,
      taskTemplate: triggers.taskTemplate,
      signature: triggers.signature,
      dedupe: triggers.dedupe,
      requirePlaceholders: triggers.requirePlaceholders,
    })
    .from(triggers)
}

type Row = ReturnType<ReturnType<typeof selectTriggers>['all']>[number]

export function createTriggerIndex({ db, hub }: { db: Database; hub: Pick<EventHub, 'subscribe'> }): TriggerIndex {
  let bySlug: ReadonlyMap<string, IndexedTrigger> | null = null
  const stop = hub.subscribe(({ type }) => {
    if (type === 'trigger.created' || type === 'trigger.changed' || type === 'trigger.deleted' || type === 'agent.deleted') bySlug = null
  })
  const read = () =>
    new Map(
      selectTriggers(db)
        .all()
        .map((row) => [row.slug, indexedOf(row)]),
    )
  return { find: (slug) => (bySlug ??= read()).get(slug), stop }
}

export function readIndexedTrigger(db: Reads, triggerId: string): IndexedTrigger | null {
  const row = selectTriggers(db).where(eq(triggers.id, triggerId)).get()
  return row === undefined ? null : indexedOf(row)
}

function indexedOf({ status, ...row }: Row): IndexedTrigger {
  return { ...row, active: status === 'active', secretDigits: row.secretDigest && digitsOf(row.secretDigest) }
}
