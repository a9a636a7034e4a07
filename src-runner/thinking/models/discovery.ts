import type { OutboundFetch } from '../../base/net/outbound.ts'
import type { FoundServer } from '../../contract/providers.ts'
import type { Clock } from '../../kit/clock.ts'
import type { ListedModel } from './model.ts'
import { readOllamaTags } from './ollama.ts'
import { readOpenAiModels } from './openai-compatible.ts'

export type DiscoveryDeps = {
  fetch: OutboundFetch
  clock: Clock
  /** Where the servers listen unless somebody moved them. */
  ports?: { ollama: number; lmStudio: number; llamaCpp: number }
  /** A server on this machine answers in a few milliseconds or is not there. */
  timeoutMs?: number
}

const MAX_ANSWER_CHARS = 4_194_304

/**
 * Looks for model servers on this machine. A port proves nothing (8080 is everybody's), so each server must answer as
 * only it does before it is offered. No key is sent, no redirect followed.
 */
export async function findServers(deps: DiscoveryDeps): Promise<FoundServer[]> {
  const { ports = { ollama: 11_434, lmStudio: 1234, llamaCpp: 8080 } } = deps
  const found = await Promise.all([findOllama(deps, ports.ollama), findLmStudio(deps, ports.lmStudio), findLlamaCpp(deps, ports.llamaCpp)])
  return found.filter((server) => server !== null)
}

async function findOllama(deps: DiscoveryDeps, port: number): Promise<FoundServer | null> {
  const origin = `http://127.0.0.1:${port}`
  const version = await getJson(deps, `${origin}/api/version`)
  if (!isRecord(version) || typeof version['version'] !== 'string') return null
  const models = namesIn(await getJson(deps, `${origin}/api/tags`), readOllamaTags)
  return models === null ? null : { kind: 'ollama', name: 'Ollama', baseUrl: origin, models }
}

async function findLmStudio(deps: DiscoveryDeps, port: number): Promise<FoundServer | null> {
  const origin = `http://127.0.0.1:${port}`
  // Its own API says of each model what it is for and whether it is loaded; nobody else's does.
  const own = await getJson(deps, `${origin}/api/v0/models`)
  if (!isRecord(own) || own['object'] !== 'list' || !Array.isArray(own['data'])) return null
  const entries = own['data'] as unknown[]
  if (!entries.every((entry) => isRecord(entry) && typeof entry['type'] === 'string' && typeof entry['state'] === 'string')) return null
  const forText = entries.filter((entry) => isRecord(entry) && entry['type'] !== 'embeddings')
  const models = namesIn(forText, readOpenAiModels)
  return models === null ? null : { kind: 'openai-compatible', name: 'LM Studio', baseUrl: `${origin}/v1`, models }
}

async function findLlamaCpp(deps: DiscoveryDeps, port: number): Promise<FoundServer | null> {
  const origin = `http://127.0.0.1:${port}`
  const list = await getJson(deps, `${origin}/v1/models`)
  const entries = isRecord(list) && Array.isArray(list['data']) ? (list['data'] as unknown[]) : []
  if (!entries.some((entry) => isRecord(entry) && entry['owned_by'] === 'llamacpp')) return null
  const models = namesIn(list, readOpenAiModels)
  return models === null ? null : { kind: 'openai-compatible', name: 'llama.cpp', baseUrl: `${origin}/v1`, models }
}

function namesIn(body: unknown, read: (body: unknown) => ListedModel[]): string[] | null {
  try {
    return read(body).map((listed) => listed.model)
  } catch {
    return null
  }
}

/** null for everything that is not JSON in time: whatever it is, it is not what we look for. */
async function getJson({ fetch, clock, timeoutMs = 1000 }: DiscoveryDeps, url: string): Promise<unknown> {
  const over = new AbortController()
  const timer = clock.sleep(timeoutMs, over.signal).then(
    () => over.abort(new Error('too late')),
    () => {},
  )
  let chars = 0
  try {
    const answer = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: over.signal,
      onBytes: (count) => {
        chars += count
        if (chars > MAX_ANSWER_CHARS) throw new Error('too long')
      },
    })
    if (!answer.ok || !(answer.headers.get('content-type') ?? '').includes('json')) {
      await answer.body?.cancel()
      return null
    }
    return await answer.json()
  } catch {
    return null
  } finally {
    over.abort(new Error('done'))
    await timer
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
