import type { FoundServer } from '../../contract/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import { isRecord } from '../../lib/json-values.ts'
import type { OutboundFetch } from '../../platform/net/outbound.ts'
import { runsOnThisMachine } from './base-url.ts'
import { getHead, getJson } from './get-json.ts'
import { choosableModels, mapInBatches } from './listed-models.ts'
import type { ListedModel } from './model.ts'
import { readOllamaTags } from './ollama.ts'
import { readOpenAiModels } from './openai-compatible.ts'

type Deps = { fetch: OutboundFetch; clock: Clock }
export type DiscoveryDeps = Deps & { ports?: typeof DEFAULT_PORTS }

/** A server on this machine responds within milliseconds. */
const TIMEOUT_MS = 1_000
/** Ollama reads the model's file for it. */
const SHOW_TIMEOUT_MS = 5_000
/** Somebody may start another server on the same port. */
const TRUSTED_MS = 300_000

type KnownServer = Pick<FoundServer, 'kind' | 'name'> & {
  port: keyof typeof DEFAULT_PORTS
  /** A port proves nothing: the server is recognized by a response that only it gives. */
  signPath: string
  isSign(response: unknown): boolean
  /** Absent: the sign is the list of models. */
  listPath?: string
  readModels(list: unknown): ListedModel[]
  apiPath: string
  /** Whether the server runs this model itself. undefined: no response. Absent: a server with the sign does. */
  runs?(deps: Deps, origin: string, model: string): Promise<boolean | undefined>
}

const DEFAULT_PORTS = { ollama: 11_434, lmStudio: 1234, llamaCpp: 8080 }

const SERVERS: readonly KnownServer[] = [
  {
    kind: 'ollama',
    name: 'Ollama',
    port: 'ollama',
    apiPath: '',
    signPath: '/api/version',
    isSign: isOllamaVersion,
    listPath: '/api/tags',
    readModels: readOllamaTags,
    runs: holdsWeights,
  },
  {
    kind: 'openai-compatible',
    name: 'LM Studio',
    port: 'lmStudio',
    apiPath: '/v1',
    signPath: '/api/v0/models',
    isSign: isLmStudioList,
    readModels: (list) => readOpenAiModels((list as LmStudioList).data.filter(({ type }) => type !== 'embeddings')),
  },
  {
    kind: 'openai-compatible',
    name: 'llama.cpp',
    port: 'llamaCpp',
    apiPath: '/v1',
    signPath: '/v1/models',
    isSign: isLlamaCppList,
    readModels: readOpenAiModels,
  },
]

/** Looks for model servers on this machine. Sends no key. */
export async function findServers(deps: DiscoveryDeps): Promise<FoundServer[]> {
  const { ports = DEFAULT_PORTS } = deps
  const found = await Promise.all(SERVERS.map((server) => findServer(deps, server, `http://127.0.0.1:${ports[server.port]}`)))
  return found.filter((server) => server !== null)
}

/** Only models that the server runs itself are offered. null: there are others only, or it is another server. */
async function findServer(deps: Deps, server: KnownServer, origin: string): Promise<FoundServer | null> {
  const { kind, name, apiPath, listPath, runs = () => Promise.resolve(true) } = server
  const sign = await ask(deps, origin + server.signPath)
  if (!server.isSign(sign)) return null
  const list = listPath === undefined ? sign : await ask(deps, origin + listPath)
  try {
    const listed = choosableModels(server.readModels(list)).map(({ model }) => model)
    const isRun = await mapInBatches(listed, (model) => runs(deps, origin, model))
    const models = listed.filter((_model, at) => isRun[at])
    return listed.length > 0 && models.length === 0 ? null : { kind, name, baseUrl: origin + apiPath, models }
  } catch {
    return null
  }
}

export type LocalServers = ReturnType<typeof createLocalServers>

export function createLocalServers(deps: Deps) {
  const known = new Map<string, { until: number; found: Promise<boolean | undefined> }>()

  /** undefined: a response is missing. */
  const look = async (origin: string, model: string): Promise<boolean | undefined> => {
    let hasAnswered = false
    for (const { signPath, isSign, runs } of SERVERS) {
      const response = await ask(deps, origin + signPath)
      if (response === null || response === undefined) continue
      hasAnswered = true
      const found = isSign(response) && (runs === undefined || (await runs(deps, origin, model)))
      if (found !== false) return found
    }
    return hasAnswered ? false : undefined
  }

  return {
    /** Whether the server at this address runs the model itself. A server on this machine may also be a proxy to a paid service. */
    async runsModel(baseUrl: string, model: string): Promise<boolean> {
      if (!runsOnThisMachine(baseUrl)) return false
      const { origin } = new URL(baseUrl)
      const key = `${origin} ${model}`
      let entry = known.get(key)
      if (entry === undefined || deps.clock.monotonic() >= entry.until) {
        entry = { until: deps.clock.monotonic() + TRUSTED_MS, found: look(origin, model) }
        known.set(key, entry)
      }
      const found = await entry.found
      if (found === undefined && known.get(key) === entry) known.delete(key)
      return found === true
    },
  }
}

function ask(deps: Deps, url: string): Promise<unknown> {
  return getJson(deps, url, { timeoutMs: TIMEOUT_MS })
}

function isOllamaVersion(response: unknown): boolean {
  return isRecord(response) && typeof response['version'] === 'string'
}

/**
 * Many proxies to paid services imitate Ollama: its version, its list with digests, and "Ollama is running". What they lack is
 * the file with the weights, which the Modelfile names. A model of Ollama's cloud has none either.
 * https://docs.ollama.com/api-reference/show-model-details, https://github.com/ollama/ollama/blob/main/docs/api.md#check-if-a-blob-exists
 */
async function holdsWeights(deps: Deps, origin: string, model: string): Promise<boolean | undefined> {
  const show = await getJson(deps, `${origin}/api/show`, { body: { model }, timeoutMs: SHOW_TIMEOUT_MS })
  // There may be no such model yet.
  if (!isRecord(show)) return undefined
  const { modelfile, remote_host: host } = show
  const digest = typeof modelfile === 'string' && host === undefined ? WEIGHTS.exec(modelfile)?.[1] : undefined
  return digest === undefined ? false : getHead(deps, `${origin}/api/blobs/sha256:${digest}`, TIMEOUT_MS)
}

const WEIGHTS = /^FROM .*sha256[-:]([0-9a-f]{64})\s*$/m

type LmStudioList = { data: { type: string; state: string }[] }

/** Only LM Studio's own API has a type and a state for each model. An empty list proves nothing. */
function isLmStudioList(response: unknown): response is LmStudioList {
  if (!isRecord(response) || response['object'] !== 'list' || !Array.isArray(response['data'])) return false
  const entries: unknown[] = response['data']
  return (
    entries.length > 0 &&
    entries.every((entry) => isRecord(entry) && typeof entry['type'] === 'string' && typeof entry['state'] === 'string')
  )
}

function isLlamaCppList(response: unknown): boolean {
  const entries: unknown[] = isRecord(response) && Array.isArray(response['data']) ? response['data'] : []
  return entries.length > 0 && entries.every((entry) => isRecord(entry) && entry['owned_by'] === 'llamacpp')
}
