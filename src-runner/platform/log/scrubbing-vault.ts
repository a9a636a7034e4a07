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
  if (!value.startsWith('{')) return [value]
  const texts: string[] = []
  try {
    JSON.parse(value, (name, held: unknown) => {
      if (typeof held === 'string' && name !== 'kind') texts.push(held)
    })
  } catch {
    // Not JSON after all.
  }
  return [value, ...texts]
}
