import { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import { Id } from '../primitives.ts'
import type { Tag } from '../tags.ts'

/**
 * public: needs no secret. runner: no secret in `local-trust`, else the bearer (401 `unauthorized`). worker: the
 * WORKER_SECRET bearer in every mode (403 `invalid_worker_secret`).
 */
export type RouteAccess = 'public' | 'runner' | 'worker'

/**
 * What a caller that is limited to a workspace may do. workspace: it reaches only what belongs to its workspace; everything
 * else answers as if it did not exist. neutral: the response says nothing about anybody. machine: refused (403
 * `owner_only`).
 */
export type RouteReach = 'workspace' | 'neutral' | 'machine'

/**
 * With the value `member`, the dashboard sends it beside the secret for a person who is no owner. It takes rights away and gives none,
 * so nobody gains by sending it.
 */
export const ROLE_HEADER = 'x-deckhand-role'

type Options = {
  /** Default: `runner`. */
  access?: RouteAccess
  /** Every route of the runner has it. */
  reach?: RouteReach
  summary: string
  params?: z.ZodObject
  query?: z.ZodObject
  /** A POST without a body schema accepts an empty body. */
  body?: z.ZodType
  /** Default: 2 MB. */
  maxBodyBytes?: number
  /** The status of a success. Default: 200. */
  status?: 201 | 202
  answer: z.ZodType
  /** The response is a stream of server-sent events. */
  stream?: true
  /** Besides those of every route, such as `invalid_request` and `disk_full`. */
  errors?: readonly ErrorCode[]
  /** Tags that make this response stale (GET only). */
  shows?: readonly Tag[]
  /** Among people with accounts of the dashboard, only owners may call it. */
  ownerOnly?: true
}

/** `path` is matched literally; `:name` is one segment. */
export type Route = Omit<Options, 'status'> & {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  access: RouteAccess
  status: 200 | 201 | 202
  errors: readonly ErrorCode[]
}

/** A route without its schemas. */
export type RouteEntry = Pick<Route, 'method' | 'path' | 'access' | 'ownerOnly' | 'shows'>

export function entriesOf<Name extends string>(routes: Record<Name, Route>): Record<Name, RouteEntry> {
  const entries = Object.entries<Route>(routes)
  return Object.fromEntries(
    entries.map(([name, { method, path, access, ownerOnly, shows }]) => [name, { method, path, access, ownerOnly, shows }]),
  ) as Record<Name, RouteEntry>
}

function routeOf(method: Route['method']) {
  return <const O extends Options>(path: string, options: O): O & Omit<Route, keyof O> => ({
    method,
    path,
    access: 'runner',
    status: 200,
    errors: [],
    ...options,
  })
}

export const get = routeOf('GET')
export const post = routeOf('POST')
export const patch = routeOf('PATCH')
export const del = routeOf('DELETE')

type Part<R, K extends 'params' | 'query' | 'body'> = R extends Record<K, infer S extends z.ZodType> ? S : never

/** What a handler receives: parsed, with defaults filled in. */
export type InputOf<R> = {
  params: [Part<R, 'params'>] extends [never] ? Record<string, never> : z.output<Part<R, 'params'>>
  query: [Part<R, 'query'>] extends [never] ? Record<string, never> : z.output<Part<R, 'query'>>
  body: [Part<R, 'body'>] extends [never] ? undefined : z.output<Part<R, 'body'>>
}

/** What a caller sends: before parsing. Parts a route does not have are left out. */
export type RequestOf<R> = ([Part<R, 'params'>] extends [never] ? unknown : { params: z.input<Part<R, 'params'>> }) &
  ([Part<R, 'query'>] extends [never] ? unknown : { query?: z.input<Part<R, 'query'>> }) &
  ([Part<R, 'body'>] extends [never]
    ? unknown
    : undefined extends z.input<Part<R, 'body'>>
      ? { body?: z.input<Part<R, 'body'>> }
      : { body: z.input<Part<R, 'body'>> })

export type AnswerOf<R extends { answer: z.ZodType }> = z.output<R['answer']>

/** The response of a route that returns nothing. */
export const Nothing = z.object({ ok: z.literal(true) })

export const jobParams = z.object({ jobId: Id })
