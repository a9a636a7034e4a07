import { AppError } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ListedModel, ModelAdapter, ProviderAccess } from './model.ts'
import type { PriceBook } from './prices.ts'

export type OpenProvider = ReturnType<typeof openProvider>

const LIST_FRESH_MS = 300_000
const LIST_TIMEOUT_MS = 10_000
/** Every listed model holds a prompt of this size. */
const LISTED_FROM_TOKENS = 6_000

/** A provider with its present key and address, and what it said about its models. */
export function openProvider(access: ProviderAccess, adapter: ModelAdapter, { clock, prices }: { clock: Clock; prices: PriceBook }) {
  let known: { until: number; models: Promise<ListedModel[]> } | null = null
  /** A window that the list does not name is not looked up with every call. */
  let listAgainAt = -Infinity

  /** At most `LIST_FRESH_MS` old. Throws AppError('provider_refused'). */
  const listModels = (): Promise<ListedModel[]> => {
    if (known !== null && clock.monotonic() < known.until) return known.models
    const list = { until: clock.monotonic() + LIST_FRESH_MS, models: askForModels() }
    known = list
    // Errors are not cached: the person fixes the problem and tries again.
    list.models.catch(() => {
      if (known === list) known = null
    })
    return list.models
  }

  const askForModels = async (): Promise<ListedModel[]> => {
    const over = new AbortController()
    const seconds = LIST_TIMEOUT_MS / 1000
    clock.sleep(LIST_TIMEOUT_MS, over.signal).then(
      () => over.abort(new AppError('provider_refused', createMessage('model_list_late', { provider: access.name, seconds }))),
      () => {},
    )
    try {
      return await adapter.listModels(over.signal)
    } finally {
      over.abort()
    }
  }

  const findWindow = async (model: string, promptTokens: number, signal: AbortSignal): Promise<number | null> => {
    const windowIn = (models: ListedModel[]) => models.find((listed) => listed.model === model)?.contextTokens ?? null
    const stated = (await adapter.readWindow?.(model, signal)) ?? (known === null ? null : windowIn(await known.models))
    if (stated !== null) return stated
    const general = await prices.contextTokensOf(access, model)
    if (general !== null || promptTokens < LISTED_FROM_TOKENS || clock.monotonic() < listAgainAt) return general
    listAgainAt = clock.monotonic() + LIST_FRESH_MS
    return windowIn(await listModels())
  }

  return {
    access,
    adapter,
    listModels,
    /** The context window; what the provider itself says comes before the price package. null: unknown. */
    readWindow: (model: string, promptTokens: number, signal: AbortSignal): Promise<number | null> =>
      findWindow(model, promptTokens, signal).catch(() => {
        signal.throwIfAborted()
        return null
      }),
  }
}
