import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ErrorCode } from '../../contract/errors.ts'
import type { AuthMode } from '../../contract/port.ts'
import type { RouteGate } from '../../contract/routes.ts'

export type AuthConfig = { authMode: AuthMode; workerSecret: string }

/**
 * Who may use a route. The secret is compared as a digest: equal lengths for `timingSafeEqual`, and neither its
 * length nor its first wrong byte can be read from the time an answer takes.
 */
export function createAuth(config: AuthConfig): (gate: RouteGate, req: IncomingMessage) => ErrorCode | null {
  const expected = digest(config.workerSecret)

  function carriesSecret(req: IncomingMessage): boolean {
    const given = bearerOf(req)
    return given !== null && timingSafeEqual(digest(given), expected)
  }

  return (gate, req) => {
    if (gate === 'public') return null
    if (gate === 'worker') return carriesSecret(req) ? null : 'invalid_worker_secret'
    if (config.authMode === 'local-trust') return null
    return carriesSecret(req) ? null : 'unauthorized'
  }
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** The token of the one Authorization header. Two headers are two stories: neither is believed. */
function bearerOf(req: IncomingMessage): string | null {
  let found: string | null = null
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    if (req.rawHeaders[i]!.toLowerCase() !== 'authorization') continue
    if (found !== null) return null
    found = req.rawHeaders[i + 1]!
  }
  return /^Bearer +(\S+)$/i.exec(found ?? '')?.[1] ?? null
}
