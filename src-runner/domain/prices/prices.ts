import { and, eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { ModelRef } from '../../contract/agents.ts'
import type { Price } from '../../contract/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import { toMicros, toUsd } from '../../lib/micros.ts'
import { getProvider } from '../providers/providers.ts'
import { modelPrices } from './prices-table.ts'

/** Sets a person's own price. null: the built-in price applies again. Throws AppError provider_not_found. */
export function setPrice(tx: Tx, { clock }: { clock: Clock }, ref: ModelRef, price: Price | null): void {
  getProvider(tx, ref.providerId)
  if (price === null) {
    tx.delete(modelPrices).where(isOf(ref)).run()
  } else {
    const cached = price.cachedInputUsdPerMillion
    const row = {
      inputMicros: toMicros(price.inputUsdPerMillion),
      outputMicros: toMicros(price.outputUsdPerMillion),
      cachedInputMicros: cached === undefined ? null : toMicros(cached),
      updatedAt: clock.now(),
    }
    tx.insert(modelPrices)
      .values({ ...ref, ...row })
      .onConflictDoUpdate({ target: [modelPrices.providerId, modelPrices.model], set: row })
      .run()
  }
  tx.emit({ type: 'model.price_changed', payload: { providerId: ref.providerId, model: ref.model } })
}

export function findPrice(db: Db, { providerId, model }: ModelRef): Price | null {
  const row = AMOUNTS_OF_MODEL(db).get({ providerId, model })
  return row === undefined ? null : priceOf(row)
}

const AMOUNTS = {
  inputMicros: modelPrices.inputMicros,
  outputMicros: modelPrices.outputMicros,
  cachedInputMicros: modelPrices.cachedInputMicros,
}

type Amounts = Pick<typeof modelPrices.$inferSelect, keyof typeof AMOUNTS>

const isOfModel = and(eq(modelPrices.providerId, sql.placeholder('providerId')), eq(modelPrices.model, sql.placeholder('model')))
const AMOUNTS_OF_MODEL = prepareOnce((db: Db) => db.select(AMOUNTS).from(modelPrices).where(isOfModel))

const isOf = ({ providerId, model }: ModelRef) => and(eq(modelPrices.providerId, providerId), eq(modelPrices.model, model))

function priceOf({ inputMicros, outputMicros, cachedInputMicros }: Amounts): Price {
  return {
    inputUsdPerMillion: toUsd(inputMicros),
    outputUsdPerMillion: toUsd(outputMicros),
    ...(cachedInputMicros === null ? {} : { cachedInputUsdPerMillion: toUsd(cachedInputMicros) }),
  }
}
