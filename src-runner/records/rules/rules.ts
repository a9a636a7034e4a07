import { realpathSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { z } from 'zod'
import type { Database, Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Rule, RuleEffect, RuleText } from '../../contract/rules.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import type { Ids } from '../../kit/ids.ts'
import { say } from '../../kit/said.ts'
import { getAgent } from '../agents/agents.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { createRuleSet, type RuleSet } from './rule-set.ts'

type RuleRow = {
  seq: number
  id: string
  effect: RuleEffect
  tool: string
  pattern: string | null
  agent_id: string | null
  folder: string | null
  digest: string | null
  origin: Rule['origin']
  created_at: number
}

const Position = z.tuple([z.number().int().positive()])

/** Newest first; of an agent, those for everyone included. Throws AppError invalid_request for a foreign cursor. */
export function listRules(
  db: Db,
  { agentId, cursor, limit }: { agentId?: string; cursor?: string; limit: number },
): { rules: Rule[]; nextCursor: string | null } {
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor, Position)[0]
  const ofAgent = agentId === undefined ? '' : 'AND (agent_id IS NULL OR agent_id = ?)'
  const rows = db
    .prepare<RuleRow>(`SELECT * FROM rules WHERE seq < ? ${ofAgent} ORDER BY seq DESC LIMIT ?`)
    .all(before, ...(agentId === undefined ? [] : [agentId]), limit + 1)
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { rules: page.rows.map(ruleOf), nextCursor: page.nextCursor }
}

export function listAllRules(db: Db): Rule[] {
  return db.prepare<RuleRow>('SELECT * FROM rules ORDER BY seq').all().map(ruleOf)
}

/**
 * A rule that says the same as one there is is that one. Throws AppError agent_not_found, or invalid_request for a folder
 * that is no whole path.
 */
export function createRule(tx: Tx, { clock, ids }: { clock: Clock; ids: Ids }, text: RuleText, origin: Rule['origin']): Rule {
  const { effect, tool, pattern, agentId, folder, digest = null } = withRealFolder(text)
  if (agentId !== null) getAgent(tx, agentId)
  const alike = tx
    .prepare<RuleRow>('SELECT * FROM rules WHERE effect = ? AND tool = ? AND pattern IS ? AND agent_id IS ? AND folder IS ?')
    .all(effect, tool, pattern, agentId, folder)
  const same = alike.find((row) => row.digest === digest)
  if (same !== undefined) return ruleOf(same)
  // What it was bound to has changed since, so it fits nothing any more.
  if (digest !== null) for (const row of alike) if (row.digest !== null) deleteRule(tx, row.id)
  const id = ids.next()
  const row = tx
    .prepare<RuleRow>(
      `INSERT INTO rules (id, effect, tool, pattern, agent_id, folder, digest, origin, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
    )
    .get(id, effect, tool, pattern, agentId, folder, digest, origin, clock.now())!
  tx.emit({ type: 'rule.created', payload: { ruleId: id, agentId } })
  return ruleOf(row)
}

/** Throws AppError rule_not_found. */
export function deleteRule(tx: Tx, ruleId: string): void {
  const gone = tx.prepare<{ agent_id: string | null }>('DELETE FROM rules WHERE id = ? RETURNING agent_id').get(ruleId)
  if (gone === undefined) throw new AppError('rule_not_found', 'There is no such rule.')
  tx.emit({ type: 'rule.deleted', payload: { ruleId, agentId: gone.agent_id } })
}

/** Tools tell where links lead, so a rule has to name that place too: one for a link would hold for nothing. */
export function withRealFolder(text: RuleText): RuleText {
  const { folder } = text
  if (folder === null) return text
  if (!posix.isAbsolute(folder) && !win32.isAbsolute(folder)) {
    const issues = [{ path: 'folder', message: say('folder_relative') }]
    throw new AppError('invalid_request', 'Give the folder as a whole path.', { issues })
  }
  try {
    return { ...text, folder: realpathSync.native(folder) }
  } catch {
    // Not there yet: the rule waits for it under the name it was given.
    return text
  }
}

/** All rules, ready to decide. They are sorted once and again only after a change: every tool call needs them. */
export function createRuleBook(db: Database): { read(): RuleSet; close(): void } {
  let ready: RuleSet | null = null
  const close = db.onEvents(({ type }) => {
    if (type === 'rule.created' || type === 'rule.deleted' || type === 'agent.deleted') ready = null
  })
  return { read: () => (ready ??= createRuleSet(listAllRules(db))), close }
}

function ruleOf(row: RuleRow): Rule {
  return {
    id: row.id,
    effect: row.effect,
    tool: row.tool,
    pattern: row.pattern,
    agentId: row.agent_id,
    folder: row.folder,
    ...(row.digest === null ? {} : { digest: row.digest }),
    origin: row.origin,
    createdAt: row.created_at,
  }
}
