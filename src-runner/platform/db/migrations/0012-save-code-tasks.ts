export const SQL = `
CREATE TABLE __new_code_tasks (
  job_seq integer PRIMARY KEY NOT NULL, cli text NOT NULL, repository text NOT NULL, branch text NOT NULL, base_commit text NOT NULL,
  base_branch text, internet integer NOT NULL, sandboxed integer DEFAULT true NOT NULL, folder text, folder_removed_at integer,
  size_bytes integer, session_id text, prompts integer DEFAULT 0 NOT NULL, turn_ended_at integer, result text DEFAULT 'none' NOT NULL,
  files text NOT NULL, file_count integer DEFAULT 0 NOT NULL, additions integer DEFAULT 0 NOT NULL, deletions integer DEFAULT 0 NOT NULL,
  commands text NOT NULL, left_out text DEFAULT '[]' NOT NULL, saved_at integer,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade,
  CHECK (cli = 'claude' OR cli = 'codex' OR cli = 'gemini' OR cli = 'opencode'), CHECK (internet IN (0, 1)), CHECK (sandboxed IN (0, 1)),
  CHECK (size_bytes >= 0), CHECK (prompts >= 0), CHECK (result = 'none' OR result = 'ready' OR result = 'applied' OR result = 'discarded'),
  CHECK (json_type(files) = 'array'), CHECK (file_count >= 0), CHECK (additions >= 0), CHECK (deletions >= 0),
  CHECK (json_type(commands) = 'array'), CHECK (json_type(left_out) = 'array'), CHECK (folder IS NULL OR folder_removed_at IS NULL)
) STRICT;

INSERT INTO __new_code_tasks (job_seq, cli, repository, branch, base_commit, base_branch, internet, sandboxed, folder, folder_removed_at, size_bytes, session_id, prompts, turn_ended_at, result, files, file_count, additions, deletions, commands) SELECT job_seq, cli, repository, branch, base_commit, base_branch, internet, sandboxed, folder, folder_removed_at, size_bytes, session_id, prompts, turn_ended_at, result, files, file_count, additions, deletions, commands FROM code_tasks;
DROP TABLE code_tasks;
ALTER TABLE __new_code_tasks RENAME TO code_tasks;
CREATE INDEX code_tasks_with_folder ON code_tasks (job_seq) WHERE folder IS NOT NULL;
`
