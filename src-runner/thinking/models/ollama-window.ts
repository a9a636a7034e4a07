import { roomForPrompt } from './prompt-size.ts'

/** What is known of a model before it is asked. null: the server does not say. */
export type OllamaFacts = {
  /** What it was trained for: more is never asked for. */
  trainedTokens: number | null
  /** What the person, or who made the model, set in its Modelfile. */
  ownTokens: number | null
  /** The window with which it is in memory now. */
  loadedTokens: number | null
  /** Memory that a token of the window takes. */
  bytesOfToken: number | null
  /** It runs in Ollama's cloud, and memory here is no matter. */
  isElsewhere: boolean
}

/**
 * Another window loads the model anew, which takes longer than an answer: windows grow by doubling. Below the least no agent can
 * work; the most is more than a machine of one's own reads in reasonable time.
 */
const STEPS = [8_192, 16_384, 32_768, 65_536, 131_072]
/** Without knowing how much memory a token takes, or how much there is. */
const CAUTIOUS_TOKENS = 32_768
/** The rest is for the model itself and for everything else that runs. */
const SHARE_OF_MEMORY = 1 / 4

/** The most that is asked for of a model. What somebody set or loaded themselves is taken to be right for their machine. */
export function largestWindow(facts: OllamaFacts, memoryBytes: number | null): number {
  const { trainedTokens, ownTokens, loadedTokens, bytesOfToken, isElsewhere } = facts
  const trained = trainedTokens ?? Infinity
  if (isElsewhere && trainedTokens !== null) return trainedTokens
  const byMemory =
    memoryBytes === null || bytesOfToken === null ? CAUTIOUS_TOKENS : Math.floor((memoryBytes * SHARE_OF_MEMORY) / bytesOfToken)
  const sensible = Math.min(Math.max(byMemory, STEPS[0]!), STEPS.at(-1)!)
  return Math.min(trained, Math.max(sensible, ownTokens ?? 0, loadedTokens ?? 0))
}

/** The window to ask for now: never less than `before`, so that a model that several agents use is not loaded to and fro. */
export function windowFor(promptTokens: number, largest: number, before: number): number {
  const step = STEPS.find((tokens) => roomForPrompt(tokens) >= promptTokens) ?? largest
  return Math.min(largest, Math.max(step, before))
}

/** The next smaller window after one for which there was no memory. null: there is none. */
export function windowBelow(tokens: number): number | null {
  return STEPS.findLast((step) => step < tokens) ?? null
}

/** From `/api/show` and `/api/ps`. Reads what is there and trusts none of it to be. */
export function readFacts(model: string, show: unknown, running: unknown): OllamaFacts {
  const info = recordIn(show, 'model_info')
  const architecture = info['general.architecture']
  const of = (name: string) => (typeof architecture === 'string' ? countIn(info[`${architecture}.${name}`]) : null)
  const parameters = recordIn({ show }, 'show')['parameters']
  const own = typeof parameters === 'string' ? /^\s*num_ctx\s+(\d+)/m.exec(parameters)?.[1] : undefined
  const loaded = listIn(running, 'models').find(
    (entry) => entry['name'] === model || entry['model'] === model || entry['name'] === `${model}:latest`,
  )
  return {
    trainedTokens: of('context_length'),
    ownTokens: own === undefined ? null : countIn(Number(own)),
    loadedTokens: countIn(loaded?.['context_length']),
    bytesOfToken: bytesOfToken(of),
    isElsewhere: typeof recordIn({ show }, 'show')['remote_host'] === 'string',
  }
}

/** Keys and values of all layers at two bytes each. Models that keep less of some layers are taken for dearer than they are. */
function bytesOfToken(of: (name: string) => number | null): number | null {
  const layers = of('block_count')
  const heads = of('attention.head_count')
  const keyHeads = of('attention.head_count_kv')
  const embedding = of('embedding_length')
  const perHead = of('attention.key_length') ?? (embedding === null || heads === null ? null : Math.ceil(embedding / heads))
  if (layers === null || keyHeads === null || perHead === null) return null
  return 2 * layers * keyHeads * (perHead + (of('attention.value_length') ?? perHead))
}

function countIn(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null
}

function recordIn(value: unknown, field: string): Record<string, unknown> {
  const inner = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : null
  return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {}
}

function listIn(value: unknown, field: string): Record<string, unknown>[] {
  const list = recordIn(value, field)
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'object' && entry !== null) : []
}
