import type { Db } from '../../platform/db/database.ts'
import type { LiveEvent, StoredEvent } from '../../contract/events.ts'
import type { AttentionItem } from '../../contract/notifications.ts'
import type { Route } from '../../contract/routes.ts'
import { findEntityOf, type Noun } from '../../domain/entities/entity-of.sql.ts'
import type { Input } from './input.ts'

/**
 * Every field with an id, in requests and in events, and what it names. null: it names nothing that a workspace owns. A field
 * that is missing here is closed to limited callers.
 */
export const NOUN_OF_FIELD: Readonly<Record<string, Noun | null>> = {
  entityId: 'entity',
  agentId: 'agent',
  jobId: 'job',
  parentJobId: 'job',
  conversationId: 'conversation',
  approvalId: 'approval',
  ruleId: 'rule',
  memoryId: 'memory',
  triggerId: 'trigger',
  deliveryId: 'delivery',
  scheduleId: 'schedule',
  channelId: 'channel',
  personId: 'person',
  messageId: 'message',
  credentialId: 'credential',
  authorizationId: 'authorization',
  skillId: 'skill',
  tokenId: 'token',
  mcpServerId: 'mcpServer',
  callId: null,
  providerId: null,
}

/** The nil UUID. Nothing has it. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

const NAMES_ID = /Ids?$/

/**
 * The input of a caller that is limited to a workspace. Every id of something else becomes an id that does not exist, before
 * the handler runs. So whatever a handler does with it, things of other workspaces answer exactly like things that do not
 * exist. A missing `entityId` becomes the caller's.
 */
export function confineInput(db: Db, route: Route, input: Input, entityId: string): Input {
  const confined = confine(db, input, entityId) as Input
  return {
    ...confined,
    query: withEntity(route.query, confined.query, entityId),
    body: withEntity(route.body, confined.body, entityId),
  }
}

function confine(db: Db, value: unknown, entityId: string): unknown {
  if (Array.isArray(value)) return value.map((one) => confine(db, one, entityId))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, confineField(db, name, held, entityId)]))
}

function confineField(db: Db, name: string, value: unknown, entityId: string): unknown {
  // The ids of clients are one table for all workspaces.
  if (name === 'clientId') return typeof value === 'string' ? `${entityId} ${value}` : value
  if (!NAMES_ID.test(name)) return confine(db, value, entityId)
  const noun = NOUN_OF_FIELD[name.replace(/s$/, '')]
  if (noun === null) return value
  const confineId = (id: unknown) =>
    typeof id !== 'string' || (noun !== undefined && findEntityOf(db, noun, id) === entityId) ? id : NO_ID
  return Array.isArray(value) ? value.map(confineId) : confineId(value)
}

function withEntity(schema: Route['body'], value: unknown, entityId: string): unknown {
  const fields = (schema as { shape?: object } | undefined)?.shape
  return fields !== undefined && 'entityId' in fields ? { entityId, ...(value as object) } : value
}

const NOUN_OF_ITEM: Record<AttentionItem['kind'], Noun | null> = {
  budget_exhausted: 'schedule',
  schedule_missed: 'schedule',
  delivery_refused: 'trigger',
  message_undeliverable: 'message',
  channel_logged_out: 'channel',
  channel_failing: 'channel',
  channel_request: 'channel',
  credential_refused: 'credential',
  mcp_server_failing: 'mcpServer',
  mcp_tool_changed: 'mcpServer',
  public_address_unreachable: null,
  public_address_changed: null,
  skill_changed: 'skill',
  database_trouble: null,
}

/** Whether an attention item is about this workspace. */
export function isItemOf(db: Db, { kind, subjectId }: AttentionItem, entityId: string): boolean {
  const noun = NOUN_OF_ITEM[kind]
  return noun !== null && subjectId !== null && findEntityOf(db, noun, subjectId) === entityId
}

/** Whether an event is about this workspace: it names something of it, and nothing of another one. */
export function isEventOf(db: Db, { payload }: StoredEvent | LiveEvent, entityId: string): boolean {
  const owners = Object.entries(payload).flatMap(([name, id]) => {
    const noun = NOUN_OF_FIELD[name]
    return noun == null || typeof id !== 'string' ? [] : (findEntityOf(db, noun, id) ?? [])
  })
  return owners.length > 0 && owners.every((owner) => owner === entityId)
}
