import { isRecord, positiveInteger } from '../../lib/json-values.ts'
import { roomForPrompt } from './prompt-size.ts'

/** null: the server does not say. */
export type OllamaFacts = ReturnType<typeof readFacts>

/**
 * Ollama reloads the model for each new window, which takes longer than a reply, so windows grow by doubling. Agents need
 * at least the smallest; the largest is about what a home machine reads in reasonable time.
 */
const STEPS = [8_192, 16_384, 32_768, 65_536, 131_072]
/** If memory or bytes per token are unknown. */
const CAUTIOUS_TOKENS = 32_768
const SHARE_OF_MEMORY = 1 / 4

/** A window that a person set or loaded is taken to fit their machine. */
export function largestWindow(facts: OllamaFacts, memoryBytes: number | null): number {
  const { trainedTokens, ownTokens, loadedTokens, bytesOfToken, isElsewhere } = facts
  const trained = trainedTokens ?? Infinity
  if (isElsewhere && trainedTokens !== null) return trainedTokens
  const byMemory =
    memoryBytes === null || bytesOfToken === null ? CAUTIOUS_TOKENS : Math.floor((memoryBytes * SHARE_OF_MEMORY) / bytesOfToken)
  const sensible = Math.min(Math.max(byMemory, STEPS[0]!), STEPS.at(-1)!)
  return Math.min(trained, Math.max(sensible, ownTokens ?? 0, loadedTokens ?? 0))
}

/** Never less than `before`, so that a model used by several agents is not reloaded again and again. */
export function windowFor(promptTokens: number, largest: number, before: number): number {
  const step = STEPS.find((tokens) => roomForPrompt(tokens) >= promptTokens) ?? largest
  return Math.min(largest, Math.max(step, before))
}

/** The next smaller window. null: there is none. */
export function windowBelow(tokens: number): number | null {
  return STEPS.findLast((step) => step < tokens) ?? null
}

/** Reads `/api/show` and `/api/ps`. Any part may be missing. */
export function readFacts(model: string, show: unknown, running: unknown) {
  const { model_info, parameters, remote_host: host } = recordOf(show)
  const info = recordOf(model_info)
  const architecture = info['general.architecture']
  const of = (name: string) => (typeof architecture === 'string' ? positiveInteger(info[`${architecture}.${name}`]) : null)
  const own = typeof parameters === 'string' ? /^\s*num_ctx\s+(\d+)/m.exec(parameters)?.[1] : undefined
  const { models } = recordOf(running)
  const loaded = (Array.isArray(models) ? models.map(recordOf) : []).find(
    ({ name, model: named }) => name === model || named === model || name === `${model}:latest`,
  )
  return {
    /** The window of its training. */
    trainedTokens: of('context_length'),
    /** The window in its Modelfile. */
    ownTokens: positiveInteger(Number(own)),
    /** The window with which it is loaded now. */
    loadedTokens: positiveInteger(loaded?.['context_length']),
    bytesOfToken: bytesOfToken(of),
    /** It runs in Ollama's cloud. */
    isElsewhere: typeof host === 'string',
  }
}

/** Keys and values of all layers at two bytes each: too much for models that keep less of some layers. */
function bytesOfToken(of: (name: string) => number | null): number | null {
  const layers = of('block_count')
  const heads = of('attention.head_count')
  const keyHeads = of('attention.head_count_kv')
  const embedding = of('embedding_length')
  const perHead = of('attention.key_length') ?? (embedding === null || heads === null ? null : Math.ceil(embedding / heads))
  if (layers === null || keyHeads === null || perHead === null) return null
  return 2 * layers * keyHeads * (perHead + (of('attention.value_length') ?? perHead))
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}
