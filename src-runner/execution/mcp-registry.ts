import type { McpDrafts } from '../contract/mcp-drafts.ts'
import { AppError } from '../lib/errors.ts'
import { isRecord, parseJson } from '../lib/json-values.ts'
import { GuardedFetchError, type GuardedFetch } from '../platform/net/guarded-fetch.ts'
import { draftsOfRegistry, nextCursorOf } from '../domain/mcp/drafts/drafts-of-registry.ts'
import { checkAll } from '../domain/mcp/drafts/read-paste.ts'

export const REGISTRY_URL = 'https://registry.modelcontextprotocol.io'

const PER_PAGE = 20
const MAX_BYTES = 2_000_000

/**
 * The newest versions of servers whose names contain `q`, from the official registry
 * (https://github.com/modelcontextprotocol/registry, docs/reference/api). Anybody may publish there, so all of it is untrusted.
 * Throws AppError mcp_registry_unreachable.
 */
export async function searchRegistry(
  { fetch, registryUrl = REGISTRY_URL }: { fetch: GuardedFetch; registryUrl?: string | undefined },
  { q, cursor }: { q: string; cursor?: string | undefined },
): Promise<McpDrafts & { nextCursor: string | null }> {
  const url = new URL('/v0/servers', registryUrl)
  url.search = new URLSearchParams({
    search: q,
    version: 'latest',
    limit: String(PER_PAGE),
    ...(cursor === undefined ? {} : { cursor }),
  }).toString()
  const page = await readPage(fetch, url)
  const entries = Array.isArray(page['servers']) ? page['servers'].slice(0, PER_PAGE) : []
  return { ...checkAll(entries.flatMap(draftsOfRegistry)), nextCursor: nextCursorOf(page) }
}

async function readPage(fetch: GuardedFetch, url: URL): Promise<Record<string, unknown>> {
  try {
    const { status, body, isCut } = await fetch(url, {
      headers: { accept: 'application/json' },
      maxBytes: MAX_BYTES,
      follows: () => false,
    })
    const page = status === 200 && !isCut ? parseJson(body.toString('utf8')) : null
    if (isRecord(page)) return page
  } catch (cause) {
    if (!(cause instanceof GuardedFetchError)) throw cause
    throw new AppError('mcp_registry_unreachable', undefined, { cause })
  }
  throw new AppError('mcp_registry_unreachable')
}
