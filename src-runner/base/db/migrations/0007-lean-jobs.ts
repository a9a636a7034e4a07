/**
 * A commit writes every page that its rows and their index entries are in, so what a job costs on its way in is counted
 * in pages: 13 for a delivery before this, 8 after.
 */
export const LEAN_JOBS = `
-- Jobs by state and channel in one index in place of two, once they have run: each state is a walk for each channel, merged.
-- A job on its way in is only in agent_jobs_by_agent, and while it runs in a list of those that do.
CREATE INDEX agent_jobs_by_state ON agent_jobs (status, channel) WHERE status <> 'pending' AND status <> 'running';
CREATE INDEX agent_jobs_running ON agent_jobs (status) WHERE status = 'running';
DROP INDEX agent_jobs_by_status;
DROP INDEX agent_jobs_by_channel;

-- Where in the order of arrival each span of time lies, in place of an index over created_at: a row for each job that was
-- made in another quarter of an hour than the one before it.
CREATE TABLE job_quarters (
  first_seq INTEGER PRIMARY KEY,
  quarter_at INTEGER NOT NULL CHECK (quarter_at % 900000 = 0)
) STRICT;
CREATE INDEX job_quarters_by_time ON job_quarters (quarter_at);
INSERT INTO job_quarters (first_seq, quarter_at)
  SELECT seq, quarter_at FROM (
    SELECT seq, created_at - created_at % 900000 AS quarter_at,
      lag(created_at - created_at % 900000) OVER (ORDER BY seq) AS quarter_before FROM agent_jobs)
  WHERE quarter_at IS NOT quarter_before;
DROP INDEX agent_jobs_by_time;

-- Jobs are never removed, and of the events the newest never is: no key comes again, and the table in which SQLite would
-- remember that need not be written each time. The rows are stored the same way with and without.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, ' AUTOINCREMENT', '') WHERE type = 'table' AND name IN ('agent_jobs', 'events');
PRAGMA writable_schema = RESET;
-- A log of which nothing was left goes on counting where it was.
INSERT INTO events (id, at, type, payload)
  SELECT seq, now_ms(), 'settings.changed', '{"keys":[]}' FROM sqlite_sequence
  WHERE name = 'events' AND seq > 0 AND NOT EXISTS (SELECT 1 FROM events);
DELETE FROM sqlite_sequence WHERE name IN ('agent_jobs', 'events');

-- A delivery that was taken has the id of its job, of which it is the only one, and no id of its own.
UPDATE webhook_deliveries SET replay_of_id = coalesce(
  (SELECT original.job_id FROM webhook_deliveries AS original WHERE original.id = webhook_deliveries.replay_of_id AND original.outcome = 'accepted'),
  replay_of_id) WHERE replay_of_id IS NOT NULL;
UPDATE job_texts SET context = json_set(context, '$.deliveryId', known.job_id)
  FROM (SELECT id, job_id FROM webhook_deliveries WHERE outcome = 'accepted') AS known
  WHERE known.id = json_extract(job_texts.context, '$.deliveryId');
CREATE TABLE deliveries_kept (
  seq INTEGER PRIMARY KEY,
  trigger_seq INTEGER NOT NULL REFERENCES webhook_triggers (seq) ON DELETE CASCADE,
  -- Of what was refused.
  id TEXT,
  kind TEXT NOT NULL CHECK (kind IN ('webhook', 'test', 'replay')),
  outcome TEXT NOT NULL CHECK (outcome IN ('accepted', 'duplicate', 'wrong_secret', 'paused', 'bad_signature', 'rate_limited',
    'unsupported_media_type', 'unsupported_encoding', 'payload_too_large', 'invalid_json', 'incomplete', 'no_agent', 'job_creation_failed')),
  status INTEGER NOT NULL,
  times INTEGER NOT NULL DEFAULT 1 CHECK (times > 0),
  sender_id TEXT,
  event_name TEXT,
  -- Of a repeat: the job of the delivery that it repeats.
  job_seq INTEGER REFERENCES agent_jobs (seq),
  replay_of_id TEXT,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  received_at INTEGER NOT NULL,
  headers TEXT CHECK (headers IS NULL OR json_type(headers) = 'object'),
  -- As it came, byte for byte.
  payload BLOB,
  CHECK ((outcome = 'accepted') = (id IS NULL)),
  CHECK ((outcome IN ('accepted', 'duplicate')) = (job_seq IS NOT NULL)),
  CHECK (outcome <> 'accepted' OR (times = 1 AND payload IS NOT NULL)),
  CHECK (kind = 'webhook' OR outcome = 'accepted'),
  CHECK ((kind = 'replay') = (replay_of_id IS NOT NULL))
) STRICT;
INSERT INTO deliveries_kept (seq, trigger_seq, id, kind, outcome, status, times, sender_id, event_name, job_seq, replay_of_id, bytes,
    received_at, headers, payload)
  SELECT d.seq, d.trigger_seq, CASE d.outcome WHEN 'accepted' THEN NULL ELSE d.id END, d.kind, d.outcome, d.status, d.times, d.sender_id,
    d.event_name, job.seq, d.replay_of_id, d.bytes, d.received_at, d.headers, d.payload
  FROM webhook_deliveries AS d LEFT JOIN agent_jobs AS job ON job.id = d.job_id;
DROP TABLE webhook_deliveries;
ALTER TABLE deliveries_kept RENAME TO webhook_deliveries;
CREATE INDEX webhook_deliveries_by_trigger ON webhook_deliveries (trigger_seq);
CREATE UNIQUE INDEX webhook_deliveries_by_id ON webhook_deliveries (id) WHERE id IS NOT NULL;
-- What a real sender was refused, which the person has to know of.
CREATE INDEX webhook_deliveries_refused ON webhook_deliveries (received_at)
  WHERE outcome IN ('rate_limited', 'payload_too_large', 'invalid_json', 'no_agent', 'job_creation_failed');
`
