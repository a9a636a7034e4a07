import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ErrorCode } from '../../contract/errors.ts'
import type { AuthMode } from '../../contract/port.ts'
import type { Route } from '../../contract/routes.ts'
import { ROLE_HEADER } from '../../contract/routes/route.ts'
import { MEMBER, OWNER, type Caller, type LimitedCaller } from './caller.ts'

export type AuthConfig = { authMode: AuthMode; workerSecret: string }

/** Who presents this bearer. An error code: nobody, or it could not be found out. `changes`: the request may write. */
export type Identify = (bearer: string, request: { changes: boolean }) => Promise<LimitedCaller | ErrorCode>

/**
 * Finds out who sent a request, or why it is refused, by the present configuration, which may change between two requests of
 * a connection. The secret is compared as a digest, so `timingSafeEqual` gets equal lengths and response times reveal nothing.
 */
export function createAuth(
  config: AuthConfig,
  identify?: Identify,
): (route: Pick<Route, 'access' | 'reach' | 'method'>, req: IncomingMessage) => Promise<Caller | ErrorCode> {
  function isSecret(bearer: string | null): boolean {
    return bearer !== null && timingSafeEqual(digest(bearer), digest(config.workerSecret))
  }

  return async ({ access, reach, method }, req) => {
    if (access === 'public') return OWNER
    const bearer = bearerOf(req)
    if (access === 'worker') return isSecret(bearer) ? OWNER : 'invalid_worker_secret'
    if (config.authMode === 'local-trust' || isSecret(bearer)) return req.headers[ROLE_HEADER] === undefined ? OWNER : MEMBER
    if (config.authMode !== 'bearer-token' || bearer === null || identify === undefined) return 'unauthorized'
    const caller = await identify(bearer, { changes: method !== 'GET' })
    if (typeof caller === 'string') return caller
    // Anything that is not opened to limited callers is closed to them.
    return reach === 'workspace' || reach === 'neutral' ? caller : 'owner_only'
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
