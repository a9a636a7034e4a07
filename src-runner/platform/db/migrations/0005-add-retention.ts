export const SQL = `
CREATE TABLE spend_of_deleted (
  bucket_at integer NOT NULL, agent_id text NOT NULL, channel text NOT NULL, provider_id text NOT NULL, model text NOT NULL,
  cost_micros integer NOT NULL, input_tokens integer NOT NULL, output_tokens integer NOT NULL, cached_tokens integer NOT NULL,
  unpriced_calls integer NOT NULL, jobs integer NOT NULL, model_jobs integer NOT NULL,
  PRIMARY KEY(bucket_at, agent_id, channel, provider_id, model), CHECK (bucket_at % 900000 = 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX file_changes_before ON file_changes (before_mark) WHERE before_mark IS NOT NULL;
CREATE INDEX file_changes_after ON file_changes (after_mark) WHERE after_mark IS NOT NULL;
CREATE INDEX client_turns_by_job ON client_turns (job_seq);
CREATE INDEX agent_jobs_to_prune ON agent_jobs (finished_at) WHERE finished_at IS NOT NULL AND conversation_id IS NULL;
CREATE INDEX memories_by_job ON memories (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX occurrences_by_job ON occurrences (job_seq) WHERE job_seq IS NOT NULL;
CREATE INDEX webhook_refusals_by_job ON webhook_refusals (job_seq) WHERE job_seq IS NOT NULL;
`
