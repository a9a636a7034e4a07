import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import { isSame } from '../dashboard/bearer.ts'

/** What the browser that began a sign-in brings back. `session`: whose browser it is; `next`: where it goes afterwards. */
const SignInState = z.object({
  authorizationId: z.string(),
  provider: z.string(),
  state: z.string(),
  session: z.string(),
  next: z.string().nullable(),
  /** Epoch ms. */
  until: z.number(),
})
export type SignInState = z.infer<typeof SignInState>

export const SIGN_IN_LIVES_MS = 10 * 60_000
const NAME_CHARS = 16

/**
 * The Set-Cookie value for a sign-in. Each has a cookie of its own, so that two tabs do not disturb each other, and only its own
 * callback gets it. `Lax`, because the service sends the browser back from another site.
 */
export function createSignInCookie(key: string, signIn: SignInState, isSecure: boolean): string {
  const text = Buffer.from(JSON.stringify(signIn)).toString('base64url')
  const attributes = `Path=${callbackPath(signIn.provider)}; Max-Age=${SIGN_IN_LIVES_MS / 1000}; HttpOnly; SameSite=Lax`
  return `${nameOf(signIn.state)}=${text}.${sign(key, text)}; ${attributes}${isSecure ? '; Secure' : ''}`
}

export function endSignInCookie({ state, provider }: Pick<SignInState, 'state' | 'provider'>, isSecure: boolean): string {
  return `${nameOf(state)}=; Path=${callbackPath(provider)}; Max-Age=0; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** null unless there is exactly one cookie for this state, signed here, not expired, and of this provider. Compares in constant time. */
export function readSignInCookie(
  key: string,
  cookies: string | undefined,
  { provider, state }: Pick<SignInState, 'provider' | 'state'>,
  now: number,
): SignInState | null {
  const start = `${nameOf(state)}=`
  const found = (cookies ?? '').split(';').filter((cookie) => cookie.trim().startsWith(start))
  if (found.length !== 1) return null
  const [text = '', signature = ''] = found[0]!.trim().slice(start.length).split('.')
  if (!isSame(signature, sign(key, text))) return null
  const signIn = SignInState.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  return isSame(signIn.state, state) && isSame(signIn.provider, provider) && signIn.until > now ? signIn : null
}

export function callbackPath(provider: string): string {
  return `/api/oauth/${provider}/callback`
}

function nameOf(state: string): string {
  return `deckhand_sign_in_${createHash('sha256').update(state).digest('hex').slice(0, NAME_CHARS)}`
}

function sign(key: string, text: string): string {
  return createHmac('sha256', key).update(`service sign-in ${text}`).digest('base64url')
}
