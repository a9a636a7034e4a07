import { and, eq, gt, inArray, lt, lte, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { AUTHORIZATION_LIVES_MS, type Authorization } from '../../contract/credentials.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { required } from '../../lib/errors.ts'
import { readMessage, writeMessage } from '../../lib/messages.ts'
import { authorizations } from './credentials-table.ts'

export type AuthorizationRow = typeof authorizations.$inferSelect
type End = Extract<Authorization['status'], 'connected' | 'failed' | 'cancelled' | 'expired'>

export type NewAuthorization = Pick<
  AuthorizationRow,
  'id' | 'entityId' | 'connector' | 'method' | 'plan' | 'redirectUri' | 'credentialId' | 'mcpServerId' | 'resource'
>
/** What the service said at the start of a device flow. */
export type DeviceCode = { userCode: string; verificationUrl: string; pollIntervalMs: number; expiresAt: number }

/** How long a sign-in that has ended can be asked for. */
const KEPT_MS = 24 * 3_600_000
const OPEN = ['waiting', 'begun', 'exchanging'] as const
const isOpen = inArray(authorizations.status, [...OPEN])

/** The caller has stored its secrets. */
export function insertAuthorization(
  tx: Tx,
  { clock }: { clock: Clock },
  authorization: NewAuthorization,
  device?: DeviceCode,
): Authorization {
  const createdAt = clock.now()
  const polling = device && { nextPollAt: createdAt + device.pollIntervalMs }
  tx.insert(authorizations)
    .values({
      ...authorization,
      status: 'waiting',
      problem: '',
      createdAt,
      expiresAt: createdAt + AUTHORIZATION_LIVES_MS,
      ...device,
      ...polling,
    })
    .run()
  return getAuthorization(tx, authorization.id)
}

export function findAuthorizationRow(db: Db, authorizationId: string): AuthorizationRow | null {
  return db.select().from(authorizations).where(eq(authorizations.id, authorizationId)).get() ?? null
}

/** Throws AppError authorization_not_found. */
export function getAuthorization(db: Db, authorizationId: string): Authorization {
  const row = required(findAuthorizationRow(db, authorizationId), 'authorization_not_found')
  const {
    id,
    connector,
    method,
    status,
    problem,
    redirectUri,
    userCode,
    verificationUrl,
    credentialId,
    mcpServerId,
    createdAt,
    expiresAt,
  } = row
  return {
    id,
    connector,
    method,
    redirectUri,
    credentialId,
    mcpServerId,
    createdAt,
    expiresAt,
    status: status === 'begun' || status === 'exchanging' ? 'waiting' : status,
    problem: readMessage(problem),
    device: userCode === null || verificationUrl === null ? null : { userCode, verificationUrl },
  }
}

export type Digests = { stateDigest: Buffer; sessionDigest: Buffer }

/** A browser is sent to the service. An earlier one of the same sign-in no longer counts. false: the sign-in has ended. */
export function beginAuthorization(tx: Tx, authorizationId: string, digests: Digests, now: number): boolean {
  const mayBegin = and(isLive(authorizationId, now), inArray(authorizations.status, ['waiting', 'begun']))
  return change(
    tx,
    authorizationId,
    tx
      .update(authorizations)
      .set({ ...digests, status: 'begun' })
      .where(mayBegin)
      .run(),
  )
}

/** Takes the one answer that counts. false: it was taken, or the sign-in has ended. */
export function takeAnswer(tx: Tx, authorizationId: string, stateDigest: Buffer, now: number): boolean {
  const isExpected = and(isLive(authorizationId, now), eq(authorizations.status, 'begun'), eq(authorizations.stateDigest, stateDigest))
  return change(tx, authorizationId, tx.update(authorizations).set({ status: 'exchanging' }).where(isExpected).run())
}

/** Does nothing if it has ended already. Returns whether it was open. */
export function endAuthorization(
  tx: Tx,
  authorizationId: string,
  status: End,
  { problem = null, credentialId }: { problem?: Message | null; credentialId?: string } = {},
): boolean {
  const ended = { status, problem: writeMessage(problem), ...(credentialId === undefined ? {} : { credentialId }) }
  const wasOpen = and(eq(authorizations.id, authorizationId), isOpen)
  return change(tx, authorizationId, tx.update(authorizations).set(ended).where(wasOpen).run())
}

/** Whether its end is still awaited. */
export function isAuthorizationOpen(db: Db, authorizationId: string): boolean {
  return (
    db
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(and(eq(authorizations.id, authorizationId), isOpen))
      .get() !== undefined
  )
}

function isLive(authorizationId: string, now: number) {
  return and(eq(authorizations.id, authorizationId), gt(authorizations.expiresAt, now))
}

function change(tx: Tx, authorizationId: string, { changes }: { changes: number }): boolean {
  if (changes > 0) tx.emit({ type: 'authorization.changed', payload: { authorizationId } })
  return changes > 0
}

/** Sign-ins whose time is over. */
export function listExpired(db: Db, now: number): AuthorizationRow[] {
  return EXPIRED(db).all({ now })
}

const EXPIRED = prepareOnce((db: Db) =>
  db
    .select()
    .from(authorizations)
    .where(and(sql`status IN ('waiting', 'begun', 'exchanging')`, lte(authorizations.expiresAt, sql.placeholder('now')))),
)

/** Sign-ins whose answer was being exchanged when the last process ended. */
export function listInterrupted(db: Db): AuthorizationRow[] {
  return db
    .select()
    .from(authorizations)
    .where(and(sql`status IN ('waiting', 'begun', 'exchanging')`, eq(authorizations.status, 'exchanging')))
    .all()
}

/** Sign-ins by a code that somebody types elsewhere, the one to ask about first at the beginning. */
export function listWaitingDevices(db: Db): AuthorizationRow[] {
  return db
    .select()
    .from(authorizations)
    .where(
      and(sql`status IN ('waiting', 'begun', 'exchanging')`, eq(authorizations.status, 'waiting'), eq(authorizations.method, 'device')),
    )
    .orderBy(authorizations.nextPollAt)
    .all()
}

export function postponePoll(tx: Tx, authorizationId: string, next: { pollIntervalMs: number; nextPollAt: number }): void {
  tx.update(authorizations).set(next).where(eq(authorizations.id, authorizationId)).run()
}

/** Forgets the ones that have ended long ago. */
export function pruneAuthorizations(tx: Tx, now: number): void {
  PRUNE(tx).run({ before: now - KEPT_MS })
}

const PRUNE = prepareOnce((tx: Tx) => tx.delete(authorizations).where(lt(authorizations.expiresAt, sql.placeholder('before'))))
