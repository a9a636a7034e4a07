/**
 * A delivery that was taken is its job: what came is kept with the job's task, one row and one page less to write for each.
 * What is left of the inbox's table are the refusals.
 */
export const REFUSALS = `
-- What a webhook brought, byte for byte, as long as its inbox keeps it.
ALTER TABLE job_texts ADD COLUMN payload BLOB;
ALTER TABLE job_texts ADD COLUMN headers TEXT CHECK (headers IS NULL OR json_type(headers) = 'object');
UPDATE job_texts SET payload = d.payload, headers = d.headers,
    context = json_set(coalesce(context, '{}'), '$.senderId', d.sender_id, '$.replayOfId', d.replay_of_id, '$.bytes', d.bytes)
  FROM webhook_deliveries AS d WHERE d.outcome = 'accepted' AND d.job_seq = job_texts.job_seq;

CREATE TABLE webhook_refusals (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  trigger_seq INTEGER NOT NULL REFERENCES webhook_triggers (seq) ON DELETE CASCADE,
  -- Its place in the inbox: behind this job of the trigger, which was the newest; 0: there was none.
  after_job_seq INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('duplicate', 'wrong_secret', 'paused', 'bad_signature', 'rate_limited',
    'unsupported_media_type', 'unsupported_encoding', 'payload_too_large', 'invalid_json', 'incomplete', 'no_agent', 'job_creation_failed')),
  status INTEGER NOT NULL,
  times INTEGER NOT NULL CHECK (times > 0),
  sender_id TEXT,
  event_name TEXT,
  -- Of a repeat: the job of the delivery that it repeats.
  job_seq INTEGER REFERENCES agent_jobs (seq),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  received_at INTEGER NOT NULL,
  headers TEXT CHECK (headers IS NULL OR json_type(headers) = 'object'),
  payload BLOB,
  CHECK ((outcome = 'duplicate') = (job_seq IS NOT NULL))
) STRICT;
INSERT INTO webhook_refusals (seq, id, trigger_seq, after_job_seq, outcome, status, times, sender_id, event_name, job_seq, bytes, received_at,
    headers, payload)
  SELECT d.seq, d.id, d.trigger_seq,
    coalesce((SELECT max(taken.job_seq) FROM webhook_deliveries AS taken
      WHERE taken.trigger_seq = d.trigger_seq AND taken.seq < d.seq AND taken.outcome = 'accepted'), 0),
    d.outcome, d.status, d.times, d.sender_id, d.event_name, d.job_seq, d.bytes, d.received_at, d.headers, d.payload
  FROM webhook_deliveries AS d WHERE d.outcome <> 'accepted';
DROP TABLE webhook_deliveries;
CREATE INDEX webhook_refusals_by_place ON webhook_refusals (trigger_seq, after_job_seq);
-- What a real sender was refused, which the person has to know of.
CREATE INDEX webhook_refusals_of_senders ON webhook_refusals (received_at)
  WHERE outcome IN ('rate_limited', 'payload_too_large', 'invalid_json', 'no_agent', 'job_creation_failed');

-- The inbox. A retry is a job of the webhook too, and no delivery.
CREATE INDEX agent_jobs_delivered ON agent_jobs (trigger_id) WHERE trigger_id IS NOT NULL AND retry_of_job_id IS NULL;
`
