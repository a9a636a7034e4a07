import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, text, uniqueIndex, sqliteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { json, jsonArray, jsonObject, moment, oneOf, checks, idOf } from '../../platform/db/column-types.ts'
import { ApprovalStatus, AskedBudget, AskedQuestion, Remember } from '../../contract/approvals.ts'
import { ApprovalKind } from '../../contract/jobs.ts'
import { CallFacts, CreateRule, Decision, Taints } from '../../contract/rules.ts'
import { entities } from '../entities/entities-table.ts'
import { jobs } from '../jobs/jobs-table.ts'

export const decisions = sqliteTable(
  'decisions',
  {
    jobSeq: integer('job_seq')
      .notNull()
      .references(() => jobs.seq, { onDelete: 'cascade' }),
    callId: text('call_id').notNull(),
    tool: text('tool').notNull(),
    facts: jsonObject('facts', CallFacts).notNull(),
    decision: jsonObject('decision', Decision).notNull(),
    taints: jsonObject('taints', Taints).notNull(),
    decidedAt: moment('decided_at').notNull(),
  },
  (t) => [...checks(t), primaryKey({ columns: [t.jobSeq, t.callId] })],
)

export const approvals = sqliteTable(
  'approvals',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    jobSeq: integer('job_seq')
      .notNull()
      .references(() => jobs.seq, { onDelete: 'cascade' }),
    // The job's workspace, so that the list of a workspace has an index.
    entityId: idOf('entity_id', () => entities.id),
    kind: oneOf('kind', ApprovalKind.options).notNull(),
    status: oneOf('status', ApprovalStatus.options).notNull(),
    callId: text('call_id'),
    tool: text('tool'),
    args: json('args', z.unknown()).notNull(),
    hash: text('hash').notNull(),
    reason: text('reason').notNull(),
    facts: jsonObject('facts', CallFacts),
    decision: jsonObject('decision', Decision),
    taints: jsonObject('taints', Taints).notNull(),
    question: jsonObject('question', AskedQuestion),
    budget: jsonObject('budget', AskedBudget),
    alwaysRule: jsonObject('always_rule', CreateRule),
    mayRemember: jsonArray('may_remember', z.array(Remember)).notNull(),
    remember: oneOf('remember', Remember.options),
    note: text('note'),
    answer: text('answer'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    answeredAt: moment('answered_at'),
  },
  (t) => [
    ...checks(
      t,
      'json_valid(args)',
      'length(hash) = 64',
      "(kind = 'budget') = (call_id IS NULL)",
      '(call_id IS NULL) = (tool IS NULL)',
      "(kind = 'budget') = (budget IS NOT NULL)",
      "(kind = 'question') = (question IS NOT NULL)",
      "(status IN ('approved', 'rejected')) = (answered_at IS NOT NULL)",
      "(status = 'approved') = (remember IS NOT NULL)",
    ),
    uniqueIndex('approvals_one_open')
      .on(t.jobSeq, sql`ifnull(call_id, '')`)
      .where(sql`status = 'pending'`),
    index('approvals_by_status').on(t.status),
    index('approvals_by_job').on(t.jobSeq),
    index('approvals_by_entity').on(t.entityId),
    index('approvals_by_entity_and_status').on(t.entityId, t.status),
    index('approvals_due')
      .on(t.expiresAt)
      .where(sql`status = 'pending'`),
  ],
)
