import type { FoundServer } from '../../contract/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import type { OutboundFetch } from '../../platform/net/outbound.ts'
import { runsOnThisMachine } from './base-url.ts'
import { getJson } from './get-json.ts'
import type { ListedModel } from './model.ts'
import { readOllamaTags } from './ollama.ts'
import { readOpenAiModels } from './openai-compatible.ts'

type Deps = { fetch: OutboundFetch; clock: Clock }
export type DiscoveryDeps = Deps & { ports?: { ollama: number; lmStudio: number; llamaCpp: number } }

/** A server on this machine answers within milliseconds. */
const TIMEOUT_MS = 1_000
/** Somebody may start another server on the same port. */
const TRUSTED_MS = 300_000

/** A port proves nothing, so each server is recognized by a response that only it gives. */
const SIGNS: readonly { path: string; is(answer: unknown): boolean }[] = [
  { path: '/api/v0/models', is: isLmStudioList },
  { path: '/api/version', is: isOllamaVersion },
  { path: '/v1/models', is: isLlamaCppList },
]

/** Looks for model servers on this machine. Sends no key. */
export async function findServers(deps: DiscoveryDeps): Promise<FoundServer[]> {
  const { ports = { ollama: 11_434, lmStudio: 1234, llamaCpp: 8080 } } = deps
  const found = await Promise.all([findOllama(deps, ports.ollama), findLmStudio(deps, ports.lmStudio), findLlamaCpp(deps, ports.llamaCpp)])
  return found.filter((server) => server !== null)
}

async function findOllama(deps: Deps, port: number): Promise<FoundServer | null> {
  const baseUrl = `http://127.0.0.1:${port}`
  if (!isOllamaVersion(await ask(deps, `${baseUrl}/api/version`))) return null
  const models = namesIn(await ask(deps, `${baseUrl}/api/tags`), readOllamaTags)
  return models === null ? null : { kind: 'ollama', name: 'Ollama', baseUrl, models }
}

async function findLmStudio(deps: Deps, port: number): Promise<FoundServer | null> {
  const origin = `http://127.0.0.1:${port}`
  const list = await ask(deps, `${origin}/api/v0/models`)
  if (!isLmStudioList(list)) return null
  const forText = list.data.filter(({ type }) => type !== 'embeddings')
  return compatibleServer('LM Studio', origin, namesIn(forText, readOpenAiModels))
}

async function findLlamaCpp(deps: Deps, port: number): Promise<FoundServer | null> {
  const origin = `http://127.0.0.1:${port}`
  const list = await ask(deps, `${origin}/v1/models`)
  return isLlamaCppList(list) ? compatibleServer('llama.cpp', origin, namesIn(list, readOpenAiModels)) : null
}

function compatibleServer(name: string, origin: string, models: string[] | null): FoundServer | null {
  return models === null ? null : { kind: 'openai-compatible', name, baseUrl: `${origin}/v1`, models }
}

export type LocalServers = {
  /** Whether the server at this address runs its models itself. A server on this machine may also be a proxy to a paid service. */
  runsModels(baseUrl: string): Promise<boolean>
}

export function createLocalServers(deps: Deps): LocalServers {
  const known = new Map<string, { until: number; found: Promise<boolean | null> }>()

  /** null: no server answered. */
  const isKnownServer = async (origin: string): Promise<boolean | null> => {
    let hasAnswered = false
    for (const { path, is } of SIGNS) {
      const answer = await ask(deps, origin + path)
      if (answer === null || answer === undefined) continue
      if (is(answer)) return true
      hasAnswered = true
    }
    return hasAnswered ? false : null
  }

  return {
    async runsModels(baseUrl) {
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

function isOllamaVersion(answer: unknown): boolean {
  return isRecord(answer) && typeof answer['version'] === 'string'
}

/** Only LM Studio's own API has a type and a state for each model. */
function isLmStudioList(answer: unknown): answer is { data: { type: string; state: string }[] } {
  if (!isRecord(answer) || answer['object'] !== 'list' || !Array.isArray(answer['data'])) return false
  return answer['data'].every((entry) => isRecord(entry) && typeof entry['type'] === 'string' && typeof entry['state'] === 'string')
}

function isLlamaCppList(answer: unknown): boolean {
  const entries: unknown[] = isRecord(answer) && Array.isArray(answer['data']) ? answer['data'] : []
  return entries.some((entry) => isRecord(entry) && entry['owned_by'] === 'llamacpp')
}

function namesIn(body: unknown, read: (body: unknown) => ListedModel[]): string[] | null {
  try {
    return read(body).map((listed) => listed.model)
  } catch {
    return null
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
