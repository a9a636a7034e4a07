import type { Readable } from 'node:stream'
import type { Role } from '../contract/auth-api.ts'
import { messageOf, type Log } from '../log/log.ts'
import type { SignIn } from '../sign-in/sign-in.ts'

/** How often open sessions are checked for expiry. */
const EXPIRY_CHECK_MS = 60_000

/**
 * The responses that people still read, such as the stream of events. Each is cut when the session of its person has ended or
 * their role has changed.
 */
export function createOpenResponses(signIn: Pick<SignIn, 'accounts' | 'onChange'>, log: Log) {
  /** With the cookies of each request and the role that it was answered for. */
  const open = new Map<Readable, { cookies: string | undefined; role: Role }>()
  const stopFollowing = signIn.onChange(() => void endRevoked())
  const expiry = setInterval(() => void endRevoked(), EXPIRY_CHECK_MS).unref()

  async function endRevoked(): Promise<void> {
    if (open.size === 0) return
    try {
      const accounts = await signIn.accounts()
      for (const [body, { cookies, role }] of open) if ((await accounts.sessionOf(cookies))?.person.role !== role) body.destroy()
    } catch (error) {
      log.error({ error: messageOf(error) }, 'the sessions cannot be checked')
      for (const body of open.keys()) body.destroy()
    }
  }

  return {
    endRevoked,
    add(body: Readable, answered: { cookies: string | undefined; role: Role }): void {
      open.set(body, answered)
      body.once('close', () => open.delete(body))
    },
    close(): void {
      stopFollowing()
      clearInterval(expiry)
    },
  }
}
