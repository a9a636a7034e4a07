import { ROUTES, type Route } from '../../src-runner/contract/routes.ts'

export type Passable = 'pass' | 'wrong_method' | 'unknown'

/**
 * The runner's routes that the dashboard passes on. The contract's route table is the list, so a path that the runner
 * might parse differently (an escaped letter, a double slash) is unknown here. The worker's routes stay closed, and the
 * dashboard answers `/api/health` itself.
 */
const PASSED = (Object.values(ROUTES) as Route[])
  .filter((route) => route.access !== 'worker' && route.path !== '/api/health')
  .map((route) => ({ method: route.method, segments: route.path.split('/') }))

const BY_LENGTH = Map.groupBy(PASSED, (route) => route.segments.length)

/** `path` as received, without the query. */
export function isPassable(method: string, path: string): Passable {
  const segments = path.split('/')
  const fitting = (BY_LENGTH.get(segments.length) ?? []).filter((route) => route.segments.every((part, i) => fits(part, segments[i]!)))
  if (fitting.length === 0) return 'unknown'
  return fitting.some((route) => route.method === method) ? 'pass' : 'wrong_method'
}

function fits(part: string, segment: string): boolean {
  return part.startsWith(':') ? /^[\w.:~%!$&'()*+,;=@-]+$/.test(segment) && segment !== '.' && segment !== '..' : part === segment
}
