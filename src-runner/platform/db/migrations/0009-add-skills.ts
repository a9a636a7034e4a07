export const SQL = `
CREATE TABLE skill_agents (
  skill_id text NOT NULL, agent_id text NOT NULL,
  PRIMARY KEY(skill_id, agent_id), FOREIGN KEY (skill_id) REFERENCES skills(id) ON DELETE cascade,
  FOREIGN KEY (agent_id) REFERENCES agents(id)
) STRICT;

CREATE INDEX skill_agents_by_agent ON skill_agents (agent_id);
CREATE TABLE skills (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, entity_id text NOT NULL, slug text NOT NULL, source text NOT NULL,
  digest text NOT NULL, contents text NOT NULL, allowed_permissions text NOT NULL, changed_at integer, upstream_digest text,
  acknowledged_digest text, checked_at integer, check_problem text NOT NULL, installed_at integer NOT NULL, updated_at integer NOT NULL,
  FOREIGN KEY (entity_id) REFERENCES entities(id), CHECK (json_type(contents) = 'object'), CHECK (json_type(allowed_permissions) = 'array')
) STRICT;

CREATE UNIQUE INDEX skills_id_unique ON skills (id);
CREATE UNIQUE INDEX skills_slug_unique ON skills (slug);
CREATE INDEX skills_by_entity ON skills (entity_id,seq);
CREATE INDEX skills_changed ON skills (changed_at) WHERE changed_at IS NOT NULL;
`
