import { and, count, desc, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Memory } from '../../contract/memory.ts'
import type { Clock } from '../../lib/clock.ts'
import { createMessage } from '../../lib/messages.ts'
import { AppError, required } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import { getAgent, isAgentOf, isInDefaultEntity } from '../agents/agents.ts'
import { decodeSeqCursor, pageOf } from '../cursors.ts'
import { memories } from './memory-table.ts'
import { indexMemory, removeFromIndex } from './memory-search.sql.ts'

const COLUMNS = {
  id: memories.id,
  agentId: memories.agentId,
  text: memories.text,
  jobId: memories.jobId,
  untrusted: memories.untrusted,
  createdAt: memories.createdAt,
  updatedAt: memories.updatedAt,
} as const

export type NewMemory = {
  /** null: shared by all agents. */
  agentId: string | null
  text: string
  /** The call that wrote it. null: a person did. */
  writer: { agentId: string; jobId: string; callId: string } | null
  untrusted: boolean
}

/** Stops a model that writes memories endlessly. */
export const MAX_MEMORIES_PER_OWNER = 5_000

/** Returns the existing memory if the same call has made one. Throws AppError agent_not_found, memory_full. */
export function createMemory(tx: Tx, { clock, ids }: { clock: Clock; ids: Ids }, memory: NewMemory): Memory {
  const { agentId, text, writer, untrusted } = memory
  if (agentId !== null) getAgent(tx, agentId)
  const known = writer === null ? undefined : findMemoryOfCall(tx, writer)
  if (known !== undefined) return known
  if (countMemories(tx, agentId) >= MAX_MEMORIES_PER_OWNER)
    throw new AppError('memory_full', createMessage('memories_full', { count: MAX_MEMORIES_PER_OWNER }))
  const at = clock.now()
  const made: Memory = { id: ids.next(), agentId, text, jobId: writer?.jobId ?? null, untrusted, createdAt: at, updatedAt: at }
  const { lastInsertRowid } = tx
    .insert(memories)
    .values({ ...made, writerAgentId: writer?.agentId, callId: writer?.callId })
    .run()
  indexMemory(tx, Number(lastInsertRowid), text)
  tx.emit({ type: 'memory.created', payload: { memoryId: made.id, agentId } })
  return made
}

/** A text that a person wrote or confirmed, so it is trusted from then on. Throws AppError memory_not_found. */
export function rewriteMemory(tx: Tx, { clock }: { clock: Clock }, memoryId: string, text: string): Memory {
  const { seq, ...memory } = getRow(tx, memoryId)
  const change = { text, untrusted: false, updatedAt: clock.now() }
  tx.update(memories).set(change).where(eq(memories.seq, seq)).run()
  indexMemory(tx, seq, text)
  tx.emit({ type: 'memory.changed', payload: { memoryId, agentId: memory.agentId } })
  return { ...memory, ...change }
}

/** Throws AppError memory_not_found. */
export function deleteMemory(tx: Tx, memoryId: string): void {
  const { seq, agentId } = getRow(tx, memoryId)
  removeFromIndex(tx, seq)
  tx.delete(memories).where(eq(memories.seq, seq)).run()
  tx.emit({ type: 'memory.deleted', payload: { memoryId, agentId } })
}

export function findMemory(db: Db, memoryId: string): Memory | null {
  return db.select(COLUMNS).from(memories).where(eq(memories.id, memoryId)).get() ?? null
}

/** Newest first. `agentId`: only this agent's; `shared`: only shared ones. */
export function listMemories(
  db: Db,
  {
    agentId,
    entityId,
    q,
    cursor,
    limit,
  }: { agentId?: string | 'shared'; entityId?: string | undefined; q?: string; cursor?: string; limit: number },
): { memories: Memory[]; nextCursor: string | null } {
  const expression = q === undefined ? null : expressionFor(q, 'AND')
  const isOfOwner = agentId === undefined ? undefined : agentId === 'shared' ? isNull(memories.agentId) : eq(memories.agentId, agentId)
  const isMatch = expression === null ? undefined : sql`seq IN (SELECT rowid FROM memory_search WHERE memory_search MATCH ${expression})`
  const rows = db
    .select({ seq: memories.seq, ...COLUMNS })
    .from(memories)
    .where(and(lt(memories.seq, decodeSeqCursor(cursor)), isOfOwner, isAgentOf(memories.agentId, entityId), isMatch))
    .orderBy(desc(memories.seq))
    .limit(limit + 1)
    .all()
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { memories: page.rows.map(memoryOf), nextCursor: page.nextCursor }
}

const expressionParam = sql.placeholder('expression')

/** Reads the memories of an agent and the shared ones: those that match best, or the newest. */
const prepareRecall = (isMatching: boolean) => {
  const isReadable = and(
    or(eq(memories.agentId, sql.placeholder('agentId')), and(isNull(memories.agentId), sql`${sql.placeholder('shares')} = 1`)),
    or(eq(memories.untrusted, false), sql`${sql.placeholder('trustedOnly')} = 0`),
    isMatching ? sql`memory_search MATCH ${expressionParam}` : undefined,
  )
  const isIndexed = sql`memory_search.rowid = memories.seq`
  const order = isMatching ? [sql`bm25(memory_search)`] : []
  const found = prepareOnce((db: Db) => {
    const selected = db.select(COLUMNS).from(memories).$dynamic()
    if (isMatching) void selected.innerJoin(sql`memory_search`, isIndexed)
    return selected
      .where(isReadable)
      .orderBy(...order, desc(memories.seq))
      .limit(sql.placeholder('limit'))
  })
  const total = prepareOnce((db: Db) => {
    const counted = db.select({ total: count() }).from(memories).$dynamic()
    if (isMatching) void counted.innerJoin(sql`memory_search`, isIndexed)
    return counted.where(isReadable)
  })
  return { found, total }
}
const MATCHING = prepareRecall(true)
const NEWEST = prepareRecall(false)

/**
 * What an agent remembers about something: its own memories and the shared ones with any of the words. Only agents of the
 * workspace `Personal` share memories. The best matches come
 * first, of equal ones the newest. Without a word to look for: the newest. `total` counts also what `trustedOnly` leaves out.
 */
export function recallMemories(
  db: Db,
  { agentId, query, limit, trustedOnly = false }: { agentId: string; query: string; limit: number; trustedOnly?: boolean },
): { found: Memory[]; total: number } {
  const expression = expressionFor(query, 'OR')
  const { found, total } = expression === null ? NEWEST : MATCHING
  const shares = isInDefaultEntity(db, agentId) ? 1 : 0
  const values = { agentId, shares, expression }
  return {
    found: found(db).all({ ...values, limit, trustedOnly: trustedOnly ? 1 : 0 }),
    total: total(db).get({ ...values, trustedOnly: 0 })!.total,
  }
}

function findMemoryOfCall(db: Db, { jobId, callId }: { jobId: string; callId: string }): Memory | undefined {
  return db
    .select(COLUMNS)
    .from(memories)
    .where(and(eq(memories.jobId, jobId), eq(memories.callId, callId)))
    .get()
}

function countMemories(db: Db, agentId: string | null): number {
  const isOfOwner = agentId === null ? isNull(memories.agentId) : eq(memories.agentId, agentId)
  return db.select({ n: count() }).from(memories).where(isOfOwner).get()!.n
}

/** Quotes every word, so that no input is a syntax error or an operator. The last one also matches as the beginning of a word. */
function expressionFor(text: string, join: 'AND' | 'OR'): string | null {
  // What FTS5 (unicode61) takes for a word: letters, their diacritics, digits, and private use.
  const words = text.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu)?.slice(0, 32) ?? []
  return words.length === 0 ? null : words.map((word, i) => (i === words.length - 1 ? `"${word}" *` : `"${word}"`)).join(` ${join} `)
}

function getRow(db: Db, memoryId: string): Memory & { seq: number } {
  const row = db
    .select({ seq: memories.seq, ...COLUMNS })
    .from(memories)
    .where(eq(memories.id, memoryId))
    .get()
  return required(row, 'memory_not_found')
}

function memoryOf(row: Memory & { seq: number }): Memory {
  const { seq: _, ...memory } = row
  return memory
}
