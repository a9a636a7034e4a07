/**
 * Jobs that wait for a model or for the keychain to answer again. They are pending and nobody is at work on them; a row is
 * gone with the first step that gets them on, and with their end.
 */
export const POSTPONED_JOBS = `
CREATE TABLE postponed_jobs (
  job_seq INTEGER PRIMARY KEY REFERENCES agent_jobs (seq) ON DELETE CASCADE,
  until INTEGER NOT NULL,
  -- How often it was postponed since it last got on.
  times INTEGER NOT NULL CHECK (times > 0)
) STRICT;
`
