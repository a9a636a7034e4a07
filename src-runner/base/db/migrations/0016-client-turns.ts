/** Chat turns by the ids that their callers gave them, so that a request that is sent again begins no second one. */
export const CLIENT_TURNS = `
CREATE TABLE client_turns (
  client_id TEXT NOT NULL PRIMARY KEY,
  job_seq INTEGER NOT NULL REFERENCES agent_jobs (seq),
  -- Of what was asked for.
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX client_turns_by_age ON client_turns (at);
`
