export const SQL = `
CREATE TABLE mcp_grants (
  agent_id text NOT NULL, server_id text NOT NULL, tools text,
  PRIMARY KEY(agent_id, server_id), FOREIGN KEY (agent_id) REFERENCES agents(id),
  FOREIGN KEY (server_id) REFERENCES mcp_servers(id) ON DELETE cascade, CHECK (json_type(tools) = 'array')
) STRICT;

CREATE INDEX mcp_grants_by_server ON mcp_grants (server_id);
CREATE TABLE mcp_servers (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, entity_id text NOT NULL, name text NOT NULL, slug text NOT NULL,
  transport text NOT NULL, enabled integer NOT NULL, status text NOT NULL, status_since integer NOT NULL, problem text NOT NULL,
  sandboxed integer, version text, last_used_at integer, created_at integer NOT NULL,
  FOREIGN KEY (entity_id) REFERENCES entities(id), CHECK (json_type(transport) = 'object'), CHECK (enabled IN (0, 1)),
  CHECK (status = 'stopped' OR status = 'failing' OR status = 'needs_sign_in'), CHECK (sandboxed IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX mcp_servers_id_unique ON mcp_servers (id);
CREATE UNIQUE INDEX mcp_servers_slug_unique ON mcp_servers (slug);
CREATE INDEX mcp_servers_by_entity ON mcp_servers (entity_id,seq);
CREATE TABLE mcp_tools (
  server_id text NOT NULL, name text NOT NULL, agent_name text NOT NULL, title text, description text NOT NULL, input_schema text NOT NULL,
  digest text NOT NULL, proposal text NOT NULL, effect text, accepted_digest text, accepted text, status text NOT NULL, problem text,
  changed_at integer NOT NULL,
  PRIMARY KEY(server_id, name), FOREIGN KEY (server_id) REFERENCES mcp_servers(id) ON DELETE cascade,
  CHECK (json_type(input_schema) = 'object'), CHECK (proposal = 'read' OR proposal = 'idempotent' OR proposal = 'once'),
  CHECK (effect = 'read' OR effect = 'idempotent' OR effect = 'once'), CHECK (json_type(accepted) = 'object'),
  CHECK (status = 'new' OR status = 'accepted' OR status = 'changed' OR status = 'gone'), CHECK (length(digest) = 64),
  CHECK ((effect IS NULL) = (accepted_digest IS NULL)), CHECK (status <> 'accepted' OR (accepted_digest = digest AND problem IS NULL))
) STRICT;

CREATE INDEX mcp_tools_changed ON mcp_tools (server_id) WHERE status = 'changed';
`
