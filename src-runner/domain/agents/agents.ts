import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, getTableColumns, isNull, or, sql, type SQL, type SQLWrapper } from 'drizzle-orm'
import { z } from 'zod'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { DEFAULT_LIMITS, NO_BUDGETS, type Agent, type CreateAgent, type UpdateAgent } from '../../contract/agents.ts'
import type { Clock } from '../../lib/clock.ts'
import { required } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { findDefaultEntity, getEntity } from '../entities/entities.ts'
import { entities } from '../entities/entities-table.ts'
import { agents } from './agents-table.ts'
import { freeSlug, slugFor } from './slugs.ts'

const { providerId, model, maxTurns, maxCostUsd, maxWorkingMs, maxToolCalls, dayBudgetUsd, monthBudgetUsd, deletedAt, ...COLUMNS } =
  getTableColumns(agents)

const selectAgents = (db: Db) =>
  db
    .select({
      ...COLUMNS,
      model: { providerId, model },
      limits: { maxTurns, maxCostUsd, maxWorkingMs, maxToolCalls },
      budgets: { dayUsd: dayBudgetUsd, monthUsd: monthBudgetUsd },
    })
    .from(agents)

type Selected = NonNullable<ReturnType<ReturnType<typeof selectAgents>['get']>>

const Position = z.tuple([z.string(), z.string()])

const AGENT_BY_ID = prepareOnce((db: Db) => selectAgents(db).where(and(eq(agents.id, sql.placeholder('id')), isNull(deletedAt))))

export function findAgent(db: Db, agentId: string): Agent | null {
  return agentOf(AGENT_BY_ID(db).get({ id: agentId }))
}

/** Throws AppError agent_not_found, also for a deleted agent. */
export function getAgent(db: Db, agentId: string): Agent {
  return required(findAgent(db, agentId), 'agent_not_found')
}

export function findAgentBySlug(db: Db, entityId: string, slug: string): Agent | null {
  const hasSlug = and(eq(agents.entityId, entityId), eq(agents.slug, slug), isNull(deletedAt))
  return agentOf(selectAgents(db).where(hasSlug).get())
}

/** The agent for a task that names none. null: the workspace has no agents. */
export function findDefaultAgent(db: Db, entityId: string): Agent | null {
  return agentOf(selectAgents(db).where(isDefaultOf(entityId)).get())
}

const isDefaultOf = (entityId: string) => and(eq(agents.entityId, entityId), sql`is_default = 1`)

/** By name, without regard to case. */
export function listAgents(
  db: Db,
  { entityId, cursor, limit }: { entityId?: string; cursor?: string; limit: number },
): { agents: Agent[]; nextCursor: string | null } {
  const [name, id] = cursor === undefined ? ['', ''] : decodeCursor(cursor, Position)
  // The plus sign keeps SQLite from choosing another index than the one that gives the order.
  const isOfEntity = entityId === undefined ? undefined : sql`+entity_id = ${entityId}`
  const rows = selectAgents(db)
    .where(and(isNull(deletedAt), sql`(name, id) > (${name}, ${id})`, isOfEntity))
    .orderBy(asc(agents.name), asc(agents.id))
    .limit(limit + 1)
    .all()
  const page = pageOf(rows, limit, (last) => [last.name, last.id])
  return { agents: page.rows.map((row) => agentOf(row)), nextCursor: page.nextCursor }
}

/** Whether an agent belongs to the workspace `Personal`, whose agents share memories. */
export function isInDefaultEntity(db: Db, agentId: string): boolean {
  return IN_DEFAULT(db).get({ id: agentId }) !== undefined
}

const IN_DEFAULT = prepareOnce((db: Db) =>
  db
    .select({ id: agents.id })
    .from(agents)
    .innerJoin(entities, and(eq(entities.id, agents.entityId), eq(entities.isDefault, true)))
    .where(eq(agents.id, sql.placeholder('id'))),
)

/** The condition that an agent, also a deleted one, belongs to a workspace. Absent: to any. */
export function isAgentOf(agentId: SQLWrapper, entityId: string | undefined): SQL | undefined {
  return entityId === undefined ? undefined : sql`${agentId} IN (SELECT id FROM agents WHERE entity_id = ${entityId})`
}

/** Every folder that a person gave to any agent, as they wrote it. */
export function listAgentFolders(db: Db): string[] {
  return [
    ...new Set(
      FOLDERS(db)
        .all()
        .flatMap(({ folders }) => folders),
    ),
  ]
}

const FOLDERS = prepareOnce((db: Db) => db.select({ folders: agents.folders }).from(agents).where(isNull(deletedAt)))

/** Agents with a model of this provider, also as a fallback. */
export function listAgentsUsingProvider(db: Db, usedId: string): Agent[] {
  const isFallback = sql`EXISTS (SELECT 1 FROM json_each(fallbacks) WHERE value ->> 'providerId' = ${usedId})`
  const rows = selectAgents(db)
    .where(and(isNull(deletedAt), or(eq(providerId, usedId), isFallback)))
    .orderBy(asc(agents.name), asc(agents.id))
    .all()
  return rows.map((row) => agentOf(row))
}

/** The first agent of a workspace becomes its default. Throws AppError entity_not_found. */
export function createAgent(tx: Tx, { clock, ids }: { clock: Clock; ids: Ids }, input: CreateAgent): Agent {
  const entity = input.entityId === undefined ? findDefaultEntity(tx) : getEntity(tx, input.entityId)
  const at = clock.now()
  const id = ids.next()
  tx.insert(agents)
    .values({
      id,
      entityId: entity.id,
      slug: freeSlug(slugFor(input.name), slugsOf(tx, entity.id)),
      isDefault: findDefaultAgent(tx, entity.id) === null,
      createdAt: at,
      updatedAt: at,
      ...columnsOf({
        avatar: null,
        instructions: '',
        model: null,
        fallbacks: [],
        autonomy: 'ask_when_it_matters',
        folders: [],
        name: input.name,
        ...definedOf(input),
        limits: { ...DEFAULT_LIMITS, ...definedOf(input.limits ?? {}) },
        budgets: { ...NO_BUDGETS, ...definedOf(input.budgets ?? {}) },
      }),
    })
    .run()
  tx.emit({ type: 'agent.created', payload: { agentId: id } })
  return getAgent(tx, id)
}

/** Fields that are left out stay. The slug stays too, because scripts know the agent by it. Throws AppError agent_not_found. */
export function updateAgent(tx: Tx, { clock }: { clock: Clock }, agentId: string, input: UpdateAgent): Agent {
  const before = getAgent(tx, agentId)
  const after = {
    ...before,
    ...definedOf(input),
    limits: { ...before.limits, ...definedOf(input.limits ?? {}) },
    budgets: { ...before.budgets, ...definedOf(input.budgets ?? {}) },
  }
  if (input.isDefault) tx.update(agents).set({ isDefault: false }).where(isDefaultOf(before.entityId)).run()
  tx.update(agents)
    .set({ ...columnsOf(after), isDefault: after.isDefault, updatedAt: clock.now() })
    .where(eq(agents.id, agentId))
    .run()
  const hasNewModel = !isDeepStrictEqual([after.model, after.fallbacks], [before.model, before.fallbacks])
  tx.emit({ type: 'agent.changed', payload: { agentId, hasNewModel } })
  return getAgent(tx, agentId)
}

/**
 * Keeps the row for the agent's jobs and frees its slug. If it was the default, the oldest remaining agent becomes the
 * default. `deleteAgent` in execution/ removes what belongs to it. Throws AppError agent_not_found.
 */
export function markAgentDeleted(tx: Tx, { clock }: { clock: Clock }, agentId: string): void {
  const agent = getAgent(tx, agentId)
  const at = clock.now()
  tx.update(agents).set({ deletedAt: at, updatedAt: at, isDefault: false }).where(eq(agents.id, agentId)).run()
  if (agent.isDefault) {
    const oldest = tx
      .select({ id: agents.id })
      .from(agents)
      .where(and(eq(agents.entityId, agent.entityId), isNull(deletedAt)))
      .orderBy(agents.createdAt, agents.id)
      .limit(1)
    tx.update(agents).set({ isDefault: true }).where(eq(agents.id, oldest)).run()
  }
  tx.emit({ type: 'agent.deleted', payload: { agentId } })
}

/**
 * The agent of imported history. One that is not known here is kept as a deleted agent, which has a name and can do nothing.
 */
export function keepAgentForHistory(
  tx: Tx,
  { clock }: { clock: Pick<Clock, 'now'> },
  { id, name }: { id: string; name: string },
): { entityId: string; isDeleted: boolean } {
  const known = tx.select({ entityId: agents.entityId, deletedAt }).from(agents).where(eq(agents.id, id)).get()
  if (known !== undefined) return { entityId: known.entityId, isDeleted: known.deletedAt !== null }
  const { id: entityId } = findDefaultEntity(tx)
  const at = clock.now()
  const nothing = { avatar: null, instructions: '', model: null, fallbacks: [], autonomy: 'ask_first' as const, folders: [] }
  const columns = columnsOf({ ...nothing, name: name.trim().slice(0, 120) || '?', limits: DEFAULT_LIMITS, budgets: NO_BUDGETS })
  tx.insert(agents)
    .values({ id, entityId, slug: `imported-${id}`, isDefault: false, createdAt: at, updatedAt: at, deletedAt: at, ...columns })
    .run()
  return { entityId, isDeleted: true }
}

function slugsOf(db: Db, entityId: string): Set<string> {
  const isOfEntity = and(eq(agents.entityId, entityId), isNull(deletedAt))
  const rows = db.select({ slug: agents.slug }).from(agents).where(isOfEntity).all()
  return new Set(rows.map(({ slug }) => slug))
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Without the fields that are undefined. */
function definedOf<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}

type Editable = Pick<Agent, 'name' | 'avatar' | 'instructions' | 'model' | 'fallbacks' | 'autonomy' | 'folders' | 'limits' | 'budgets'>

function columnsOf({ name, avatar, instructions, model: ref, fallbacks, autonomy, folders, limits, budgets }: Editable) {
  return {
    name,
    avatar,
    instructions,
    fallbacks,
    autonomy,
    folders,
    ...limits,
    providerId: ref?.providerId ?? null,
    model: ref?.model ?? null,
    dayBudgetUsd: budgets.dayUsd,
    monthBudgetUsd: budgets.monthUsd,
  }
}

function agentOf(row: Selected): Agent
function agentOf(row: Selected | undefined): Agent | null
function agentOf(row: Selected | undefined): Agent | null {
  return row === undefined ? null : { ...row, model: modelOf(row.model) }
}

function modelOf({ providerId: ofProvider, model: name }: Selected['model']): Agent['model'] {
  return ofProvider === null || name === null ? null : { providerId: ofProvider, model: name }
}
