export const WEBHOOKS = `
-- Thousands of jobs may come in a second now, and each index is written for each of them: the first job in the queue of an
-- agent is found by agent_jobs_by_agent as well.
DROP INDEX agent_jobs_queue;
-- New jobs up to this one are in job_search, or in search_queue: the list is for those whose texts change later.
CREATE TABLE search_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  job_seq INTEGER NOT NULL CHECK (job_seq >= 0)
) STRICT;
INSERT INTO search_mark (id, job_seq) VALUES (1, (SELECT ifnull(max(seq), 0) FROM agent_jobs));

CREATE TABLE webhook_triggers (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  entity_id TEXT NOT NULL REFERENCES entities (id),
  -- null: none was attached, or the one attached is gone.
  agent_id TEXT REFERENCES agents (id),
  name TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  -- SHA-256 of the secret. null: there is none, and no delivery gets in.
  secret_digest BLOB CHECK (length(secret_digest) = 32),
  task_template TEXT NOT NULL,
  notify_on_success INTEGER NOT NULL CHECK (notify_on_success IN (0, 1)),
  notify_via TEXT NOT NULL CHECK (notify_via IN ('auto', 'telegram', 'discord', 'slack')),
  -- The secret of the signature is in the vault.
  signature TEXT CHECK (signature IN ('standard_webhooks', 'github', 'stripe', 'slack')),
  dedupe INTEGER NOT NULL CHECK (dedupe IN (0, 1)),
  status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
  trigger_count INTEGER NOT NULL DEFAULT 0 CHECK (trigger_count >= 0),
  last_triggered_at INTEGER,
  -- When the last 30 accepted fires were, in the machine's running time: 30 places of 8 bytes, fire n in place n % 30. They
  -- count within one boot, and a start of the runner carries them over; the gap is what the wall clock was ahead of them.
  fires BLOB CHECK (length(fires) = 240),
  fires_boot TEXT,
  fires_gap REAL,
  created_at INTEGER NOT NULL,
  CHECK ((trigger_count = 0) = (last_triggered_at IS NULL)),
  CHECK ((trigger_count = 0) = (fires IS NULL)),
  CHECK ((fires IS NULL) = (fires_boot IS NULL)),
  CHECK ((fires IS NULL) = (fires_gap IS NULL))
) STRICT;
CREATE INDEX webhook_triggers_by_agent ON webhook_triggers (agent_id) WHERE agent_id IS NOT NULL;

-- The inbox. Refusals of one kind in a row are one row that counts. What the agent was given is the task of the job.
CREATE TABLE webhook_deliveries (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  trigger_seq INTEGER NOT NULL REFERENCES webhook_triggers (seq) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('webhook', 'test', 'replay')),
  outcome TEXT NOT NULL CHECK (outcome IN ('accepted', 'duplicate', 'wrong_secret', 'paused', 'bad_signature', 'rate_limited',
    'unsupported_media_type', 'unsupported_encoding', 'payload_too_large', 'invalid_json', 'incomplete', 'no_agent', 'job_creation_failed')),
  status INTEGER NOT NULL,
  times INTEGER NOT NULL DEFAULT 1 CHECK (times > 0),
  sender_id TEXT,
  event_name TEXT,
  job_id TEXT REFERENCES agent_jobs (id),
  replay_of_id TEXT,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  received_at INTEGER NOT NULL,
  headers TEXT CHECK (headers IS NULL OR json_type(headers) = 'object'),
  -- As it came, byte for byte.
  payload BLOB,
  CHECK ((outcome IN ('accepted', 'duplicate')) = (job_id IS NOT NULL)),
  CHECK (outcome <> 'accepted' OR (times = 1 AND payload IS NOT NULL)),
  CHECK (kind = 'webhook' OR outcome = 'accepted'),
  CHECK ((kind = 'replay') = (replay_of_id IS NOT NULL))
) STRICT;
CREATE INDEX webhook_deliveries_by_trigger ON webhook_deliveries (trigger_seq);
-- What a real sender was refused, which the person has to know of.
CREATE INDEX webhook_deliveries_refused ON webhook_deliveries (received_at)
  WHERE outcome IN ('rate_limited', 'payload_too_large', 'invalid_json', 'no_agent', 'job_creation_failed');

-- The senders' own ids of what was accepted. Kept longer than the inbox: a sender repeats itself for days.
CREATE TABLE webhook_sender_ids (
  trigger_seq INTEGER NOT NULL REFERENCES webhook_triggers (seq) ON DELETE CASCADE,
  sender_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (trigger_seq, sender_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_sender_ids_by_time ON webhook_sender_ids (at);
`
