import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { JSON_TYPE } from '../../platform/net/fixed-responses.ts'
import type { OutboundFetch } from '../../platform/net/outbound.ts'
import { respondUnread } from '../../platform/net/unread-body.ts'
import type { Services } from '../../platform/services.ts'
import { findConnectableServer } from '../../domain/mcp/mcp-servers.ts'
import { MCP_CONNECTOR } from './plan-authorization.ts'

export type ClientMetadataDeps = Pick<Services, 'db' | 'clock'> & {
  /** Reaches the internet as everybody else does. */
  fetch: OutboundFetch
  /** The public address that the person chose. Not one of a tunnel, because a client ID must stay reachable. */
  publicUrl(): string | null
  redirectUriOf(subject: { connector: string; mcpServerId: string }): string
}

const CHECK_MS = 5_000
/** In seconds. A person who moves Deckhand's address signs in again soon after. */
const CACHED_S = 300
const PATH = /^\/webhooks\/mcp-client\/([0-9a-f-]{36})(?:\?probe=([0-9a-f-]{36}))?$/

/**
 * Deckhand as a client of MCP servers that know their clients by an address (draft-ietf-oauth-client-id-metadata-document). Each
 * server has a document of its own, which names only the redirect address of that server.
 */
export function createClientMetadata({ db, clock, fetch, publicUrl, redirectUriOf }: ClientMetadataDeps) {
  const expected = new Set<string>()

  function addressOf(mcpServerId: string): string | null {
    const base = publicUrl()
    return base?.startsWith('https://') === true ? `${base}/webhooks/mcp-client/${mcpServerId}` : null
  }

  function documentOf(mcpServerId: string): object | null {
    const address = addressOf(mcpServerId)
    const server = address === null ? null : findConnectableServer(db, mcpServerId)
    if (server === null || server.transport.kind === 'stdio') return null
    return {
      client_id: address,
      client_name: 'Deckhand',
      redirect_uris: [redirectUriOf({ connector: MCP_CONNECTOR, mcpServerId })],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      // The redirect address may be one of this machine.
      application_type: 'native',
    }
  }

  return {
    /** Handles a request for a document. Returns false, and does nothing, if there is none. */
    handle({ method, url }: IncomingMessage, response: ServerResponse): boolean {
      const [, mcpServerId, nonce] = (method === 'GET' ? PATH.exec(url ?? '') : null) ?? []
      const document = mcpServerId === undefined ? null : documentOf(mcpServerId)
      if (document === null) return false
      if (nonce !== undefined) expected.delete(nonce)
      const body = JSON.stringify(document)
      const headers = { 'content-type': JSON_TYPE, 'content-length': Buffer.byteLength(body), 'cache-control': `max-age=${CACHED_S}` }
      respondUnread(response, 200, { ...headers, 'x-content-type-options': 'nosniff' }, body)
      return true
    },

    /** The client ID for a server. null: the document cannot be read from outside. */
    async findClientId(mcpServerId: string): Promise<string | null> {
      const address = addressOf(mcpServerId)
      if (address === null) return null
      const nonce = randomUUID()
      const over = new AbortController()
      const stop = clock.after(CHECK_MS, () => over.abort())
      expected.add(nonce)
      try {
        const response = await fetch(`${address}?probe=${nonce}`, { redirect: 'manual', signal: over.signal })
        void response.body?.cancel().catch(() => {})
        return response.status === 200 && !expected.has(nonce) ? address : null
      } catch {
        return null
      } finally {
        expected.delete(nonce)
        stop()
      }
    },
  }
}
