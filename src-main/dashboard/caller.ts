import type { Route } from '../../src-runner/contract/routes.ts'
import type { SignedIn } from '../sign-in/auth-sessions.ts'

/**
 * Who sends a request. `window`: the app's own window. `program`: it knows the secret, or needs none in this mode. `person`:
 * somebody who signed in.
 */
export type Caller = { kind: 'window' } | { kind: 'program' } | ({ kind: 'person' } & SignedIn)

/** null: a browser in which nobody signed in. The route tables decide alone. */
export function mayCall(caller: Caller | null, route: Route): boolean {
  if (route.access === 'public') return true
  if (caller === null) return false
  return caller.kind !== 'person' || caller.person.role === 'owner' || route.ownerOnly !== true
}
