import type { FoundServer } from '../../contract/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import { isRecord } from '../../lib/json-values.ts'
import type { OutboundFetch } from '../../platform/net/outbound.ts'
import { runsOnThisMachine } from './base-url.ts'
import { getJson } from './get-json.ts'
import type { ListedModel } from './model.ts'
import { readOllamaTags } from './ollama.ts'
import { readOpenAiModels } from './openai-compatible.ts'

type Deps = { fetch: OutboundFetch; clock: Clock }
export type DiscoveryDeps = Deps & { ports?: typeof DEFAULT_PORTS }

/** A server on this machine responds within milliseconds. */
const TIMEOUT_MS = 1_000
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
}

const DEFAULT_PORTS = { ollama: 11_434, lmStudio: 1234, llamaCpp: 8080 }

const SERVERS: readonly KnownServer[] = [
  {
    ...{ kind: 'ollama', name: 'Ollama', port: 'ollama', apiPath: '' },
    ...{ signPath: '/api/version', isSign: isOllamaVersion, listPath: '/api/tags', readModels: readOllamaTags },
  },
  {
    ...{ kind: 'openai-compatible', name: 'LM Studio', port: 'lmStudio', apiPath: '/v1' },
    ...{ signPath: '/api/v0/models', isSign: isLmStudioList },
    readModels: (list) => readOpenAiModels((list as LmStudioList).data.filter(({ type }) => type !== 'embeddings')),
  },
  {
    ...{ kind: 'openai-compatible', name: 'llama.cpp', port: 'llamaCpp', apiPath: '/v1' },
    ...{ signPath: '/v1/models', isSign: isLlamaCppList, readModels: readOpenAiModels },
  },
]

/** Looks for model servers on this machine. Sends no key. */
export async function findServers(deps: DiscoveryDeps): Promise<FoundServer[]> {
  const { ports = DEFAULT_PORTS } = deps
  const found = await Promise.all(SERVERS.map((server) => findServer(deps, server, `http://127.0.0.1:${ports[server.port]}`)))
  return found.filter((server) => server !== null)
}

async function findServer(deps: Deps, server: KnownServer, origin: string): Promise<FoundServer | null> {
  const { kind, name, apiPath, listPath } = server
  const sign = await ask(deps, origin + server.signPath)
  if (!server.isSign(sign)) return null
  const list = listPath === undefined ? sign : await ask(deps, origin + listPath)
  try {
    return { kind, name, baseUrl: origin + apiPath, models: server.readModels(list).map(({ model }) => model) }
  } catch {
    return null
  }
}

export type LocalServers = ReturnType<typeof createLocalServers>

export function createLocalServers(deps: Deps) {
  const known = new Map<string, { until: number; found: Promise<boolean | null> }>()

  /** null: no server answered. */
  const isKnownServer = async (origin: string): Promise<boolean | null> => {
    let hasAnswered = false
    for (const { signPath, isSign } of SERVERS) {
      const response = await ask(deps, origin + signPath)
      if (response === null || response === undefined) continue
      if (isSign(response)) return true
      hasAnswered = true
    }
    return hasAnswered ? false : null
  }

  return {
    /** Whether the server at this address runs its models itself. A server on this machine may also be a proxy to a paid service. */
    async runsModels(baseUrl: string): Promise<boolean> {
      if (!runsOnThisMachine(baseUrl)) return false
      const { origin } = new URL(baseUrl)
      let entry = known.get(origin)
      if (entry === undefined || deps.clock.monotonic() >= entry.until) {
        entry = { until: deps.clock.monotonic() + TRUSTED_MS, found: isKnownServer(origin) }
        known.set(origin, entry)
      }
      const found = await entry.found
      if (found === null && known.get(origin) === entry) known.delete(origin)
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

type LmStudioList = { data: { type: string; state: string }[] }

/** Only LM Studio's own API has a type and a state for each model. */
function isLmStudioList(response: unknown): response is LmStudioList {
  if (!isRecord(response) || response['object'] !== 'list' || !Array.isArray(response['data'])) return false
  return response['data'].every((entry) => isRecord(entry) && typeof entry['type'] === 'string' && typeof entry['state'] === 'string')
}

function isLlamaCppList(response: unknown): boolean {
  const entries: unknown[] = isRecord(response) && Array.isArray(response['data']) ? response['data'] : []
  return entries.some((entry) => isRecord(entry) && entry['owned_by'] === 'llamacpp')
}
