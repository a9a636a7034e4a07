export const SQL = `
ALTER TABLE job_steps ADD asked_by text;
CREATE TABLE __new_mcp_servers (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, entity_id text NOT NULL, name text NOT NULL, slug text NOT NULL,
  transport text NOT NULL, enabled integer NOT NULL, may_ask_model integer DEFAULT false NOT NULL, status text NOT NULL,
  status_since integer NOT NULL, problem text NOT NULL, sandboxed integer, version text, last_used_at integer, created_at integer NOT NULL,
  FOREIGN KEY (entity_id) REFERENCES entities(id), CHECK (json_type(transport) = 'object'), CHECK (enabled IN (0, 1)),
  CHECK (may_ask_model IN (0, 1)), CHECK (status = 'stopped' OR status = 'failing' OR status = 'needs_sign_in'), CHECK (sandboxed IN (0, 1))
) STRICT;

INSERT INTO __new_mcp_servers (seq, id, entity_id, name, slug, transport, enabled, status, status_since, problem, sandboxed, version, last_used_at, created_at) SELECT seq, id, entity_id, name, slug, transport, enabled, status, status_since, problem, sandboxed, version, last_used_at, created_at FROM mcp_servers;
DROP TABLE mcp_servers;
ALTER TABLE __new_mcp_servers RENAME TO mcp_servers;
CREATE UNIQUE INDEX mcp_servers_id_unique ON mcp_servers (id);
CREATE UNIQUE INDEX mcp_servers_slug_unique ON mcp_servers (slug);
CREATE INDEX mcp_servers_by_entity ON mcp_servers (entity_id,seq);
`
