import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fastify from 'fastify'
import { makeFolder } from './processes.ts'

/**
 * The least that a durable intake of webhooks is: Fastify, the body parsed, one row in one synced transaction, 202. No
 * trigger is looked up, no limit counted, no inbox kept, nobody told.
 *
 *   node build/bench/bare-intake.ts
 */
const db = new Database(join(makeFolder(), 'bare.db'))
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec('CREATE TABLE jobs (id TEXT PRIMARY KEY, slug TEXT NOT NULL, task TEXT NOT NULL, at INTEGER NOT NULL) STRICT')
const insert = db.prepare('INSERT INTO jobs (id, slug, task, at) VALUES (?, ?, ?, ?)')

const server = fastify()
server.post<{ Params: { slug: string }; Body: { issue: { title: string } } }>('/webhooks/:slug/:secret', (request, reply) => {
  const jobId = randomUUID()
  insert.run(jobId, request.params.slug, `Summarise ${request.body.issue.title}`, Date.now())
  return reply.code(202).send({ ok: true, jobId })
})
const url = await server.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`${JSON.stringify({ url })}\n`)
process.once('SIGTERM', () => process.exit(0))
