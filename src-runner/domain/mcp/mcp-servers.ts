import { and, eq, getTableColumns, ne, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy, prepareOnce } from '../../platform/db/statements.ts'
import type { CreateMcpServer, McpServer, McpTransport, UpdateMcpServer } from '../../contract/mcp.ts'
import type { Message } from '../../contract/messages.ts'

import type { Clock } from '../../lib/clock.ts'
import { AppError, required } from '../../lib/errors.ts'
import { readMessage, writeMessage } from '../../lib/messages.ts'
import { agents } from '../agents/agents-table.ts'
import { getAgent } from '../agents/agents.ts'
import { freeSlug, slugFor } from '../agents/slugs.ts'
import { findDefaultEntity, getEntity } from '../entities/entities.ts'
import { mcpGrants, mcpServers } from './mcp-table.ts'
import { forgetTools, listToolsOfServer } from './mcp-tools.ts'
import { shortSlug } from './tool-names.ts'

const { seq: _seq, statusSince: _since, ...COLUMNS } = getTableColumns(mcpServers)
const NOW = sql<number>`now_ms()`
/** How exact the time of the last use is. Each use would otherwise be a write. */
const LAST_USE_MS = 60_000

type Row = Pick<typeof mcpServers.$inferSelect, keyof typeof COLUMNS>
type Grants = CreateMcpServer['agents']

function selectServers(db: Db) {
  return db.select(COLUMNS).from(mcpServers)
}

function serverOf(db: Db, { problem, status, ...row }: Row): McpServer {
  const tools = listToolsOfServer(db, row.id)
  const usable = tools.filter((tool) => tool.status === 'accepted')
  const granted = db
    .select({ agentId: agents.id, agentName: agents.name, tools: mcpGrants.tools })
    .from(mcpGrants)
    .innerJoin(agents, eq(agents.id, mcpGrants.agentId))
    .where(eq(mcpGrants.serverId, row.id))
    .orderBy(agents.name, agents.id)
    .all()
  return {
    ...row,
    status: row.enabled ? status : 'off',
    problem: readMessage(problem),
    tools,
    agents: granted.map((grant) => ({
      ...grant,
      tokens: usable.reduce((sum, { name, tokens }) => (grant.tools?.includes(name) === false ? sum : sum + tokens), 0),
    })),
  }
}

/** In the order in which they were added. With `agentId`, those that the agent may use. */
export function listMcpServers(db: Db, { agentId, entityId }: { agentId?: string; entityId?: string | undefined } = {}): McpServer[] {
  const isOfAgent =
    agentId === undefined ? undefined : sql`${mcpServers.id} IN (SELECT server_id FROM mcp_grants WHERE agent_id = ${agentId})`
  return selectServers(db)
    .where(and(isOfAgent, filterBy(mcpServers.entityId, entityId)))
    .orderBy(mcpServers.seq)
    .all()
    .map((row) => serverOf(db, row))
}

export function findMcpServer(db: Db, serverId: string): McpServer | null {
  const row = selectServers(db).where(eq(mcpServers.id, serverId)).get()
  return row === undefined ? null : serverOf(db, row)
}

/** Throws AppError mcp_server_not_found. */
export function getMcpServer(db: Db, serverId: string): McpServer {
  return required(findMcpServer(db, serverId), 'mcp_server_not_found')
}

/** What a connection needs, without tools and grants. */
export function findConnectableServer(
  db: Db,
  serverId: string,
): Pick<Row, 'id' | 'name' | 'slug' | 'transport' | 'enabled' | 'mayAskModel'> | null {
  const { id, name, slug, transport, enabled, mayAskModel } = COLUMNS
  return db.select({ id, name, slug, transport, enabled, mayAskModel }).from(mcpServers).where(eq(mcpServers.id, serverId)).get() ?? null
}

/** Throws AppError entity_not_found, or agent_not_found for an agent of another workspace. */
export function insertMcpServer(
  tx: Tx,
  { clock }: { clock: Clock },
  { id, name, transport, entityId, agents: grants }: Omit<CreateMcpServer, 'env' | 'headers'> & { id: string },
): McpServer {
  const entity = entityId === undefined ? findDefaultEntity(tx) : getEntity(tx, entityId)
  const given = name ?? nameFor(transport)
  const taken = new Set(
    tx
      .select({ slug: mcpServers.slug })
      .from(mcpServers)
      .all()
      .map((row) => row.slug),
  )
  tx.insert(mcpServers)
    .values({
      id,
      entityId: entity.id,
      name: given,
      slug: freeSlug(shortSlug(slugFor(given, 'server')), taken),
      transport,
      enabled: true,
      status: 'stopped',
      statusSince: NOW,
      problem: '',
      createdAt: clock.now(),
    })
    .run()
  grantAgents(tx, id, entity.id, grants)
  tx.emit({ type: 'mcp_server.created', payload: { mcpServerId: id } })
  return getMcpServer(tx, id)
}

/** The host of an address, or the name of a program. */
export function nameFor(transport: McpTransport): string {
  if (transport.kind !== 'stdio') return URL.canParse(transport.url) ? new URL(transport.url).hostname.slice(0, 120) : 'server'
  const nameOf = (path: string) =>
    path
      .split(/[\\/]/)
      .map((part) => part.replace(/\.\w+$/, ''))
      .findLast((part) => part !== '' && !/^(index|main|cli|dist|build|bin|src|lib)$/.test(part))
  const program = nameOf(transport.command)
  const isStarter = /^(npx|uvx|bunx|pnpx|node|python3?|deno)$/.test(program ?? '')
  const named = isStarter ? transport.args.find((arg) => !arg.startsWith('-')) : undefined
  return ((named === undefined ? undefined : nameOf(named)) ?? program ?? 'server').slice(0, 120)
}

/** Fields that are left out stay. Throws AppError mcp_server_not_found or agent_not_found. */
export function updateMcpServer(
  tx: Tx,
  serverId: string,
  { name, transport, enabled, mayAskModel, agents: grants }: Omit<UpdateMcpServer, 'env' | 'headers'>,
): McpServer {
  const before = getMcpServer(tx, serverId)
  const isOther = transport !== undefined && !isSameServer(before.transport, transport)
  tx.update(mcpServers)
    .set({
      name: name ?? before.name,
      transport: transport ?? before.transport,
      enabled: enabled ?? before.enabled,
      // It was allowed to what ran before.
      mayAskModel: mayAskModel ?? (before.mayAskModel && !isOther),
      status: 'stopped',
      statusSince: NOW,
      problem: '',
    })
    .where(eq(mcpServers.id, serverId))
    .run()
  if (isOther) forgetTools(tx, serverId)
  if (grants !== undefined) grantAgents(tx, serverId, before.entityId, grants)
  tx.emit({ type: 'mcp_server.changed', payload: { mcpServerId: serverId } })
  return getMcpServer(tx, serverId)
}

/** The server is called with this account from now on. Does nothing if it was deleted meanwhile. */
export function signMcpServerIn(tx: Tx, serverId: string, credentialId: string): void {
  const server = findMcpServer(tx, serverId)
  if (server === null || server.transport.kind === 'stdio') return
  updateMcpServer(tx, serverId, { transport: { ...server.transport, credentialId } })
}

/** Its account was disconnected. Does nothing if it was deleted, or is called with another one. */
export function signMcpServerOut(tx: Tx, serverId: string, credentialId: string): void {
  const server = findMcpServer(tx, serverId)
  if (server === null || server.transport.kind === 'stdio' || server.transport.credentialId !== credentialId) return
  updateMcpServer(tx, serverId, { transport: { ...server.transport, credentialId: null } })
}

/** Whether the same program or address answers, so that what was accepted of the one holds for the other. */
export function isSameServer(before: McpTransport, after: McpTransport): boolean {
  if (before.kind === 'stdio' || after.kind === 'stdio') {
    if (before.kind !== 'stdio' || after.kind !== 'stdio') return false
    return before.command === after.command && JSON.stringify(before.args) === JSON.stringify(after.args)
  }
  return URL.canParse(before.url) && URL.canParse(after.url) && new URL(before.url).href === new URL(after.url).href
}

function grantAgents(tx: Tx, serverId: string, entityId: string, grants: Grants): void {
  tx.delete(mcpGrants).where(eq(mcpGrants.serverId, serverId)).run()
  const byAgent = new Map(grants.map((grant) => [grant.agentId, grant.tools]))
  for (const [agentId, tools] of byAgent) {
    if (getAgent(tx, agentId).entityId !== entityId) throw new AppError('agent_not_found')
    tx.insert(mcpGrants).values({ agentId, serverId, tools }).run()
  }
}

export function deleteMcpGrantsOfAgent(tx: Tx, agentId: string): void {
  tx.delete(mcpGrants).where(eq(mcpGrants.agentId, agentId)).run()
}

/** Its tools and grants go with it. Throws AppError mcp_server_not_found. */
export function deleteMcpServer(tx: Tx, serverId: string): McpServer {
  const server = getMcpServer(tx, serverId)
  tx.delete(mcpServers).where(eq(mcpServers.id, serverId)).run()
  tx.emit({ type: 'mcp_server.deleted', payload: { mcpServerId: serverId, entityId: server.entityId } })
  return server
}

/** Does nothing if nothing has changed or the server was deleted meanwhile. */
export function setMcpServerStatus(tx: Tx, serverId: string, status: Row['status'], why: Message | null): void {
  const problem = writeMessage(why)
  const { changes } = tx
    .update(mcpServers)
    .set({
      status,
      problem,
      statusSince: sql`CASE WHEN ${mcpServers.status} = ${status} THEN ${mcpServers.statusSince} ELSE now_ms() END`,
    })
    .where(and(eq(mcpServers.id, serverId), or(ne(mcpServers.status, status), ne(mcpServers.problem, problem))))
    .run()
  if (changes > 0) tx.emit({ type: 'mcp_server.changed', payload: { mcpServerId: serverId } })
}

/** What a started server says of itself, and how it runs. */
export function noteMcpServerRun(tx: Tx, serverId: string, run: { version: string | null; sandboxed: boolean | null }): void {
  tx.update(mcpServers).set(run).where(eq(mcpServers.id, serverId)).run()
  setMcpServerStatus(tx, serverId, 'stopped', null)
  tx.emit({ type: 'mcp_server.changed', payload: { mcpServerId: serverId } })
}

/** There is no event, because open pages would read the list again each minute. */
export function noteMcpServerUse(tx: Tx, serverId: string, now: number): void {
  const isDue = sql`(${mcpServers.lastUsedAt} IS NULL OR abs(${mcpServers.lastUsedAt} - ${now}) >= ${LAST_USE_MS})`
  tx.update(mcpServers)
    .set({ lastUsedAt: now })
    .where(and(eq(mcpServers.id, serverId), isDue))
    .run()
}

/** Servers that only a person can repair. */
export function listFailingServers(db: Db): { serverId: string; name: string; status: Row['status']; problem: string; at: number }[] {
  return FAILING(db).all()
}

const FAILING = prepareOnce((db: Db) => {
  const { id: serverId, name, status, problem, statusSince: at } = mcpServers
  return db
    .select({ serverId, name, status, problem, at })
    .from(mcpServers)
    .where(and(eq(mcpServers.enabled, true), ne(status, 'stopped')))
})
