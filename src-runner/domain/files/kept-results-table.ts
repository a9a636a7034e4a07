import { index, integer, primaryKey, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { checks, idOf, moment } from '../../platform/db/column-types.ts'
import { jobs } from '../jobs/jobs-table.ts'

/** What a tool returned and a model cannot read at once. The contents are in the folder of kept contents. */
export const keptResults = sqliteTable(
  'kept_results',
  {
    jobId: idOf('job_id', () => jobs.id, { onDelete: 'cascade' }),
    // By which the agent and the person name it.
    number: integer('number').notNull(),
    callId: text('call_id').notNull(),
    tool: text('tool').notNull(),
    // The media type, as the server says. Nobody has checked it.
    type: text('type').notNull(),
    size: integer('size').notNull(),
    mark: text('mark').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [
    ...checks(t, 'number > 0'),
    primaryKey({ columns: [t.jobId, t.number] }),
    // Finds out whether a kept content is still needed.
    index('kept_results_mark').on(t.mark),
  ],
)
