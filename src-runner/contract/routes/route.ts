import { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import { Id } from '../primitives.ts'
import type { Tag } from '../tags.ts'

/**
 * public: nobody has to prove anything. runner: pass-through in `local-trust`, else the bearer (401 `unauthorized`).
 * worker: the WORKER_SECRET bearer in every mode (403 `invalid_worker_secret`).
 */
export type RouteGate = 'public' | 'runner' | 'worker'

export type Route = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Matched literally; `:name` is one segment. */
  path: string
  gate: RouteGate
  summary: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** A POST whose body may be left out. */
  bodyOptional?: true
  /** The success status and its body. `stream`: server-sent events instead of a JSON body. */
  status: 200 | 201 | 202
  answer: z.ZodType
  stream?: true
  errors: ErrorCode[]
  /** What a page that shows this answer holds (GET only). */
  shows?: Tag[]
}

/** Routes with every name, path and shape kept as it is written. */
export function routeTable<const T extends Record<string, Route>>(routes: T): T {
  return routes
}

/** The answer of what only does something. */
export const Nothing = z.object({ ok: z.literal(true) })

/** Whose files, memories and decisions are told of. */
export const jobParams = z.object({ jobId: Id })
