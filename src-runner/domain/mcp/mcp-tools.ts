import { createHash } from 'node:crypto'
import { and, eq, getTableColumns, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { AcceptMcpTools, McpTool, McpToolEffect } from '../../contract/mcp.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { canonicalJson } from '../../lib/json-values.ts'
import { createMessage } from '../../lib/messages.ts'
import { mcpGrants, mcpServers, mcpTools } from './mcp-table.ts'
import { agentNameOf } from './tool-names.ts'

/** A tool as its server lists it: bounded, and without invisible characters. `problem`: why it cannot be used. */
export type ListedTool = {
  name: string
  title: string | null
  description: string
  inputSchema: Record<string, unknown>
  proposal: McpToolEffect
  problem: Message | null
}

const { serverId: _server, acceptedDigest: _digest, changedAt: _at, ...COLUMNS } = getTableColumns(mcpTools)

export function listToolsOfServer(db: Db, serverId: string): McpTool[] {
  const rows = db.select(COLUMNS).from(mcpTools).where(eq(mcpTools.serverId, serverId)).orderBy(mcpTools.name).all()
  return rows.map((row) => ({ ...row, accepted: row.status === 'changed' ? row.accepted : null, tokens: tokensOf(row) }))
}

/** JSON has about three bytes to a token. */
function tokensOf({ agentName, description, inputSchema }: Pick<McpTool, 'agentName' | 'description' | 'inputSchema'>): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify({ agentName, description, inputSchema })) / 3)
}

export function digestOfTool({ name, description, inputSchema }: Pick<ListedTool, 'name' | 'description' | 'inputSchema'>): string {
  return createHash('sha256').update(canonicalJson({ name, description, inputSchema })).digest('hex')
}

/**
 * Stores what a server lists now. A tool that is not as it was accepted is taken away from agents at once. Returns whether anything
 * has changed.
 */
export function recordTools(tx: Tx, { clock }: { clock: Clock }, serverId: string, listed: readonly ListedTool[]): boolean {
  const { slug } = tx.select({ slug: mcpServers.slug }).from(mcpServers).where(eq(mcpServers.id, serverId)).get()!
  const known = new Map(
    tx
      .select()
      .from(mcpTools)
      .where(eq(mcpTools.serverId, serverId))
      .all()
      .map((row) => [row.name, row]),
  )
  const changedAt = clock.now()
  const takenNames = new Set<string>()
  let hasChanged = false
  for (const tool of listed) {
    const before = known.get(tool.name)
    known.delete(tool.name)
    const agentName = agentNameOf(slug, tool.name)
    const problem = takenNames.has(agentName) ? createMessage('mcp_tool_name_taken') : tool.problem
    takenNames.add(agentName)
    const digest = digestOfTool(tool)
    const status = statusOf(before?.acceptedDigest ?? null, digest, problem)
    if (before?.digest === digest && before.status === status && before.title === tool.title && before.proposal === tool.proposal) continue
    const row = { ...tool, agentName, problem, digest, status, changedAt }
    tx.insert(mcpTools)
      .values({ serverId, ...row })
      .onConflictDoUpdate({ target: [mcpTools.serverId, mcpTools.name], set: row })
      .run()
    hasChanged = true
  }
  for (const { name, status } of known.values()) {
    if (status === 'gone') continue
    tx.update(mcpTools).set({ status: 'gone', changedAt }).where(isTool(serverId, name)).run()
    hasChanged = true
  }
  if (hasChanged) tx.emit({ type: 'mcp_server.changed', payload: { mcpServerId: serverId } })
  return hasChanged
}

function statusOf(acceptedDigest: string | null, digest: string, problem: Message | null): McpTool['status'] {
  if (acceptedDigest === null) return 'new'
  return acceptedDigest === digest && problem === null ? 'accepted' : 'changed'
}

function isTool(serverId: string | Placeholder, name: string | Placeholder) {
  return and(eq(mcpTools.serverId, serverId), eq(mcpTools.name, name))
}

/** Accepts what was shown, or takes it back. Throws AppError mcp_tool_changed if one of the tools is not as it was shown. */
export function acceptTools(tx: Tx, serverId: string, { tools }: AcceptMcpTools): void {
  for (const { name, digest, effect } of tools) {
    const row = tx.select().from(mcpTools).where(isTool(serverId, name)).get()
    if (row === undefined || row.digest !== digest || row.status === 'gone') throw new AppError('mcp_tool_changed')
    if (effect !== null && row.problem !== null) throw new AppError('mcp_tool_changed', row.problem)
    const { description, inputSchema } = row
    const accepted = { description, inputSchema }
    const change =
      effect === null
        ? { effect, acceptedDigest: null, accepted: null, status: 'new' as const }
        : { effect, acceptedDigest: digest, accepted, status: 'accepted' as const }
    tx.update(mcpTools).set(change).where(isTool(serverId, name)).run()
  }
  tx.emit({ type: 'mcp_server.changed', payload: { mcpServerId: serverId } })
}

/** After its server was given another program or address. */
export function forgetTools(tx: Tx, serverId: string): void {
  tx.delete(mcpTools).where(eq(mcpTools.serverId, serverId)).run()
}

/** An accepted tool that an agent may call. */
export type AgentMcpTool = Pick<McpTool, 'name' | 'agentName' | 'title' | 'description' | 'inputSchema' | 'digest' | 'tokens'> & {
  serverId: string
  server: string
  effect: McpToolEffect
}

const ACCEPTED = {
  serverId: mcpTools.serverId,
  server: mcpServers.name,
  name: mcpTools.name,
  agentName: mcpTools.agentName,
  title: mcpTools.title,
  description: mcpTools.description,
  inputSchema: mcpTools.inputSchema,
  digest: mcpTools.digest,
  effect: sql<McpToolEffect>`${mcpTools.effect}`,
}

/** The tools of an agent, in a fixed order. A server or tool that a person has not allowed is not among them. */
export function listToolsOfAgent(db: Db, agentId: string): AgentMcpTool[] {
  return TOOLS_OF_AGENT(db)
    .all({ agentId })
    .map((row) => ({ ...row, tokens: tokensOf(row) }))
}

const TOOLS_OF_AGENT = prepareOnce((db: Db) => selectToolsOfAgent(db))
const TOOL_OF_AGENT = prepareOnce((db: Db) => selectToolsOfAgent(db, isTool(sql.placeholder('serverId'), sql.placeholder('name'))))

function selectToolsOfAgent(db: Db, one?: SQL) {
  return db
    .select(ACCEPTED)
    .from(mcpGrants)
    .innerJoin(mcpServers, eq(mcpServers.id, mcpGrants.serverId))
    .innerJoin(mcpTools, eq(mcpTools.serverId, mcpServers.id))
    .where(
      and(
        eq(mcpGrants.agentId, sql.placeholder('agentId')),
        eq(mcpServers.enabled, true),
        eq(mcpTools.status, 'accepted'),
        one,
        sql`(${mcpGrants.tools} IS NULL OR EXISTS (SELECT 1 FROM json_each(${mcpGrants.tools}) WHERE value = ${mcpTools.name}))`,
      ),
    )
    .orderBy(mcpServers.seq, mcpTools.name)
}

/** The tools that agents of a workspace may be given. null: of all workspaces. */
export function listAcceptedTools(db: Db, entityId: string | null): AgentMcpTool[] {
  const rows = db
    .select(ACCEPTED)
    .from(mcpServers)
    .innerJoin(mcpTools, eq(mcpTools.serverId, mcpServers.id))
    .where(and(eq(mcpTools.status, 'accepted'), entityId === null ? undefined : eq(mcpServers.entityId, entityId)))
    .orderBy(mcpServers.seq, mcpTools.name)
    .all()
  return rows.map((row) => ({ ...row, tokens: tokensOf(row) }))
}

/** Whether an agent may call this tool now, as it was offered. */
export function isOffered(
  db: Db,
  agentId: string,
  { serverId, name, digest }: Pick<AgentMcpTool, 'serverId' | 'name' | 'digest'>,
): boolean {
  return TOOL_OF_AGENT(db).get({ agentId, serverId, name })?.digest === digest
}

/** How many tools of servers wait for a decision because they have changed. */
export function listServersWithChangedTools(db: Db): { serverId: string; name: string; tools: number; at: number }[] {
  return CHANGED_TOOLS(db).all()
}

const CHANGED_TOOLS = prepareOnce((db: Db) =>
  db
    .select({
      serverId: mcpServers.id,
      name: mcpServers.name,
      tools: sql<number>`count(*)`,
      at: sql<number>`max(${mcpTools.changedAt})`,
    })
    .from(mcpTools)
    .innerJoin(mcpServers, eq(mcpServers.id, mcpTools.serverId))
    .where(and(sql`${mcpTools.status} = 'changed'`, eq(mcpServers.enabled, true)))
    .groupBy(mcpServers.id),
)
