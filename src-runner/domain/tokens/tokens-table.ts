import { blob, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { moment, checks, idOf } from '../../platform/db/column-types.ts'
import { entities } from '../entities/entities-table.ts'

export const apiTokens = sqliteTable(
  'api_tokens',
  {
    id: text('id').primaryKey(),
    // SHA-256 of the token, which is stored nowhere.
    digest: blob('digest', { mode: 'buffer' }).notNull().unique(),
    // The first characters, by which a person recognizes it.
    hint: text('hint').notNull(),
    name: text('name').notNull(),
    entityId: idOf('entity_id', () => entities.id),
    // The account that created it. null: the owner of the installation.
    userId: text('user_id'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at'),
    lastUsedAt: moment('last_used_at'),
    revokedAt: moment('revoked_at'),
  },
  (t) => [...checks(t, 'length(digest) = 32')],
)
