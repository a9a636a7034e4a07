import { z } from 'zod'
import { DATABASE_TROUBLES } from '../database.ts'
import { Id } from '../primitives.ts'
import { routeTable } from './route.ts'

export const systemRoutes = routeTable({
  health: {
    method: 'GET',
    path: '/api/health',
    gate: 'public',
    summary: 'Liveness and readiness. 503 with the same shape when the database cannot do its work; `db` says why.',
    status: 200,
    answer: z.object({ ok: z.boolean(), db: z.enum(['ok', ...DATABASE_TROUBLES]), llm: z.literal('unchecked') }),
    errors: [],
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    gate: 'runner',
    summary: 'This interface as an OpenAPI 3.1 document.',
    status: 200,
    answer: z.record(z.string(), z.unknown()),
    errors: [],
  },
  runWorker: {
    method: 'POST',
    path: '/api/worker',
    gate: 'worker',
    summary: 'Execute a job in the background. A job that is terminal or already claimed is left alone.',
    body: z.object({ jobId: Id }),
    status: 202,
    answer: z.object({ ok: z.literal(true), jobId: Id, status: z.literal('accepted') }),
    errors: ['invalid_worker_secret', 'invalid_request'],
  },
})
