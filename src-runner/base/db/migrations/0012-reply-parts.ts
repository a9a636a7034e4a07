/**
 * What a provider wants to have back with a reply: its thinking in the order in which it came, signatures, encrypted items.
 * Kept beside the steps, because only the next prompt reads it, and only replies of models that think have any.
 */
export const REPLY_PARTS = `
CREATE TABLE reply_parts (
  job_seq INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  parts TEXT NOT NULL CHECK (json_type(parts) = 'object'),
  PRIMARY KEY (job_seq, seq),
  FOREIGN KEY (job_seq, seq) REFERENCES job_steps (job_seq, seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
`
