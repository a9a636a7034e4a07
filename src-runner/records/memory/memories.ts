import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Memory } from '../../contract/memory.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import type { Ids } from '../../kit/ids.ts'
import { getAgent } from '../agents/agents.ts'
import { decodeCursor, pageOf } from '../cursors.ts'

type Row = {
  seq: number
  id: string
  agent_id: string | null
  writer_agent_id: string | null
  job_id: string | null
  text: string
  untrusted: number
  created_at: number
  updated_at: number
}

export type NewMemory = {
  /** null: shared by all agents. */
  agentId: string | null
  text: string
  /** The call that wrote it; null: a person did. */
  writer: { agentId: string; jobId: string; callId: string } | null
  untrusted: boolean
}

/** More than anybody reads. A model that writes without end is stopped here. */
export const MAX_MEMORIES_PER_OWNER = 5_000

const Position = z.tuple([z.number().int()])

/** The same call again answers what it made before. Throws AppError agent_not_found, memory_full. */
export function createMemory(tx: Tx, { clock, ids }: { clock: Clock; ids: Ids }, memory: NewMemory): Memory {
  const { agentId, text, writer, untrusted } = memory
  if (agentId !== null) getAgent(tx, agentId)
  const known =
    writer === null
      ? undefined
      : tx.prepare<Row>('SELECT * FROM memories WHERE job_id = ? AND call_id = ?').get(writer.jobId, writer.callId)
  if (known !== undefined) return memoryOf(known)
  if (countMemories(tx, agentId) >= MAX_MEMORIES_PER_OWNER)
    throw new AppError('memory_full', `There are ${MAX_MEMORIES_PER_OWNER} memories already. Forget some first.`)
  const id = ids.next()
  const at = clock.now()
  const { lastInsertRowid } = tx
    .prepare(
      `INSERT INTO memories (id, agent_id, writer_agent_id, job_id, call_id, text, untrusted, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(id, agentId, writer?.agentId ?? null, writer?.jobId ?? null, writer?.callId ?? null, text, untrusted ? 1 : 0, at, at)
  indexText(tx, Number(lastInsertRowid), text)
  tx.emit({ type: 'memory.created', payload: { memoryId: id, agentId } })
  return getMemory(tx, id)
}

/** A person wrote this text, or read it and let it stand: from then on it is trusted. Throws AppError memory_not_found. */
export function rewriteMemory(tx: Tx, { clock }: { clock: Clock }, memoryId: string, text: string): Memory {
  const { seq, agent_id: agentId } = getRow(tx, memoryId)
  tx.prepare('UPDATE memories SET text = ?, untrusted = 0, updated_at = ? WHERE seq = ?').run(text, clock.now(), seq)
  indexText(tx, seq, text)
  tx.emit({ type: 'memory.changed', payload: { memoryId, agentId } })
  return getMemory(tx, memoryId)
}

/** Throws AppError memory_not_found. */
export function deleteMemory(tx: Tx, memoryId: string): void {
  const { seq, agent_id: agentId } = getRow(tx, memoryId)
  tx.prepare('DELETE FROM memory_search WHERE rowid = ?').run(seq)
  tx.prepare('DELETE FROM memories WHERE seq = ?').run(seq)
  tx.emit({ type: 'memory.deleted', payload: { memoryId, agentId } })
}

export function findMemory(db: Db, memoryId: string): Memory | null {
  const row = db.prepare<Row>('SELECT * FROM memories WHERE id = ?').get(memoryId)
  return row === undefined ? null : memoryOf(row)
}

/** Throws AppError memory_not_found. */
export function getMemory(db: Db, memoryId: string): Memory {
  return memoryOf(getRow(db, memoryId))
}

/** The agent that wrote it, also when all share it; null: a person. */
export function findWriter(db: Db, memoryId: string): string | null {
  return (
    db.prepare<Pick<Row, 'writer_agent_id'>>('SELECT writer_agent_id FROM memories WHERE id = ?').get(memoryId)?.writer_agent_id ?? null
  )
}

/** Newest first. `agentId`: of this agent alone; `shared`: those of nobody in particular. */
export function listMemories(
  db: Db,
  { agentId, q, cursor, limit }: { agentId?: string | 'shared'; q?: string; cursor?: string; limit: number },
): { memories: Memory[]; nextCursor: string | null } {
  const conditions = ['seq < ?']
  const params: (string | number)[] = [cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor, Position)[0]]
  if (agentId === 'shared') conditions.push('agent_id IS NULL')
  else if (agentId !== undefined) {
    conditions.push('agent_id = ?')
    params.push(agentId)
  }
  const expression = q === undefined ? null : expressionFor(q, 'AND')
  if (expression !== null) {
    conditions.push('seq IN (SELECT rowid FROM memory_search WHERE memory_search MATCH ?)')
    params.push(expression)
  }
  const rows = db
    .prepare<Row>(`SELECT * FROM memories WHERE ${conditions.join(' AND ')} ORDER BY seq DESC LIMIT ?`)
    .all(...params, limit + 1)
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { memories: page.rows.map(memoryOf), nextCursor: page.nextCursor }
}

/**
 * What an agent remembers of something: its own memories and the shared ones with any of the words, the most fitting
 * first and of equal ones the newest. Without a word to look for: the newest.
 */
export function recallMemories(
  db: Db,
  { agentId, query, limit, trustedOnly = false }: { agentId: string; query: string; limit: number; trustedOnly?: boolean },
): { found: Memory[]; total: number } {
  const expression = expressionFor(query, 'OR')
  const mine = `(agent_id = ? OR agent_id IS NULL)${trustedOnly ? ' AND untrusted = 0' : ''}`
  const [source, params] =
    expression === null
      ? [`memories WHERE ${mine}`, [agentId]]
      : [`memories JOIN memory_search ON memory_search.rowid = memories.seq WHERE memory_search MATCH ? AND ${mine}`, [expression, agentId]]
  const order = expression === null ? 'seq DESC' : 'bm25(memory_search), seq DESC'
  const found = db.prepare<Row>(`SELECT memories.* FROM ${source} ORDER BY ${order} LIMIT ?`).all(...params, limit)
  const total = db.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${source}`).get(...params)!.n
  return { found: found.map(memoryOf), total }
}

function countMemories(db: Db, agentId: string | null): number {
  return db.prepare<{ n: number }>('SELECT count(*) AS n FROM memories WHERE agent_id IS ?').get(agentId)!.n
}

function indexText(tx: Tx, seq: number, text: string): void {
  tx.prepare('INSERT OR REPLACE INTO memory_search (rowid, text) VALUES (?, ?)').run(seq, text)
}

/** Everything is quoted, so no input is a syntax error or an operator. The last word may be the beginning of one. */
function expressionFor(text: string, join: 'AND' | 'OR'): string | null {
  // FTS5's own notion of a word (unicode61): letters, marks on them, digits, and private use.
  const words = text.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu)?.slice(0, 32) ?? []
  return words.length === 0 ? null : words.map((word, i) => (i === words.length - 1 ? `"${word}" *` : `"${word}"`)).join(` ${join} `)
}

function getRow(db: Db, memoryId: string): Row {
  const row = db.prepare<Row>('SELECT * FROM memories WHERE id = ?').get(memoryId)
  if (row === undefined) throw new AppError('memory_not_found', 'There is no such memory.')
  return row
}

function memoryOf(row: Row): Memory {
  return {
    id: row.id,
    agentId: row.agent_id,
    text: row.text,
    jobId: row.job_id,
    untrusted: row.untrusted === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
