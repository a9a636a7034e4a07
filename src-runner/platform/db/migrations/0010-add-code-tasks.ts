export const SQL = `
CREATE TABLE code_tasks (
  job_seq integer PRIMARY KEY NOT NULL, cli text NOT NULL, repository text NOT NULL, branch text NOT NULL, base_commit text NOT NULL,
  base_branch text, internet integer NOT NULL, sandboxed integer DEFAULT true NOT NULL, folder text, folder_removed_at integer,
  size_bytes integer, session_id text, prompts integer DEFAULT 0 NOT NULL, turn_ended_at integer, result text DEFAULT 'none' NOT NULL,
  files text NOT NULL, file_count integer DEFAULT 0 NOT NULL, additions integer DEFAULT 0 NOT NULL, deletions integer DEFAULT 0 NOT NULL,
  commands text NOT NULL,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade,
  CHECK (cli = 'claude' OR cli = 'codex' OR cli = 'gemini' OR cli = 'opencode'), CHECK (internet IN (0, 1)), CHECK (sandboxed IN (0, 1)),
  CHECK (size_bytes >= 0), CHECK (prompts >= 0), CHECK (result = 'none' OR result = 'ready' OR result = 'applied' OR result = 'discarded'),
  CHECK (json_type(files) = 'array'), CHECK (file_count >= 0), CHECK (additions >= 0), CHECK (deletions >= 0),
  CHECK (json_type(commands) = 'array'), CHECK (folder IS NULL OR folder_removed_at IS NULL)
) STRICT;

CREATE INDEX code_tasks_with_folder ON code_tasks (job_seq) WHERE folder IS NOT NULL;
`
