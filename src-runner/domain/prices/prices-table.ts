import { primaryKey, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { micros, moment, checks, idOf } from '../../platform/db/column-types.ts'
import { providers } from '../providers/providers-table.ts'

export const modelPrices = sqliteTable(
  'model_prices',
  {
    providerId: idOf('provider_id', () => providers.id, { onDelete: 'cascade' }),
    model: text('model').notNull(),
    inputMicros: micros('input_micros').notNull(),
    outputMicros: micros('output_micros').notNull(),
    cachedInputMicros: micros('cached_input_micros'),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [
    ...checks(t, 'input_micros >= 0', 'output_micros >= 0', 'cached_input_micros >= 0'),
    primaryKey({ columns: [t.providerId, t.model] }),
  ],
)
