import { hash, randomBytes } from 'node:crypto'
import { and, desc, eq, isNull, lte, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { AccessToken, CreateToken } from '../../contract/tokens.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, invalidAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import type { Ids } from '../../lib/ids.ts'
import { findDefaultEntity, getEntity } from '../entities/entities.ts'
import { entities } from '../entities/entities-table.ts'
import { apiTokens } from './tokens-table.ts'

const PREFIX = 'dkh_'
const HINT_CHARS = 10
/** How exact the time of the last use is. Each use would otherwise be a write. */
const LAST_USE_MS = 60_000

const { id, name, hint, entityId, userId, createdAt, expiresAt, lastUsedAt } = apiTokens
const COLUMNS = { id, name, hint, entityId, userId, createdAt, expiresAt, lastUsedAt }

/** Whose tokens are meant. Absent: those of all workspaces. */
export type TokenHolder = { entityId?: string | undefined; userId?: string | null }

function isHeldBy(holder: TokenHolder) {
  if (holder.entityId === undefined) return isNull(apiTokens.revokedAt)
  return and(isNull(apiTokens.revokedAt), eq(entityId, holder.entityId), sql`user_id IS ${holder.userId ?? null}`)
}

/** Newest first, without the revoked ones. */
export function listTokens(db: Db, holder: TokenHolder): AccessToken[] {
  return selectTokens(db).where(isHeldBy(holder)).orderBy(desc(createdAt), desc(id)).all()
}

function selectTokens(db: Db) {
  return db
    .select({ ...COLUMNS, entityName: entities.name })
    .from(apiTokens)
    .innerJoin(entities, eq(entities.id, entityId))
}

/**
 * `token` is returned only here, and only its digest is stored. Throws AppError entity_not_found, or invalid_request for a
 * time that is over.
 */
export function createToken(
  tx: Tx,
  { clock, ids }: { clock: Clock; ids: Ids },
  { userId: creator, ...input }: CreateToken & { userId: string | null },
): { accessToken: AccessToken; token: string } {
  const at = clock.now()
  if (input.expiresAt !== null && input.expiresAt <= at) throw invalidAt('expiresAt', createMessage('token_expiry_over'))
  const entity = input.entityId === undefined ? findDefaultEntity(tx) : getEntity(tx, input.entityId)
  const token = `${PREFIX}${randomBytes(32).toString('hex')}`
  const row = { id: ids.next(), name: input.name, hint: token.slice(0, HINT_CHARS), entityId: entity.id, userId: creator }
  tx.insert(apiTokens)
    .values({ ...row, digest: digestOf(token), createdAt: at, expiresAt: input.expiresAt })
    .run()
  tx.emit({ type: 'token.created', payload: { tokenId: row.id } })
  return { accessToken: selectTokens(tx).where(eq(id, row.id)).get()!, token }
}

/** Throws AppError token_not_found, also for the token of another holder. */
export function revokeToken(tx: Tx, { clock }: { clock: Clock }, tokenId: string, holder: TokenHolder): void {
  const { changes } = tx
    .update(apiTokens)
    .set({ revokedAt: clock.now() })
    .where(and(eq(id, tokenId), isHeldBy(holder)))
    .run()
  if (changes === 0) throw new AppError('token_not_found')
  tx.emit({ type: 'token.revoked', payload: { tokenId } })
}

export type TokenUse = { tokenId: string; entityId: string; userId: string | null; createdAt: number; isUseDue: boolean }

const BY_DIGEST = prepareOnce((db: Db) =>
  db
    .select({ tokenId: id, entityId, userId, createdAt, expiresAt, lastUsedAt })
    .from(apiTokens)
    .where(and(eq(apiTokens.digest, sql.placeholder('digest')), isNull(apiTokens.revokedAt))),
)

/** What a valid token reaches. `isUseDue`: its use is to be noted. null: it is unknown, revoked or expired. */
export function findTokenUse(db: Db, token: string, now: number): TokenUse | null {
  const row = BY_DIGEST(db).get({ digest: digestOf(token) })
  if (row === undefined || (row.expiresAt !== null && row.expiresAt <= now)) return null
  const { expiresAt: _, lastUsedAt: before, ...use } = row
  return { ...use, isUseDue: before === null || Math.abs(now - before) >= LAST_USE_MS }
}

/** Revokes those that an account created up to this time. */
export function revokeTokensOfUser(tx: Tx, { clock }: { clock: Clock }, user: string, until: number): void {
  const revoked = tx
    .update(apiTokens)
    .set({ revokedAt: clock.now() })
    .where(and(eq(userId, user), lte(createdAt, until), isNull(apiTokens.revokedAt)))
    .returning({ tokenId: id })
    .all()
  for (const payload of revoked) tx.emit({ type: 'token.revoked', payload })
}

/** There is no event, because open pages would read the list again each minute. */
export function noteTokenUse(tx: Tx, tokenId: string, now: number): void {
  tx.update(apiTokens).set({ lastUsedAt: now }).where(eq(id, tokenId)).run()
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
