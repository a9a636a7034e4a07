import type { OutboundFetch } from '../../base/net/outbound.ts'
import type { FoundServer } from '../../contract/providers.ts'
import type { Clock } from '../../kit/clock.ts'
import type { ListedModel } from './model.ts'
import { getJson } from './get-json.ts'
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
  if (!isOllamaVersion(version)) return null
  const models = namesIn(await getJson(deps, `${origin}/api/tags`), readOllamaTags)
  return models === null ? null : { kind: 'ollama', name: 'Ollama', baseUrl: origin, models }
}

async function findLmStudio(deps: DiscoveryDeps, port: number): Promise<FoundServer | null> {
  const origin = `http://127.0.0.1:${port}`
  const own = await getJson(deps, `${origin}/api/v0/models`)
  if (!isLmStudioList(own)) return null
  const forText = own.data.filter(({ type }) => type !== 'embeddings')
  const models = namesIn(forText, readOpenAiModels)
  return models === null ? null : { kind: 'openai-compatible', name: 'LM Studio', baseUrl: `${origin}/v1`, models }
}

async function findLlamaCpp(deps: DiscoveryDeps, port: number): Promise<FoundServer | null> {
  const origin = `http://127.0.0.1:${port}`
  const list = await getJson(deps, `${origin}/v1/models`)
  if (!isLlamaCppList(list)) return null
  const models = namesIn(list, readOpenAiModels)
  return models === null ? null : { kind: 'openai-compatible', name: 'llama.cpp', baseUrl: `${origin}/v1`, models }
}

export function isOllamaVersion(answer: unknown): boolean {
  return isRecord(answer) && typeof answer['version'] === 'string'
}

/** Its own API says of each model what it is for and whether it is loaded; nobody else's does. */
export function isLmStudioList(answer: unknown): answer is { data: { type: string; state: string }[] } {
  if (!isRecord(answer) || answer['object'] !== 'list' || !Array.isArray(answer['data'])) return false
  return answer['data'].every((entry) => isRecord(entry) && typeof entry['type'] === 'string' && typeof entry['state'] === 'string')
}

export function isLlamaCppList(answer: unknown): boolean {
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
