import type { GuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { AccountCall } from '../../contract/connectors.ts'

const MAX_BYTES = 1_000_000
const MAX_CHARS = 200

/**
 * How the service names the account. null: it did not say. refused: it does not accept the token. Nothing of what it says
 * leads anywhere else: no redirect is followed.
 */
export async function askAccountName(
  fetch: GuardedFetch,
  { method, url, body, name }: AccountCall,
  headers: Record<string, string>,
): Promise<{ state: 'known'; name: string | null } | { state: 'refused' }> {
  const json: Record<string, string> = body === null ? {} : { 'content-type': 'application/json' }
  const answer = await fetch(url, {
    method,
    headers: { accept: 'application/json', ...json, ...headers },
    ...(body === null ? {} : { body }),
    maxBytes: MAX_BYTES,
    follows: () => false,
  }).catch(() => null)
  if (answer?.status === 401) return { state: 'refused' }
  if (answer === null || answer.isCut || answer.status !== 200) return { state: 'known', name: null }
  const found = name.reduce<unknown>((value, field) => fieldOf(value, field), parse(answer.body.toString()))
  const text = typeof found === 'string' || typeof found === 'number' ? String(found) : ''
  const line = text.replace(/\p{C}/gu, ' ').trim().slice(0, MAX_CHARS)
  return { state: 'known', name: line === '' ? null : line }
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
