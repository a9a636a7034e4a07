/**
 * A delivery that was taken is its job: what came is kept with the job's task, and the inbox is a chain of jobs, of which the
 * webhook names the newest. Its row is written for each delivery anyway, so the inbox costs no page and no index entry. What
 * is left of the inbox's table are the refusals.
 */
export const REFUSALS = `
-- What a webhook brought, byte for byte, as long as its inbox keeps it.
ALTER TABLE job_texts ADD COLUMN payload BLOB;
ALTER TABLE job_texts ADD COLUMN headers TEXT CHECK (headers IS NULL OR json_type(headers) = 'object');
-- The job of the delivery that the same webhook took before this one.
ALTER TABLE job_texts ADD COLUMN before_job_seq INTEGER;
-- The job of the newest delivery that was taken.
ALTER TABLE webhook_triggers ADD COLUMN newest_job_seq INTEGER;
UPDATE job_texts SET payload = taken.payload, headers = taken.headers, before_job_seq = taken.before,
    context = json_patch(coalesce(context, '{}'), json_object('senderId', taken.sender_id, 'replayOfId', taken.replay_of_id))
  FROM (SELECT *, lag(job_seq) OVER (PARTITION BY trigger_seq ORDER BY seq) AS before FROM webhook_deliveries WHERE outcome = 'accepted')
    AS taken
  WHERE taken.job_seq = job_texts.job_seq;
UPDATE webhook_triggers SET newest_job_seq =
  (SELECT job_seq FROM webhook_deliveries WHERE trigger_seq = webhook_triggers.seq AND outcome = 'accepted' ORDER BY seq DESC LIMIT 1);

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
`
