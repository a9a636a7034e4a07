import { index, integer, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { flag, jsonArray, moment, oneOf, checks, idOf, indexWhere } from '../../platform/db/column-types.ts'
import { agents } from '../agents/agents-table.ts'
import { jobs } from '../jobs/jobs-table.ts'

export const fileChanges = sqliteTable(
  'file_changes',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    jobId: idOf('job_id', () => jobs.id, { onDelete: 'cascade' }),
    agentId: idOf('agent_id', () => agents.id),
    // null: a person undid a change.
    callId: text('call_id'),
    op: oneOf('op', ['write', 'edit', 'move', 'delete', 'undo']).notNull(),
    // started: in progress or interrupted. void: nothing was changed. unclear: interrupted, and the file has neither state.
    state: oneOf('state', ['started', 'done', 'void', 'unclear']).notNull(),
    // The agent's folder, the path below it, the path as it is shown, and the path without links.
    folder: text('folder').notNull(),
    parts: jsonArray('parts', z.array(z.string())).notNull(),
    shown: text('shown').notNull(),
    realPath: text('real_path').notNull(),
    // The source of a move. before_* is then its state there.
    fromFolder: text('from_folder'),
    fromParts: jsonArray('from_parts', z.array(z.string())),
    fromShown: text('from_shown'),
    fromRealPath: text('from_real_path'),
    beforeMark: text('before_mark'),
    beforeSize: integer('before_size'),
    beforeMode: integer('before_mode'),
    afterMark: text('after_mark'),
    afterSize: integer('after_size'),
    afterMode: integer('after_mode'),
    binary: flag('binary').notNull(),
    // Everything in the file was written by this agent.
    own: flag('own').notNull(),
    trashed: flag('trashed').notNull().default(false),
    startedAt: moment('started_at').notNull(),
    endedAt: moment('ended_at'),
  },
  (t) => [
    ...checks(
      t,
      "(op = 'undo') = (call_id IS NULL)",
      "(state = 'started') = (ended_at IS NULL)",
      '(from_real_path IS NULL) = (from_folder IS NULL)',
      '(from_real_path IS NULL) = (from_parts IS NULL)',
      '(from_real_path IS NULL) = (from_shown IS NULL)',
      '(before_mark IS NULL) = (before_size IS NULL)',
      '(before_mark IS NULL) = (before_mode IS NULL)',
      '(after_mark IS NULL) = (after_size IS NULL)',
      '(after_mark IS NULL) = (after_mode IS NULL)',
      "op <> 'move' OR (from_real_path IS NOT NULL AND before_mark IS NOT NULL AND after_mark IS NOT NULL)",
    ),
    index('file_changes_by_job').on(t.jobId, t.seq),
    // Find out whether a kept content is still needed.
    indexWhere('file_changes_before', [t.beforeMark], 'before_mark IS NOT NULL'),
    indexWhere('file_changes_after', [t.afterMark], 'after_mark IS NOT NULL'),
    index('file_changes_by_path').on(t.realPath, t.seq),
  ],
)
