import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fastify from 'fastify'
import { makeFolder } from './processes.ts'

/**
 * The least that a durable intake of webhooks is: Fastify, the body parsed, one job row and one counter in one synced
 * transaction, 202. No limit is kept, no inbox, nobody told; the body is thrown away. `row` leaves out the counter, too.
 *
 *   node build/bench/bare-intake.ts counted|row
 */
const isCounted = process.argv[2] === 'counted'
const db = new Database(join(makeFolder(), 'bare.db'))
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec(`
  CREATE TABLE jobs (id TEXT PRIMARY KEY, slug TEXT NOT NULL, task TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE triggers (slug TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT`)
const insert = db.prepare('INSERT INTO jobs (id, slug, task, at) VALUES (?, ?, ?, ?)')
const count = db.prepare('INSERT INTO triggers (slug, count) VALUES (?, 1) ON CONFLICT (slug) DO UPDATE SET count = count + 1')
const insertAndCount = db.transaction((jobId: string, slug: string, task: string) => {
  insert.run(jobId, slug, task, Date.now())
  count.run(slug)
})

const server = fastify()
server.post<{ Params: { slug: string }; Body: { issue: { title: string } } }>('/webhooks/:slug/:secret', (request, reply) => {
  const jobId = randomUUID()
  const { slug } = request.params
  const task = `Summarise ${request.body.issue.title}`
  if (isCounted) insertAndCount(jobId, slug, task)
  else insert.run(jobId, slug, task, Date.now())
  return reply.code(202).send({ ok: true, jobId })
})
const url = await server.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`${JSON.stringify({ url })}\n`)
process.once('SIGTERM', () => process.exit(0))
