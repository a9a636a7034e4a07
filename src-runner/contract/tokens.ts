import { z } from 'zod'
import { Id, Moment, Name } from './primitives.ts'

/** How an access token looks: a prefix for secret scanners, then 256 random bits. */
export const TOKEN_FORM = /\bdkh_[0-9a-f]{64}\b/

export const AccessToken = z.object({
  id: Id,
  name: z.string(),
  /** Its first characters. The rest is stored nowhere. */
  hint: z.string(),
  entityId: Id,
  entityName: z.string(),
  /** The account that created it. null: the owner of this installation. */
  userId: z.string().nullable(),
  createdAt: Moment,
  /** null: never. */
  expiresAt: Moment.nullable(),
  /** To the minute. null: never. */
  lastUsedAt: Moment.nullable(),
})
export type AccessToken = z.infer<typeof AccessToken>

export const CreateToken = z.object({
  name: Name,
  /** null: it never expires. */
  expiresAt: Moment.nullable(),
  /** The workspace that the token reaches. Default: the caller's. */
  entityId: Id.optional(),
})
export type CreateToken = z.infer<typeof CreateToken>
