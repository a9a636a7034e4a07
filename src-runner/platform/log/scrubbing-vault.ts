import { isRecord, parseJson } from '../../lib/json-values.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Scrubber } from './scrubber.ts'

/** Scrubs every value that passes through the vault from the log. */
export function createScrubbingVault(vault: Vault, scrubber: Scrubber): Vault {
  return {
    async get(key) {
      const value = await vault.get(key)
      if (value !== null) for (const secret of secretsIn(value)) scrubber.add(secret)
      return value
    },
    set(key, value) {
      for (const secret of secretsIn(value)) scrubber.add(secret)
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
