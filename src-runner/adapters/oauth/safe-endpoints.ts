import type { OAuthEndpoints } from '../../contract/connectors.ts'
import { AppError, issueAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Throws AppError invalid_request unless every address is HTTPS, or HTTP of this machine. Then a token is never read on the way. */
export function requireSafe<Endpoints extends OAuthEndpoints>(endpoints: Endpoints): Endpoints {
  const { authorizationUrl, tokenUrl, revocationUrl, deviceUrl } = endpoints
  const wrong = Object.entries({ authorizationUrl, tokenUrl, revocationUrl, deviceUrl }).filter(
    ([, address]) => address !== null && !isSafeAddress(address),
  )
  if (wrong.length === 0) return endpoints
  const problem = createMessage('oauth_address')
  throw new AppError('invalid_request', problem, { issues: wrong.map(([name]) => issueAt(`endpoints.${name}`, problem)) })
}

export function isSafeAddress(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, username, password, hash } = new URL(address)
  return (protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))) && username + password + hash === ''
}
