import type { Database } from '../../base/db/database.ts'
import type { EventHub } from '../../base/events/event-hub.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { SignatureScheme } from '../../contract/triggers.ts'
import { digitsOf } from './secrets.ts'

/** A trigger as a delivery needs it. An object says what was true when it was read, and never changes after. */
export type KnownTrigger = {
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
  /** Deliveries that leave a placeholder empty are refused. */
  readonly requirePlaceholders: boolean
}

/**
 * All triggers by slug, in memory: whether a slug is there must not show in how long the answer takes, and a lookup in
 * the file takes longer when it finds something. What counts is decided in the transaction that takes the delivery.
 */
export type TriggerIndex = {
  find(slug: string): KnownTrigger | undefined
  stop(): void
}

type Row = {
  seq: number
  id: string
  name: string
  slug: string
  secret_digest: Buffer | null
  status: 'active' | 'paused'
  agent_id: string | null
  task_template: string
  signature: SignatureScheme | null
  dedupe: number
  require_placeholders: number
}

const SELECT =
  'SELECT seq, id, name, slug, secret_digest, status, agent_id, task_template, signature, dedupe, require_placeholders FROM webhook_triggers'

export function createTriggerIndex({ db, hub }: { db: Database; hub: Pick<EventHub, 'subscribe'> }): TriggerIndex {
  const bySlug = new Map<string, KnownTrigger>()
  const slugs = new Map<string, string>()

  function keep(row: Row): void {
    bySlug.set(row.slug, knownOf(row))
    slugs.set(row.id, row.slug)
  }

  function forget(triggerId: string): void {
    const slug = slugs.get(triggerId)
    if (slug !== undefined && bySlug.get(slug)?.id === triggerId) bySlug.delete(slug)
    slugs.delete(triggerId)
  }

  function readAgain(triggerId: string): void {
    forget(triggerId)
    const row = db.prepare<Row>(`${SELECT} WHERE id = ?`).get(triggerId)
    if (row !== undefined) keep(row)
  }

  function onEvent({ type, payload }: StoredEvent): void {
    if (type === 'trigger.created' || type === 'trigger.changed' || type === 'trigger.deleted') readAgain(payload.triggerId)
    if (type !== 'agent.deleted') return
    for (const trigger of [...bySlug.values()]) if (trigger.agentId === payload.agentId) readAgain(trigger.id)
  }

  for (const row of db.prepare<Row>(SELECT).all()) keep(row)
  return { find: (slug) => bySlug.get(slug), stop: hub.subscribe(onEvent) }
}

export function readKnownTrigger(db: Pick<Database, 'prepare'>, triggerId: string): KnownTrigger | null {
  const row = db.prepare<Row>(`${SELECT} WHERE id = ?`).get(triggerId)
  return row === undefined ? null : knownOf(row)
}

function knownOf(row: Row): KnownTrigger {
  return {
    seq: row.seq,
    id: row.id,
    name: row.name,
    slug: row.slug,
    secretDigest: row.secret_digest,
    secretDigits: row.secret_digest && digitsOf(row.secret_digest),
    active: row.status === 'active',
    agentId: row.agent_id,
    taskTemplate: row.task_template,
    signature: row.signature,
    dedupe: row.dedupe === 1,
    requirePlaceholders: row.require_placeholders === 1,
  }
}
