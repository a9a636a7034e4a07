import { z } from 'zod'
import { DATABASE_TROUBLES } from '../database.ts'
import { Diagnostics } from '../diagnostics.ts'
import { CodingCli, CodingProgram } from '../coding-programs.ts'
import { HealthCheck } from '../doctor.ts'
import { Id } from '../primitives.ts'
import { Sandbox } from '../sandbox.ts'
import { get, post } from './route.ts'

export const systemRoutes = {
  health: get('/api/health', {
    reach: 'neutral',
    access: 'public',
    summary: 'Liveness and readiness. 503 with the same shape when the database cannot be used; `db` says why.',
    answer: z.object({ ok: z.boolean(), db: z.enum(['ok', ...DATABASE_TROUBLES]), llm: z.literal('unchecked') }),
  }),
  openapi: get('/api/openapi.json', {
    reach: 'neutral',
    summary: 'This API as an OpenAPI 3.1 document.',
    answer: z.record(z.string(), z.unknown()),
  }),
  runWorker: post('/api/worker', {
    reach: 'machine',
    access: 'worker',
    summary: 'Execute a job in the background. A finished or claimed job is left as it is.',
    body: z.object({ jobId: Id }),
    status: 202,
    answer: z.object({ ok: z.literal(true), jobId: Id, status: z.literal('accepted') }),
    errors: ['invalid_worker_secret'],
  }),
  streamEvents: get('/api/events', {
    reach: 'workspace',
    summary:
      'Events as server-sent events, from `Last-Event-ID` or from now on. At most the newest 2,000 are repeated; if there is a gap in the ids, read the lists again.',
    query: z.object({ after: z.coerce.number().int().min(0).optional() }),
    stream: true,
    answer: z.unknown(),
    errors: ['too_many_streams'],
  }),
  getSandbox: get('/api/sandbox', {
    reach: 'machine',
    summary: 'The sandbox of programs that agents run: whether it works on this machine, and what to do if not.',
    answer: z.object({ sandbox: Sandbox }),
    shows: ['settings'],
  }),
  checkSandbox: post('/api/sandbox/check', {
    reach: 'machine',
    summary: 'Check the sandbox again by running a program in it.',
    answer: z.object({ sandbox: Sandbox }),
  }),
  getDiagnostics: get('/api/diagnostics', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Versions, sizes, settings and health checks for a report about a problem, without any private text.',
    answer: Diagnostics,
  }),
  getDoctor: get('/api/doctor', {
    reach: 'machine',
    summary: 'Health checks, run now: what works, what does not, and what to do.',
    answer: z.object({ checks: z.array(HealthCheck) }),
    shows: ['settings'],
  }),
  checkCodingProgram: post('/api/code-task/doctor', {
    reach: 'neutral',
    summary:
      'Whether a program that writes code is installed and signed in, and the command that fixes it. No token is spent. A caller that is limited to a workspace gets no path.',
    body: z.object({ cli: CodingCli }),
    answer: CodingProgram,
  }),
}
