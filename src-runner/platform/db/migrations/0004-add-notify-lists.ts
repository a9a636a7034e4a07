export const SQL = `
CREATE TABLE __new_schedules (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, entity_id text NOT NULL, agent_id text NOT NULL, name text NOT NULL,
  cron text NOT NULL, timezone text NOT NULL, task text NOT NULL, daily_budget_micros integer NOT NULL, catch_up_ms integer NOT NULL,
  notify_on_success integer NOT NULL, notify_via text NOT NULL, status text NOT NULL, last_status text, next_due_at integer,
  resume_at integer, exhausted_notified_at integer, cursor text, cursor_taints text, created_at integer NOT NULL,
  updated_at integer NOT NULL, last_run_seq integer,
  FOREIGN KEY (entity_id) REFERENCES entities(id), FOREIGN KEY (agent_id) REFERENCES agents(id), CHECK (catch_up_ms >= 0),
  CHECK (notify_on_success IN (0, 1)),
  CHECK (notify_via = 'auto' OR notify_via = 'telegram' OR notify_via = 'discord' OR notify_via = 'slack' OR notify_via = 'telegram,discord' OR notify_via = 'telegram,slack' OR notify_via = 'discord,slack' OR notify_via = 'telegram,discord,slack'),
  CHECK (status = 'active' OR status = 'paused' OR status = 'budget_exhausted'),
  CHECK (last_status = 'running' OR last_status = 'success' OR last_status = 'failed' OR last_status = 'cancelled' OR last_status = 'awaiting_approval' OR last_status = 'budget_exhausted' OR last_status = 'notify_unreachable'),
  CHECK (cursor_taints = 'private' OR cursor_taints = 'untrusted' OR cursor_taints = 'private,untrusted'),
  CHECK (daily_budget_micros BETWEEN 500000 AND 100000000), CHECK ((status = 'budget_exhausted') = (resume_at IS NOT NULL))
) STRICT;

INSERT INTO __new_schedules (seq, id, entity_id, agent_id, name, cron, timezone, task, daily_budget_micros, catch_up_ms, notify_on_success, notify_via, status, last_status, next_due_at, resume_at, exhausted_notified_at, cursor, cursor_taints, created_at, updated_at, last_run_seq) SELECT seq, id, entity_id, agent_id, name, cron, timezone, task, daily_budget_micros, catch_up_ms, notify_on_success, notify_via, status, last_status, next_due_at, resume_at, exhausted_notified_at, cursor, cursor_taints, created_at, updated_at, last_run_seq FROM schedules;
DROP TABLE schedules;
ALTER TABLE __new_schedules RENAME TO schedules;
CREATE UNIQUE INDEX schedules_id_unique ON schedules (id);
CREATE INDEX schedules_by_agent ON schedules (agent_id);
CREATE INDEX schedules_due ON schedules (next_due_at) WHERE status <> 'paused' AND next_due_at IS NOT NULL;
CREATE INDEX schedules_paused_due ON schedules (next_due_at) WHERE status = 'paused' AND next_due_at IS NOT NULL;
CREATE INDEX schedules_to_resume ON schedules (resume_at) WHERE resume_at IS NOT NULL;
`
