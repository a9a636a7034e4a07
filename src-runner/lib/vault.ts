/**
 * Where secrets are kept: the system's keychain behind the port to the host. Every operation throws
 * AppError `vault_unavailable`, with a sentence for people, if the keychain is missing, locked or does not respond.
 */
export type Vault = {
  get(key: string): Promise<string | null>
  set(key: string, value: string): Promise<void>
  delete(key: string): Promise<void>
}

/** Lost with the process. For the stand-alone runner and for tests. */
export function createMemoryVault(): Vault {
  const values = new Map<string, string>()
  return {
    get: (key) => Promise.resolve(values.get(key) ?? null),
    set: (key, value) => Promise.resolve(void values.set(key, value)),
    delete: (key) => Promise.resolve(void values.delete(key)),
  }
}

export function providerKey(providerId: string): string {
  return `provider:${providerId}`
}

export const WEB_SEARCH_KEY = 'web_search'

export function triggerSignatureKey(triggerId: string): string {
  return `trigger:${triggerId}:signature`
}

/** The tokens, key or password of a connected account, as JSON. */
export function credentialKey(credentialId: string): string {
  return `credential:${credentialId}`
}

/** Values of the environment and of headers of an MCP server, as JSON. */
export function mcpServerKey(serverId: string): string {
  return `mcp:${serverId}`
}

/** The secrets of a sign-in under way, as JSON. */
export function authorizationKey(authorizationId: string): string {
  return `authorization:${authorizationId}`
}

export function channelTokenKey(channelId: string): string {
  return `channel:${channelId}:token`
}
