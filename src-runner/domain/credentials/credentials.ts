import { and, desc, eq, getTableColumns, inArray, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy, prepareOnce } from '../../platform/db/statements.ts'
import type { Credential, CredentialGrant, UpdateCredential } from '../../contract/credentials.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, required } from '../../lib/errors.ts'
import { readMessage, writeMessage } from '../../lib/messages.ts'
import { getAgent } from '../agents/agents.ts'
import { agents } from '../agents/agents-table.ts'
import { credentialGrants, credentials } from './credentials-table.ts'

const { seq: _, statusSince: __, endpoints: ___, resource: ____, ...SHOWN } = getTableColumns(credentials)

/** How a token is renewed and revoked. */
export type CredentialRow = typeof credentials.$inferSelect

export type NewCredential = Pick<
  typeof credentials.$inferInsert,
  'id' | 'entityId' | 'connector' | 'kind' | 'name' | 'accountName' | 'hosts' | 'scopes'
> &
  Partial<Pick<CredentialRow, 'endpoints' | 'mcpServerId' | 'resource' | 'expiresAt' | 'renews'>> & { agents: readonly CredentialGrant[] }

const NOW = sql<number>`now_ms()`

/** Newest first. */
export function listCredentials(db: Db, { agentId, entityId }: { agentId?: string; entityId?: string | undefined } = {}): Credential[] {
  const ofEntity = filterBy(credentials.entityId, entityId)
  const rows = selectCredentials(db, and(agentId === undefined ? undefined : isOfAgent(db, agentId), ofEntity)).all()
  return rows.map((row) => shown(db, row))
}

/** Those that an agent was given, newest first. */
export function listCredentialsOfAgent(db: Db, agentId: string): Credential[] {
  return CREDENTIALS_OF_AGENT(db)
    .all({ agentId })
    .map((row) => shown(db, row))
}

const CREDENTIALS_OF_AGENT = prepareOnce((db: Db) => selectCredentials(db, isOfAgent(db, sql.placeholder('agentId'))))

function selectCredentials(db: Db, where: SQL | undefined) {
  return db.select(SHOWN).from(credentials).where(where).orderBy(desc(credentials.seq))
}

function isOfAgent(db: Db, agentId: string | Placeholder) {
  const granted = db.select({ id: credentialGrants.credentialId }).from(credentialGrants)
  return inArray(credentials.id, granted.where(eq(credentialGrants.agentId, agentId)))
}

export function findCredential(db: Db, credentialId: string): Credential | null {
  const row = db.select(SHOWN).from(credentials).where(eq(credentials.id, credentialId)).get()
  return row === undefined ? null : shown(db, row)
}

/** Throws AppError credential_not_found. */
export function getCredential(db: Db, credentialId: string): Credential {
  return required(findCredential(db, credentialId), 'credential_not_found')
}

/** With what no response has. */
export function findCredentialRow(db: Db, credentialId: string): CredentialRow | null {
  return db.select().from(credentials).where(eq(credentials.id, credentialId)).get() ?? null
}

export function findCredentialOfMcpServer(db: Db, mcpServerId: string): CredentialRow | null {
  const isOfServer = sql`mcp_server_id IS NOT NULL AND mcp_server_id = ${mcpServerId}`
  return db.select().from(credentials).where(isOfServer).get() ?? null
}

function shown(db: Db, { problem, ...row }: Pick<CredentialRow, keyof typeof SHOWN>): Credential {
  const grants = db
    .select({ agentId: credentialGrants.agentId, access: credentialGrants.access, agentName: agents.name })
    .from(credentialGrants)
    .innerJoin(agents, eq(agents.id, credentialGrants.agentId))
    .where(eq(credentialGrants.credentialId, row.id))
    .orderBy(agents.name)
    .all()
  return { ...row, problem: readMessage(problem), agents: grants }
}

/** The caller has stored its secret. Throws AppError agent_not_found. */
export function insertCredential(tx: Tx, { clock }: { clock: Clock }, { agents: grants, ...credential }: NewCredential): Credential {
  tx.insert(credentials)
    .values({
      ...credential,
      status: 'connected',
      problem: '',
      statusSince: NOW,
      renews: credential.renews ?? false,
      createdAt: clock.now(),
    })
    .run()
  setGrants(tx, credential, grants)
  tx.emit({ type: 'credential.created', payload: { credentialId: credential.id } })
  return getCredential(tx, credential.id)
}

/** Throws AppError credential_not_found or agent_not_found. */
export function updateCredential(tx: Tx, credentialId: string, { name, agents: grants }: UpdateCredential): Credential {
  const before = getCredential(tx, credentialId)
  if (name !== undefined) tx.update(credentials).set({ name }).where(eq(credentials.id, credentialId)).run()
  if (grants !== undefined) setGrants(tx, before, grants)
  tx.emit({ type: 'credential.changed', payload: { credentialId } })
  return getCredential(tx, credentialId)
}

/** An account is for agents of its own workspace. */
function setGrants(tx: Tx, { id, entityId }: { id: string; entityId: string }, grants: readonly CredentialGrant[]): void {
  tx.delete(credentialGrants).where(eq(credentialGrants.credentialId, id)).run()
  for (const { agentId, access } of new Map(grants.map((grant) => [grant.agentId, grant])).values()) {
    if (getAgent(tx, agentId).entityId !== entityId) throw new AppError('agent_not_found')
    tx.insert(credentialGrants).values({ credentialId: id, agentId, access }).run()
  }
}

/** It signed in again. The caller has stored its secret. Throws AppError credential_not_found. */
export function reconnectCredential(
  tx: Tx,
  credentialId: string,
  change: Partial<Pick<CredentialRow, 'accountName' | 'hosts' | 'scopes' | 'endpoints' | 'resource' | 'expiresAt' | 'renews'>>,
): Credential {
  const { status } = getCredential(tx, credentialId)
  const now = status === 'connected' ? {} : { status: 'connected' as const, statusSince: NOW }
  tx.update(credentials)
    .set({ ...change, ...now, problem: '' })
    .where(eq(credentials.id, credentialId))
    .run()
  tx.emit({ type: 'credential.changed', payload: { credentialId } })
  return getCredential(tx, credentialId)
}

/** It has other tokens, which are stored. false: it is gone. */
export function noteRenewal(tx: Tx, credentialId: string, expiresAt: number | null): boolean {
  const { changes } = tx.update(credentials).set({ expiresAt }).where(eq(credentials.id, credentialId)).run()
  if (changes > 0) tx.emit({ type: 'credential.changed', payload: { credentialId } })
  return changes > 0
}

/** The service refuses it until a person signs in again. Does nothing if that is known already, or if it is gone. */
export function requireSignIn(tx: Tx, credentialId: string, problem: Message): void {
  const { changes } = tx
    .update(credentials)
    .set({ status: 'needs_sign_in', statusSince: NOW, problem: writeMessage(problem) })
    .where(and(eq(credentials.id, credentialId), eq(credentials.status, 'connected')))
    .run()
  if (changes > 0) tx.emit({ type: 'credential.changed', payload: { credentialId } })
}

/** There is no event, because open pages would read the list again each minute. */
export function noteCredentialUse(tx: Tx, credentialId: string, now: number): void {
  tx.update(credentials).set({ lastUsedAt: now }).where(eq(credentials.id, credentialId)).run()
}

/** Throws AppError credential_not_found. */
export function deleteCredential(tx: Tx, credentialId: string): void {
  const { entityId } = getCredential(tx, credentialId)
  tx.delete(credentials).where(eq(credentials.id, credentialId)).run()
  tx.emit({ type: 'credential.deleted', payload: { credentialId, entityId } })
}

/** What the agent may do with the account. null: it may not use it. */
export function findGrant(db: Db, credentialId: string, agentId: string): CredentialGrant['access'] | null {
  const isGranted = and(eq(credentialGrants.credentialId, credentialId), eq(credentialGrants.agentId, agentId))
  return db.select({ access: credentialGrants.access }).from(credentialGrants).where(isGranted).get()?.access ?? null
}

export function deleteGrantsOfAgent(tx: Tx, agentId: string): void {
  const ended = tx.delete(credentialGrants).where(eq(credentialGrants.agentId, agentId)).returning().all()
  for (const { credentialId } of ended) tx.emit({ type: 'credential.changed', payload: { credentialId } })
}
