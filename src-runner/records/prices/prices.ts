import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { ModelRef } from '../../contract/agents.ts'
import type { Price } from '../../contract/providers.ts'
import type { Clock } from '../../kit/clock.ts'
import { getProvider } from '../providers/providers.ts'
import { toMicros, toUsd } from '../micros.ts'

/** Prices that a person set; those of the price package are not stored. */

/** Micro-dollars per million tokens. Tokens from the cache cost as much as others unless a price for them was set. */
export type PriceMicros = { inputMicros: number; outputMicros: number; cachedInputMicros: number }

type PriceRow = { provider_id: string; model: string; input_micros: number; output_micros: number; cached_input_micros: number | null }

/** null goes back to the package's price. Throws AppError provider_not_found. */
export function setPrice(tx: Tx, { clock }: { clock: Clock }, ref: ModelRef, price: Price | null): void {
  getProvider(tx, ref.providerId)
  if (price === null) {
    tx.prepare('DELETE FROM model_prices WHERE provider_id = ? AND model = ?').run(ref.providerId, ref.model)
  } else {
    const cached = price.cachedInputUsdPerMillion
    tx.prepare(
      `INSERT INTO model_prices (provider_id, model, input_micros, output_micros, cached_input_micros, updated_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET input_micros = excluded.input_micros, output_micros = excluded.output_micros,
         cached_input_micros = excluded.cached_input_micros, updated_at = excluded.updated_at`,
    ).run(
      ref.providerId,
      ref.model,
      toMicros(price.inputUsdPerMillion),
      toMicros(price.outputUsdPerMillion),
      cached === undefined ? null : toMicros(cached),
      clock.now(),
    )
  }
  tx.emit({ type: 'model.price_changed', payload: { providerId: ref.providerId, model: ref.model } })
}

export function findPrice(db: Db, ref: ModelRef): Price | null {
  const row = findRow(db, ref)
  return row === undefined ? null : priceOf(row)
}

export function findOwnPrice(db: Db, ref: ModelRef): PriceMicros | null {
  const row = findRow(db, ref)
  if (row === undefined) return null
  return { inputMicros: row.input_micros, outputMicros: row.output_micros, cachedInputMicros: row.cached_input_micros ?? row.input_micros }
}

export function listPrices(db: Db): { ref: ModelRef; price: Price }[] {
  return db
    .prepare<PriceRow>('SELECT * FROM model_prices')
    .all()
    .map((row) => ({ ref: { providerId: row.provider_id, model: row.model }, price: priceOf(row) }))
}

function findRow(db: Db, ref: ModelRef): PriceRow | undefined {
  return db.prepare<PriceRow>('SELECT * FROM model_prices WHERE provider_id = ? AND model = ?').get(ref.providerId, ref.model)
}

function priceOf(row: PriceRow): Price {
  const cached = row.cached_input_micros
  return {
    inputUsdPerMillion: toUsd(row.input_micros),
    outputUsdPerMillion: toUsd(row.output_micros),
    ...(cached === null ? {} : { cachedInputUsdPerMillion: toUsd(cached) }),
  }
}
