import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import {
  DEFAULT_LIMITS,
  Folder,
  NO_BUDGETS,
  ModelRef,
  type Agent,
  type Autonomy,
  type CreateAgent,
  type UpdateAgent,
} from '../../contract/agents.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import type { Ids } from '../../kit/ids.ts'
import { deleteChannelsOfAgent } from '../channels/channels.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { findDefaultEntity, getEntity } from '../entities/entities.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { toMicros, toUsd } from '../micros.ts'
import { freeSlug, slugFor } from './slugs.ts'

type AgentRow = {
  id: string
  entity_id: string
  slug: string
  name: string
  avatar: string | null
  instructions: string
  provider_id: string | null
  model: string | null
  fallbacks: string
  autonomy: Autonomy
  folders: string
  max_turns: number
  max_cost_micros: number
  max_working_ms: number
  max_tool_calls: number
  day_budget_micros: number | null
  month_budget_micros: number | null
  is_default: number
  created_at: number
  updated_at: number
}

const Fallbacks = z.array(ModelRef)
const Folders = z.array(Folder)
const Position = z.tuple([z.string(), z.string()])

export function findAgent(db: Db, agentId: string): Agent | null {
  return agentOf(db.prepare<AgentRow>('SELECT * FROM agents WHERE id = ? AND deleted_at IS NULL').get(agentId))
}

/** Throws AppError agent_not_found; a deleted agent is not there either. */
export function getAgent(db: Db, agentId: string): Agent {
  const agent = findAgent(db, agentId)
  if (agent === null) throw new AppError('agent_not_found', 'There is no such agent.')
  return agent
}

export function findAgentBySlug(db: Db, entityId: string, slug: string): Agent | null {
  return agentOf(db.prepare<AgentRow>('SELECT * FROM agents WHERE entity_id = ? AND slug = ? AND deleted_at IS NULL').get(entityId, slug))
}

/** The agent that a task without one goes to: null only while the workspace has no agents. */
export function findDefaultAgent(db: Db, entityId: string): Agent | null {
  return agentOf(db.prepare<AgentRow>('SELECT * FROM agents WHERE entity_id = ? AND is_default = 1').get(entityId))
}

/** By name, without regard to case. */
export function listAgents(
  db: Db,
  { entityId, cursor, limit }: { entityId?: string; cursor?: string; limit: number },
): { agents: Agent[]; nextCursor: string | null } {
  const after = cursor === undefined ? ['', ''] : decodeCursor(cursor, Position)
  const ofEntity = entityId === undefined ? '' : 'AND +entity_id = ?'
  const rows = db
    .prepare<AgentRow>(`SELECT * FROM agents WHERE deleted_at IS NULL AND (name, id) > (?, ?) ${ofEntity} ORDER BY name, id LIMIT ?`)
    .all(...after, ...(entityId === undefined ? [] : [entityId]), limit + 1)
  const page = pageOf(rows, limit, (last) => [last.name, last.id])
  return { agents: page.rows.map((row) => agentOf(row)), nextCursor: page.nextCursor }
}

/** Every folder that some agent was given, as a person named it. */
export function listAgentFolders(db: Db): string[] {
  return db
    .prepare<{ folder: string }>('SELECT DISTINCT value AS folder FROM agents, json_each(folders) WHERE deleted_at IS NULL')
    .all()
    .map(({ folder }) => folder)
}

/** Agents that have a model of this provider as their own or as a fallback. */
export function listAgentsUsingProvider(db: Db, providerId: string): Agent[] {
  return db
    .prepare<AgentRow>(
      `SELECT * FROM agents WHERE deleted_at IS NULL AND (provider_id = ?
         OR EXISTS (SELECT 1 FROM json_each(fallbacks) WHERE value ->> 'providerId' = ?)) ORDER BY name, id`,
    )
    .all(providerId, providerId)
    .map((row) => agentOf(row))
}

/** The first agent of a workspace becomes its default. Throws AppError entity_not_found. */
export function createAgent(tx: Tx, { clock, ids }: { clock: Clock; ids: Ids }, input: CreateAgent): Agent {
  const entity = input.entityId === undefined ? findDefaultEntity(tx) : getEntity(tx, input.entityId)
  const at = clock.now()
  const limits = { ...DEFAULT_LIMITS, ...definedOf(input.limits ?? {}) }
  const budgets = { ...NO_BUDGETS, ...definedOf(input.budgets ?? {}) }
  const id = ids.next()
  tx.prepare(
    `INSERT INTO agents (id, entity_id, slug, name, avatar, instructions, provider_id, model, fallbacks, autonomy, folders, max_turns,
       max_cost_micros, max_working_ms, max_tool_calls, day_budget_micros, month_budget_micros, is_default, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    id,
    entity.id,
    freeSlug(slugFor(input.name), slugsOf(tx, entity.id)),
    input.name,
    input.avatar ?? null,
    input.instructions ?? '',
    input.model?.providerId ?? null,
    input.model?.model ?? null,
    JSON.stringify(input.fallbacks ?? []),
    input.autonomy ?? 'ask_when_it_matters',
    JSON.stringify(input.folders ?? []),
    limits.maxTurns,
    toMicros(limits.maxCostUsd),
    limits.maxWorkingMs,
    limits.maxToolCalls,
    microsOf(budgets.dayUsd),
    microsOf(budgets.monthUsd),
    findDefaultAgent(tx, entity.id) === null ? 1 : 0,
    at,
    at,
  )
  tx.emit({ type: 'agent.created', payload: { agentId: id } })
  return getAgent(tx, id)
}

/** What is left out stays. The slug stays too: it is what scripts know the agent by. Throws AppError agent_not_found. */
export function updateAgent(tx: Tx, { clock }: { clock: Clock }, agentId: string, input: UpdateAgent): Agent {
  const before = getAgent(tx, agentId)
  const after = {
    ...before,
    ...definedOf(input),
    limits: { ...before.limits, ...definedOf(input.limits ?? {}) },
    budgets: { ...before.budgets, ...definedOf(input.budgets ?? {}) },
  }
  if (input.isDefault) tx.prepare('UPDATE agents SET is_default = 0 WHERE entity_id = ? AND is_default = 1').run(before.entityId)
  tx.prepare(
    `UPDATE agents SET name = ?, avatar = ?, instructions = ?, provider_id = ?, model = ?, fallbacks = ?, autonomy = ?, folders = ?,
       max_turns = ?, max_cost_micros = ?, max_working_ms = ?, max_tool_calls = ?, day_budget_micros = ?, month_budget_micros = ?, is_default = ?, updated_at = ? WHERE id = ?`,
  ).run(
    after.name,
    after.avatar,
    after.instructions,
    after.model?.providerId ?? null,
    after.model?.model ?? null,
    JSON.stringify(after.fallbacks),
    after.autonomy,
    JSON.stringify(after.folders),
    after.limits.maxTurns,
    toMicros(after.limits.maxCostUsd),
    after.limits.maxWorkingMs,
    after.limits.maxToolCalls,
    microsOf(after.budgets.dayUsd),
    microsOf(after.budgets.monthUsd),
    after.isDefault ? 1 : 0,
    clock.now(),
    agentId,
  )
  tx.emit({ type: 'agent.changed', payload: { agentId } })
  return getAgent(tx, agentId)
}

/**
 * The agent goes, what it did stays: its row is kept for its jobs, and its slug is free again. Its unfinished jobs
 * are stopped, its channels are disconnected, its triggers have no agent. When it was the default, the oldest one left is. Throws AppError agent_not_found.
 */
export function deleteAgent(tx: Tx, { clock, jobs }: { clock: Clock; jobs: Pick<JobStore, 'cancelAllOf'> }, agentId: string): void {
  const agent = getAgent(tx, agentId)
  // Before its jobs: what waits for one of them must not run when it is stopped.
  tx.prepare('DELETE FROM schedules WHERE agent_id = ?').run(agentId)
  deleteChannelsOfAgent(tx, agentId)
  jobs.cancelAllOf(tx, { agentId })
  tx.prepare('DELETE FROM rules WHERE agent_id = ?').run(agentId)
  tx.prepare('UPDATE webhook_triggers SET agent_id = NULL WHERE agent_id = ?').run(agentId)
  const at = clock.now()
  tx.prepare('UPDATE agents SET deleted_at = ?, updated_at = ?, is_default = 0 WHERE id = ?').run(at, at, agentId)
  if (agent.isDefault) {
    tx.prepare(
      `UPDATE agents SET is_default = 1
       WHERE id = (SELECT id FROM agents WHERE entity_id = ? AND deleted_at IS NULL ORDER BY created_at, id LIMIT 1)`,
    ).run(agent.entityId)
  }
  tx.emit({ type: 'agent.deleted', payload: { agentId } })
}

function microsOf(usd: number | null): number | null {
  return usd === null ? null : toMicros(usd)
}

function usdOf(micros: number | null): number | null {
  return micros === null ? null : toUsd(micros)
}

function slugsOf(db: Db, entityId: string): Set<string> {
  const rows = db.prepare<{ slug: string }>('SELECT slug FROM agents WHERE entity_id = ? AND deleted_at IS NULL').all(entityId)
  return new Set(rows.map((row) => row.slug))
}

/** Without the fields that were not given. */
function definedOf<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function agentOf(row: AgentRow): Agent
function agentOf(row: AgentRow | undefined): Agent | null
function agentOf(row: AgentRow | undefined): Agent | null {
  if (row === undefined) return null
  return {
    id: row.id,
    entityId: row.entity_id,
    slug: row.slug,
    name: row.name,
    avatar: row.avatar,
    instructions: row.instructions,
    model: row.provider_id === null || row.model === null ? null : { providerId: row.provider_id, model: row.model },
    fallbacks: Fallbacks.parse(JSON.parse(row.fallbacks)),
    autonomy: row.autonomy,
    folders: Folders.parse(JSON.parse(row.folders)),
    limits: {
      maxTurns: row.max_turns,
      maxCostUsd: toUsd(row.max_cost_micros),
      maxWorkingMs: row.max_working_ms,
      maxToolCalls: row.max_tool_calls,
    },
    budgets: { dayUsd: usdOf(row.day_budget_micros), monthUsd: usdOf(row.month_budget_micros) },
    isDefault: row.is_default === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
