import { createHmac, randomBytes } from 'node:crypto'
import { isSame } from './bearer.ts'

/** What a token is good for: opening the dashboard in a browser, one sign-in at a service, or a command of the command line. */
export type TokenPurpose = 'open' | `sign_in:${string}` | LocalCommand
export type LocalCommand = 'replace_secret' | 'accounts_changed'
export const LOCAL_COMMANDS: readonly string[] = ['replace_secret', 'accounts_changed'] satisfies LocalCommand[]

const LIVES_MS = 10 * 60_000
const NONCE_BYTES = 16

/** Signed with a key that is new at every start, so a token of an earlier start is worth nothing. */
export function createOneTimeToken(key: string, purpose: TokenPurpose, now = Date.now()): string {
  const token = `${now.toString(36)}.${randomBytes(NONCE_BYTES).toString('base64url')}`
  return `${token}.${sign(key, purpose, token)}`
}

export type OneTimeTokens = {
  /** false: it is wrong, used, for something else, or too old. */
  take(purpose: TokenPurpose, token: string): boolean
}

export function createOneTimeTokens(key: string, now: () => number = Date.now): OneTimeTokens {
  const used = new Map<string, number>()
  return {
    take(purpose, token) {
      const [time = '', nonce = '', signature = ''] = token.split('.')
      const age = now() - Number.parseInt(time, 36)
      if (!isSame(signature, sign(key, purpose, `${time}.${nonce}`)) || !(Math.abs(age) <= LIVES_MS)) return false
      for (const [old, at] of used) if (Math.abs(now() - at) > 2 * LIVES_MS) used.delete(old)
      if (used.has(nonce)) return false
      used.set(nonce, now())
      return true
    },
  }
}

function sign(key: string, purpose: TokenPurpose, token: string): string {
  return createHmac('sha256', key).update(`${purpose} ${token}`).digest('base64url')
}
