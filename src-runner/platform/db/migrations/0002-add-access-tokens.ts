export const SQL = `
CREATE TABLE entity_members (
  user_id text PRIMARY KEY NOT NULL, entity_id text NOT NULL, created_at integer NOT NULL,
  FOREIGN KEY (entity_id) REFERENCES entities(id)
) STRICT;

CREATE TABLE api_tokens (
  id text PRIMARY KEY NOT NULL, digest blob NOT NULL, hint text NOT NULL, name text NOT NULL, entity_id text NOT NULL, user_id text,
  created_at integer NOT NULL, expires_at integer, last_used_at integer, revoked_at integer,
  FOREIGN KEY (entity_id) REFERENCES entities(id), CHECK (length(digest) = 32)
) STRICT;

CREATE UNIQUE INDEX api_tokens_digest_unique ON api_tokens (digest);
CREATE INDEX conversations_by_entity ON conversations (entity_id,updated_at,id);
CREATE INDEX agent_jobs_by_entity ON agent_jobs (entity_id);
`
