export const SQL = `
CREATE TABLE kept_results (
  job_id text NOT NULL, number integer NOT NULL, call_id text NOT NULL, tool text NOT NULL, type text NOT NULL, size integer NOT NULL,
  mark text NOT NULL, created_at integer NOT NULL,
  PRIMARY KEY(job_id, number), FOREIGN KEY (job_id) REFERENCES agent_jobs(id) ON DELETE cascade, CHECK (number > 0)
) STRICT;

CREATE INDEX kept_results_mark ON kept_results (mark);
`
