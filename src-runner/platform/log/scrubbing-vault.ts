import { isRecord, parseJson } from '../../lib/json-values.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Scrubber } from './scrubber.ts'

/** A value that was replaced may still be on its way in a request or an error. Nothing uses the ones before. */
const KEPT_VALUES = 3

/**
 * Scrubs every value that passes through the vault from the log. Tokens are renewed every hour, so of each key only the last few
 * values are kept.
 */
export function createScrubbingVault(vault: Vault, scrubber: Scrubber): Vault {
  const passed = new Map<string, string[]>()
  function hide(key: string, value: string): void {
    const values = passed.get(key) ?? []
    passed.set(key, values)
    if (values.includes(value)) return
    for (const secret of secretsIn(value)) scrubber.add(secret)
    values.push(value)
    if (values.length > KEPT_VALUES) for (const secret of secretsIn(values.shift()!)) scrubber.remove(secret)
  }
  return {
    async get(key) {
      const value = await vault.get(key)
      if (value !== null) hide(key, value)
      return value
    },
    set(key, value) {
      hide(key, value)
      return vault.set(key, value)
    },
    delete: (key) => vault.delete(key),
  }
}

/** The value itself, and the texts in it if it is JSON: tokens and keys of accounts are kept together. */
function secretsIn(value: string): string[] {
  const parsed = value.startsWith('{') ? parseJson(value) : null
  if (!isRecord(parsed)) return [value]
  const { kind: _kind, sentTo: _sentTo, ...secret } = parsed
  return [value, ...textsIn(secret)]
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
