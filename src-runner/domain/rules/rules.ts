import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, posix, win32 } from 'node:path'
import { and, desc, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { Database, Db, Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { Rule, RuleText } from '../../contract/rules.ts'
import { AppError, invalidAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { getAgent, isAgentOf } from '../agents/agents.ts'
import { decodeSeqCursor, pageOf } from '../cursors.ts'
import { createRuleSet, type RuleSet } from './rule-set.ts'
import { rules } from './rules-table.ts'

/**
 * Newest first. With `agentId`, that agent's rules and those for every agent. With `entityId`, only rules for its agents. Throws
 * AppError invalid_request for a wrong cursor.
 */
export function listRules(
  db: Db,
  { agentId, entityId, cursor, limit }: { agentId?: string; entityId?: string | undefined; cursor?: string; limit: number },
): { rules: Rule[]; nextCursor: string | null } {
  const rows = db
    .select()
    .from(rules)
    .where(
      and(
        lt(rules.seq, decodeSeqCursor(cursor)),
        agentId === undefined ? undefined : or(isNull(rules.agentId), eq(rules.agentId, agentId)),
        isAgentOf(rules.agentId, entityId),
      ),
    )
    .orderBy(desc(rules.seq))
    .limit(limit + 1)
    .all()
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { rules: page.rows.map(ruleOf), nextCursor: page.nextCursor }
}

/**
 * Returns the existing rule if one says the same. Throws AppError agent_not_found, or invalid_request for a folder that is
 * not an absolute path.
 */
export function createRule(tx: Tx, { clock, ids }: Pick<Services, 'clock' | 'ids'>, text: RuleText, origin: Rule['origin']): Rule {
  const { effect, tool, pattern, agentId, folder, digest = null } = withRealFolder(text)
  if (agentId !== null) getAgent(tx, agentId)
  const alike = tx
    .select()
    .from(rules)
    .where(
      and(
        eq(rules.effect, effect),
        eq(rules.tool, tool),
        sql`${rules.pattern} IS ${pattern}`,
        sql`${rules.agentId} IS ${agentId}`,
        sql`${rules.folder} IS ${folder}`,
      ),
    )
    .all()
  const same = alike.find((row) => row.digest === digest)
  if (same !== undefined) return ruleOf(same)
  // The command that the earlier rule was bound to has changed, so that rule matches nothing any more.
  if (digest !== null) for (const row of alike) if (row.digest !== null) deleteRule(tx, row.id)
  const row = tx
    .insert(rules)
    .values({ id: ids.next(), effect, tool, pattern, agentId, folder, digest, origin, createdAt: clock.now() })
    .returning()
    .get()
  tx.emit({ type: 'rule.created', payload: { ruleId: row.id, agentId } })
  return ruleOf(row)
}

/** Throws AppError rule_not_found. */
export function deleteRule(tx: Tx, ruleId: string): void {
  const deleted = tx.delete(rules).where(eq(rules.id, ruleId)).returning({ agentId: rules.agentId }).get()
  if (deleted === undefined) throw new AppError('rule_not_found')
  tx.emit({ type: 'rule.deleted', payload: { ruleId, agentId: deleted.agentId } })
}

export function deleteRulesOfAgent(tx: Tx, agentId: string): void {
  tx.delete(rules).where(eq(rules.agentId, agentId)).run()
}

/** The rules for tools whose names begin with `prefix`. */
export function deleteRulesOfTools(tx: Tx, prefix: string): void {
  const found = tx
    .select({ id: rules.id })
    .from(rules)
    .where(sql`substr(${rules.tool}, 1, ${prefix.length}) = ${prefix}`)
    .all()
  for (const { id } of found) deleteRule(tx, id)
}

/** Tools report where links lead, so a rule names that place too. Otherwise a rule for a link would match nothing. */
export function withRealFolder(text: RuleText): RuleText {
  const { folder } = text
  if (folder === null) return text
  if (!posix.isAbsolute(folder) && !win32.isAbsolute(folder)) throw invalidAt('folder', createMessage('folder_relative'))
  return { ...text, folder: isAbsolute(folder) ? realPathOf(folder) : folder }
}

/** Of a folder that may not exist yet: the part that does leads where it leads, and the rest keeps its name. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realPathOf(above), basename(path))
  }
}

/** All rules, sorted for matching. Every tool call needs them, so they are kept until they change. */
export function createRuleBook(db: Database): { read(): RuleSet; close(): void } {
  let ready: RuleSet | null = null
  const close = db.onEvents(({ type }) => {
    if (type === 'rule.created' || type === 'rule.deleted' || type === 'agent.deleted') ready = null
  })
  return { read: () => (ready ??= createRuleSet(listAllRules(db))), close }
}

export function listAllRules(db: Db): Rule[] {
  return db.select().from(rules).orderBy(rules.seq).all().map(ruleOf)
}

function ruleOf({ seq: _seq, digest, ...rule }: typeof rules.$inferSelect): Rule {
  return digest === null ? rule : { ...rule, digest }
}
