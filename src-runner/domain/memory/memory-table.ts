import { index, integer, text, uniqueIndex, sqliteTable } from 'drizzle-orm/sqlite-core'
import { flag, moment, oneOf, checks, idOf, indexWhere, uniqueWhere } from '../../platform/db/column-types.ts'
import { agents } from '../agents/agents-table.ts'
import { jobs } from '../jobs/jobs-table.ts'

export const memories = sqliteTable(
  'memories',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    // null: shared by all agents.
    agentId: text('agent_id').references(() => agents.id),
    // The agent that wrote it, also when it is shared. null: a person.
    writerAgentId: text('writer_agent_id').references(() => agents.id),
    jobId: text('job_id').references(() => jobs.id, { onDelete: 'set null' }),
    callId: text('call_id'),
    text: text('text').notNull(),
    untrusted: flag('untrusted').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [
    ...checks(t, "text <> ''"),
    index('memories_by_agent').on(t.agentId, t.seq),
    indexWhere('memories_by_job', [t.jobId], 'job_id IS NOT NULL'),
    uniqueWhere('memories_one_per_call', [t.jobId, t.callId], 'call_id IS NOT NULL'),
  ],
)

export const jobMemories = sqliteTable(
  'job_memories',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    jobId: idOf('job_id', () => jobs.id, { onDelete: 'cascade' }),
    memoryId: text('memory_id').notNull(),
    via: oneOf('via', ['prompt', 'recall']).notNull(),
    // A memory that changes while the job runs is kept in each version that the job read.
    version: integer('version').notNull(),
    text: text('text').notNull(),
    untrusted: flag('untrusted').notNull(),
    at: moment('at').notNull(),
  },
  (t) => [...checks(t), uniqueIndex('job_memories_one_per_version').on(t.jobId, t.memoryId, t.via, t.version)],
)
