/**
 * Where secrets are kept: the system's keychain behind the port to the host. Every operation throws
 * AppError('vault_unavailable') with a sentence for people when the keychain is absent, locked or silent.
 */
export type Vault = {
  get(key: string): Promise<string | null>
  set(key: string, value: string): Promise<void>
  delete(key: string): Promise<void>
}

/** Forgets everything with the process: for the stand-alone runner and for tests. */
export function createMemoryVault(): Vault {
  const values = new Map<string, string>()
  return {
    get: (key) => Promise.resolve(values.get(key) ?? null),
    set: (key, value) => Promise.resolve(void values.set(key, value)),
    delete: (key) => Promise.resolve(void values.delete(key)),
  }
}

/** Where the key of a provider is kept. */
export function providerKey(providerId: string): string {
  return `provider:${providerId}`
}

/** Where the key of the provider of web search is kept. */
export const WEB_SEARCH_KEY = 'web_search'

/** Where the secret is kept that a webhook's senders sign with. */
export function triggerSignatureKey(triggerId: string): string {
  return `trigger:${triggerId}:signature`
}

/** Where the token of a channel's account is kept. */
export function channelTokenKey(channelId: string): string {
  return `channel:${channelId}:token`
}
