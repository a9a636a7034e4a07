import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'

let rig: DomainRig
beforeEach(() => {
  rig = openDomainRig()
})
afterEach(() => rig.close())

/** Queries for each message, press or answer. */
test.each([
  ['SELECT * FROM channel_people WHERE channel_id = ? AND external_id = ?', 'channel_people_one_per_account'],
  ["SELECT count(*) FROM channel_people WHERE channel_id = ? AND role = 'requested'", 'channel_people_one_per_account'],
  ["SELECT * FROM channel_people WHERE channel_id = ? AND role = 'owner'", 'channel_people_one_owner'],
  ['SELECT 1 FROM channel_messages WHERE channel_id = ? AND external_id = ?', 'PRIMARY KEY'],
  ['SELECT received_at FROM channel_messages WHERE channel_id = ? AND job_id IS NULL LIMIT 1 OFFSET 500', 'PRIMARY KEY'],
  ['SELECT person_id FROM channel_conversations WHERE conversation_id = ?', 'PRIMARY KEY'],
  ['SELECT conversation_id FROM channel_conversations WHERE person_id = ?', 'channel_conversations_by_person'],
  [
    'SELECT conversation_id FROM channel_conversations WHERE person_id = ? AND chat_id = ? AND is_current = 1',
    'channel_conversations_by_person',
  ],
  ['SELECT approval_id FROM outbox WHERE channel_id = ? AND external_id = ? AND approval_id IS NOT NULL', 'outbox_approval_messages'],
  ["SELECT external_id FROM outbox WHERE approval_id = ? AND kind = 'approval'", 'outbox_by_approval'],
  [
    `SELECT count(*) FROM agent_jobs
     WHERE conversation_id = ? AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')`,
    'agent_jobs_open_turns',
  ],
  ['DELETE FROM channel_messages WHERE received_at < ? AND (job_id IS NULL OR received_at < ?)', 'channel_messages_by_age'],
])('%s', (sql, index) => {
  const plan = rig.db.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...Array<null>(sql.split('?').length - 1).fill(null))
  const details = plan.map(({ detail }) => detail).join('\n')
  expect(details).toContain(index)
  expect(details).not.toMatch(/\bSCAN\b/)
})
