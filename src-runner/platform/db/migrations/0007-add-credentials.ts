export const SQL = `
CREATE TABLE authorizations (
  id text PRIMARY KEY NOT NULL, entity_id text NOT NULL, connector text NOT NULL, method text NOT NULL, status text NOT NULL,
  problem text NOT NULL, plan text NOT NULL, redirect_uri text NOT NULL, state_digest blob, session_digest blob, user_code text,
  verification_url text, poll_interval_ms integer, next_poll_at integer, credential_id text, mcp_server_id text, resource text,
  created_at integer NOT NULL, expires_at integer NOT NULL,
  FOREIGN KEY (entity_id) REFERENCES entities(id), FOREIGN KEY (credential_id) REFERENCES credentials(id) ON DELETE set null,
  CHECK (method = 'browser' OR method = 'device'),
  CHECK (status = 'begun' OR status = 'exchanging' OR status = 'waiting' OR status = 'connected' OR status = 'failed' OR status = 'cancelled' OR status = 'expired'),
  CHECK (length(state_digest) = 32), CHECK (length(session_digest) = 32), CHECK ((state_digest IS NULL) = (session_digest IS NULL))
) STRICT;

CREATE UNIQUE INDEX authorizations_state_digest_unique ON authorizations (state_digest);
CREATE INDEX authorizations_by_credential ON authorizations (credential_id) WHERE credential_id IS NOT NULL;
CREATE INDEX authorizations_by_expiry ON authorizations (expires_at);
CREATE INDEX authorizations_open ON authorizations (expires_at) WHERE status IN ('waiting', 'begun', 'exchanging');
CREATE TABLE credential_grants (
  credential_id text NOT NULL, agent_id text NOT NULL, access text NOT NULL,
  PRIMARY KEY(credential_id, agent_id), FOREIGN KEY (credential_id) REFERENCES credentials(id) ON DELETE cascade,
  FOREIGN KEY (agent_id) REFERENCES agents(id), CHECK (access = 'read' OR access = 'write')
) STRICT;

CREATE INDEX credential_grants_by_agent ON credential_grants (agent_id);
CREATE TABLE credentials (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, entity_id text NOT NULL, connector text NOT NULL, kind text NOT NULL,
  name text NOT NULL, account_name text, hosts text NOT NULL, scopes text NOT NULL, endpoints text, mcp_server_id text, resource text,
  status text NOT NULL, problem text NOT NULL, status_since integer NOT NULL, expires_at integer, renews integer NOT NULL,
  last_used_at integer, created_at integer NOT NULL,
  FOREIGN KEY (entity_id) REFERENCES entities(id), CHECK (kind = 'oauth2' OR kind = 'api_key' OR kind = 'basic' OR kind = 'header'),
  CHECK (json_type(hosts) = 'array'), CHECK (json_type(scopes) = 'array'), CHECK (json_type(endpoints) = 'object'),
  CHECK (status = 'connected' OR status = 'needs_sign_in'), CHECK (renews IN (0, 1)), CHECK ((kind = 'oauth2') = (endpoints IS NOT NULL)),
  CHECK (kind = 'oauth2' OR (expires_at IS NULL AND renews = 0))
) STRICT;

CREATE UNIQUE INDEX credentials_id_unique ON credentials (id);
CREATE INDEX credentials_by_entity ON credentials (entity_id,seq);
CREATE UNIQUE INDEX credentials_one_per_mcp_server ON credentials (mcp_server_id) WHERE mcp_server_id IS NOT NULL;
CREATE INDEX credentials_needing_sign_in ON credentials (status_since) WHERE status = 'needs_sign_in';
`
