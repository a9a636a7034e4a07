import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ErrorCode } from '../../contract/errors.ts'
import type { AuthMode } from '../../contract/port.ts'
import type { RouteAccess } from '../../contract/routes.ts'

export type AuthConfig = { authMode: AuthMode; workerSecret: string }

/**
 * Checks the bearer of a request by the present configuration, which may change between two requests of a connection. The secret is compared as a digest, so `timingSafeEqual` gets equal lengths and response
 * times reveal nothing.
 */
export function createAuth(config: AuthConfig): (access: RouteAccess, req: IncomingMessage) => ErrorCode | null {
  function carriesSecret(req: IncomingMessage): boolean {
    const given = bearerOf(req)
    return given !== null && timingSafeEqual(digest(given), digest(config.workerSecret))
  }

  return (access, req) => {
    if (access === 'public') return null
    if (access === 'worker') return carriesSecret(req) ? null : 'invalid_worker_secret'
    if (config.authMode === 'local-trust') return null
    return carriesSecret(req) ? null : 'unauthorized'
  }
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** The token of the Authorization header. With two such headers neither is trusted. */
function bearerOf(req: IncomingMessage): string | null {
  const given = req.headersDistinct['authorization']
  return given?.length === 1 ? (/^Bearer +(\S+)$/i.exec(given[0]!)?.[1] ?? null) : null
}
