import { ApiError } from './client.ts'
import { pageKeyHeaders } from './browser-access.ts'

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/

/**
 * The address that starts a sign-in at a service in another tab. It works once. On another device the way begins at this
 * page's own origin, because that browser cannot reach this machine by its loopback address.
 */
export async function createSignInLink(authorizationId: string): Promise<string> {
  const response = await fetch('/api/oauth/link', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...pageKeyHeaders() },
    body: JSON.stringify({ authorizationId }),
  }).catch(() => null)
  if (response === null) throw new ApiError('runner_unavailable', 0, 'The dashboard did not answer.')
  if (!response.ok) throw new ApiError('authorization_over', response.status, 'There is no such sign-in, or it has ended.')
  const { url } = (await response.json()) as { url: string }
  const { pathname, hash } = new URL(url)
  return LOOPBACK.test(location.hostname) ? url : `${location.origin}${pathname}${hash}`
}
