import { ROUTE_TABLE } from '../../src-runner/contract/route-table.ts'
import type { RouteEntry } from '../../src-runner/contract/routes/route.ts'
import type { AuthRouteName } from '../contract/auth-api.ts'
import { AUTH_ROUTE_TABLE } from '../contract/auth-route-table.ts'

export type KnownRoute = {
  route: RouteEntry
  /** Its name if the dashboard answers it; null: it is passed on to the runner. */
  auth: AuthRouteName | null
  /** As received. */
  params: Record<string, string>
}

/**
 * The dashboard's own routes and those of the runner that it passes on. The two contracts' route tables are the list, so a path
 * that the runner might parse differently (an escaped letter, a double slash) is unknown here. The worker's routes stay closed,
 * and the dashboard answers `/api/health` itself.
 */
const KNOWN: { route: RouteEntry; auth: AuthRouteName | null; segments: string[] }[] = [
  ...Object.values(ROUTE_TABLE)
    .filter((route) => route.access !== 'worker' && route.path !== '/api/health')
    .map((route) => ({ route, auth: null, segments: route.path.split('/') })),
  ...(Object.entries(AUTH_ROUTE_TABLE) as [AuthRouteName, RouteEntry][]).map(([auth, route]) => ({
    route,
    auth,
    segments: route.path.split('/'),
  })),
]

const BY_LENGTH = Map.groupBy(KNOWN, (known) => known.segments.length)

/** `path` as received, without the query. */
export function findRoute(method: string, path: string): KnownRoute | 'wrong_method' | 'unknown' {
  const segments = path.split('/')
  const fitting = listFitting(segments)
  const found = fitting.find(({ route }) => route.method === method)
  if (found === undefined) return fitting.length === 0 ? 'unknown' : 'wrong_method'
  const named = found.segments.flatMap((part, i) => (part.startsWith(':') ? [[part.slice(1), segments[i]!]] : []))
  return { route: found.route, auth: found.auth, params: Object.fromEntries(named) as Record<string, string> }
}

/** The methods of a path that has routes. */
export function methodsOf(path: string): string[] {
  return [...new Set(listFitting(path.split('/')).map(({ route }) => route.method))]
}

function listFitting(segments: string[]) {
  return (BY_LENGTH.get(segments.length) ?? []).filter((known) => known.segments.every((part, i) => fits(part, segments[i]!)))
}

function fits(part: string, segment: string): boolean {
  return part.startsWith(':') ? /^[\w.:~%!$&'()*+,;=@-]+$/.test(segment) && segment !== '.' && segment !== '..' : part === segment
}
