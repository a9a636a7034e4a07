import { ROUTES, type Route, type RouteName } from '../../contract/routes.ts'
import { AppError } from '../../lib/errors.ts'
import type { Call, Handlers } from './handler.ts'
import { createInputReader, type Input } from './input.ts'

/** Changes the input of a caller that is limited to a workspace, so that it holds nothing that other workspaces own. */
export type Confine = (route: Route, input: Input, entityId: string) => Input

/** Parses a request of a route, confines it to the caller's workspace and runs the handler. Throws AppError for a refusal. */
export type Perform = <N extends RouteName>(name: N, request: Partial<Input>, call: Call) => Promise<Awaited<ReturnType<Handlers[N]>>>

export type PerformDeps = {
  handlers: Handlers
  confine?: Confine
  /** Before a request that writes: waits while another program locks the database, and throws after a time limit. */
  untilWritable?: () => Promise<void>
}

/** The one way to a handler, for HTTP requests and for the tools of `/mcp`. */
export function createPerform({ handlers, confine, untilWritable }: PerformDeps): Perform {
  // Made with the first request of a route: all together they take 20 ms, which the start does not have to pay.
  const readers = new Map<RouteName, ReturnType<typeof createInputReader>>()
  const readerOf = (name: RouteName) => {
    const known = readers.get(name) ?? createInputReader(ROUTES[name])
    readers.set(name, known)
    return known
  }
  return async (name, { params = {}, query = {}, body }, call) => {
    const route: Route = ROUTES[name]
    const given = readerOf(name)({ params, query, body })
    if (route.method !== 'GET') await untilWritable?.()
    const handle = handlers[name] as (input: unknown, call: Call) => never
    const { entityId } = call.caller
    if (entityId === undefined) return handle(given, call)
    if (route.reach === 'machine' || confine === undefined) throw new AppError('owner_only')
    return handle(confine(route, given, entityId), call)
  }
}
