export const SQL = `
CREATE TABLE __new_postponed_jobs (
  job_seq integer PRIMARY KEY NOT NULL, until integer NOT NULL, times integer NOT NULL, cause text DEFAULT 'silence' NOT NULL,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade, CHECK (cause = 'silence' OR cause = 'keychain'), CHECK (times > 0)
) STRICT;

INSERT INTO __new_postponed_jobs (job_seq, until, times) SELECT job_seq, until, times FROM postponed_jobs;
DROP TABLE postponed_jobs;
ALTER TABLE __new_postponed_jobs RENAME TO postponed_jobs;
`
