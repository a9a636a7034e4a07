export const INITIAL = `
CREATE TABLE entities (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX entities_one_default ON entities (is_default) WHERE is_default = 1;
INSERT INTO entities (id, name, is_default, created_at) VALUES (new_id(), 'Personal', 1, now_ms());

CREATE TABLE agents (
  id TEXT NOT NULL PRIMARY KEY,
  entity_id TEXT NOT NULL REFERENCES entities (id),
  slug TEXT NOT NULL,
  name TEXT NOT NULL COLLATE NOCASE,
  avatar TEXT,
  instructions TEXT NOT NULL,
  provider_id TEXT,
  model TEXT,
  fallbacks TEXT NOT NULL CHECK (json_type(fallbacks) = 'array'),
  autonomy TEXT NOT NULL CHECK (autonomy IN ('ask_first', 'ask_when_it_matters', 'on_its_own')),
  folders TEXT NOT NULL CHECK (json_type(folders) = 'array'),
  max_turns INTEGER NOT NULL CHECK (max_turns > 0),
  max_cost_micros INTEGER NOT NULL CHECK (max_cost_micros > 0),
  max_working_ms INTEGER NOT NULL CHECK (max_working_ms > 0),
  max_tool_calls INTEGER NOT NULL CHECK (max_tool_calls >= 0),
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  CHECK ((provider_id IS NULL) = (model IS NULL)),
  CHECK (deleted_at IS NULL OR is_default = 0)
) STRICT;
CREATE UNIQUE INDEX agents_one_slug ON agents (entity_id, slug) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX agents_one_default ON agents (entity_id) WHERE is_default = 1;
CREATE INDEX agents_by_name ON agents (name, id) WHERE deleted_at IS NULL;

CREATE TABLE providers (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('anthropic', 'openai', 'google', 'openai-compatible', 'ollama', 'demo')),
  name TEXT NOT NULL,
  base_url TEXT,
  has_key INTEGER NOT NULL CHECK (has_key IN (0, 1)),
  origin TEXT NOT NULL CHECK (origin IN ('built_in', 'user', 'found')),
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO providers (id, kind, name, base_url, has_key, origin, created_at)
VALUES ('demo', 'demo', 'Demo', NULL, 0, 'built_in', now_ms());

-- Micro-dollars per million tokens. Only what a person set: the package's prices are not stored.
CREATE TABLE model_prices (
  provider_id TEXT NOT NULL REFERENCES providers (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  input_micros INTEGER NOT NULL CHECK (input_micros >= 0),
  output_micros INTEGER NOT NULL CHECK (output_micros >= 0),
  cached_input_micros INTEGER CHECK (cached_input_micros >= 0),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (provider_id, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL CHECK (json_valid(value)),
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE conversations (
  id TEXT NOT NULL PRIMARY KEY,
  entity_id TEXT NOT NULL REFERENCES entities (id),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  title TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX conversations_by_use ON conversations (updated_at, id);
CREATE INDEX conversations_by_agent ON conversations (agent_id, updated_at, id);

-- seq is the order of arrival and the key of every list. The long texts are in job_texts: a row here is rewritten
-- several times in a job's life, and SQLite rewrites a row as a whole.
CREATE TABLE agent_jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  entity_id TEXT NOT NULL REFERENCES entities (id),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  channel TEXT NOT NULL
    CHECK (channel IN ('chat', 'api', 'webhook', 'schedule', 'telegram', 'discord', 'slack', 'messenger', 'delegation')),
  status TEXT NOT NULL
    CHECK (status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child', 'completed', 'failed', 'cancelled')),
  title TEXT NOT NULL,
  conversation_id TEXT REFERENCES conversations (id) ON DELETE SET NULL,
  trigger_id TEXT,
  schedule_id TEXT,
  occurrence_id TEXT,
  parent_job_id TEXT REFERENCES agent_jobs (id),
  retry_of_job_id TEXT REFERENCES agent_jobs (id),
  -- The model that answered last.
  provider_id TEXT,
  model TEXT,
  input_tokens INTEGER NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
  output_tokens INTEGER NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
  cached_tokens INTEGER NOT NULL DEFAULT 0 CHECK (cached_tokens >= 0),
  cost_micros INTEGER NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  unpriced_calls INTEGER NOT NULL DEFAULT 0 CHECK (unpriced_calls >= 0),
  turns INTEGER NOT NULL DEFAULT 0 CHECK (turns >= 0),
  tool_calls INTEGER NOT NULL DEFAULT 0 CHECK (tool_calls >= 0),
  -- The seq of the newest step.
  steps INTEGER NOT NULL DEFAULT 0 CHECK (steps >= turns + tool_calls),
  attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
  -- The fence: every claim adds one and nothing ever takes one away. Only the attempt that holds it may write.
  claim INTEGER NOT NULL DEFAULT 0 CHECK (claim >= 0),
  -- Deaths of the process under this job since it last got on.
  crashes INTEGER NOT NULL DEFAULT 0 CHECK (crashes >= 0),
  boot_id TEXT,
  heartbeat_at INTEGER,
  -- An answer came while the attempt was still on its way to sleep.
  woken INTEGER NOT NULL DEFAULT 0 CHECK (woken IN (0, 1)),
  cancel_requested_at INTEGER,
  working_ms INTEGER NOT NULL DEFAULT 0 CHECK (working_ms >= 0),
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  error TEXT,
  error_message TEXT,
  result_preview TEXT,
  CHECK ((status IN ('completed', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
  CHECK ((status = 'running') = (boot_id IS NOT NULL)),
  CHECK ((status = 'running') = (heartbeat_at IS NOT NULL)),
  CHECK ((status = 'failed') = (error IS NOT NULL)),
  CHECK ((error IS NULL) = (error_message IS NULL)),
  CHECK ((claim = 0) = (started_at IS NULL)),
  CHECK (claim > 0 OR status IN ('pending', 'cancelled')),
  CHECK (woken = 0 OR status = 'running'),
  CHECK (cancel_requested_at IS NULL OR status NOT IN ('pending', 'awaiting_approval', 'awaiting_child')),
  CHECK ((provider_id IS NULL) = (model IS NULL)),
  CHECK (cached_tokens <= input_tokens)
) STRICT;
CREATE INDEX agent_jobs_by_status ON agent_jobs (status);
CREATE INDEX agent_jobs_by_agent ON agent_jobs (agent_id, status);
CREATE INDEX agent_jobs_by_channel ON agent_jobs (channel);
CREATE INDEX agent_jobs_by_time ON agent_jobs (created_at);
CREATE INDEX agent_jobs_by_conversation ON agent_jobs (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX agent_jobs_queue ON agent_jobs (agent_id) WHERE status = 'pending';
-- Who is in the way of whom: the unfinished jobs of a conversation and of a schedule.
CREATE INDEX agent_jobs_open_turns ON agent_jobs (conversation_id)
  WHERE conversation_id IS NOT NULL AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child');
CREATE INDEX agent_jobs_open_fires ON agent_jobs (schedule_id)
  WHERE schedule_id IS NOT NULL AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child');
CREATE UNIQUE INDEX agent_jobs_one_per_occurrence ON agent_jobs (occurrence_id) WHERE occurrence_id IS NOT NULL;
CREATE INDEX agent_jobs_by_parent ON agent_jobs (parent_job_id) WHERE parent_job_id IS NOT NULL;
CREATE INDEX agent_jobs_by_retry ON agent_jobs (retry_of_job_id) WHERE retry_of_job_id IS NOT NULL;

-- History is never rewritten, whatever the code above this file does.
CREATE TRIGGER agent_jobs_keep_endings
  BEFORE UPDATE OF status, claim, attempt, steps, turns, cost_micros, error, error_message, result_preview, finished_at, started_at ON agent_jobs
  WHEN OLD.finished_at IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a finished job never changes');
END;
CREATE TRIGGER agent_jobs_keep_claims BEFORE UPDATE OF claim ON agent_jobs WHEN NEW.claim < OLD.claim
BEGIN
  SELECT RAISE(ABORT, 'a claim is never given back');
END;

CREATE TABLE job_texts (
  job_seq INTEGER PRIMARY KEY REFERENCES agent_jobs (seq) ON DELETE CASCADE,
  task TEXT NOT NULL,
  context TEXT CHECK (context IS NULL OR json_type(context) = 'object'),
  result TEXT
) STRICT;

CREATE TABLE job_steps (
  id INTEGER PRIMARY KEY,
  job_seq INTEGER NOT NULL REFERENCES agent_jobs (seq) ON DELETE CASCADE,
  seq INTEGER NOT NULL CHECK (seq > 0),
  kind TEXT NOT NULL CHECK (kind IN ('reply', 'tool_started', 'tool_result')),
  attempt INTEGER NOT NULL,
  claim INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
  -- Of a tool step.
  call_id TEXT,
  name TEXT,
  ok INTEGER CHECK (ok IN (0, 1)),
  -- Of a reply.
  provider_id TEXT,
  model TEXT,
  input_tokens INTEGER CHECK (input_tokens >= 0),
  output_tokens INTEGER CHECK (output_tokens >= 0),
  cached_tokens INTEGER CHECK (cached_tokens >= 0),
  cost_micros INTEGER CHECK (cost_micros >= 0),
  priced INTEGER CHECK (priced IN (0, 1)),
  estimated INTEGER CHECK (estimated IN (0, 1)),
  interrupted INTEGER CHECK (interrupted IN (0, 1)),
  -- The job's first reply, and its first by this model: where spend counts the job.
  first_of_job INTEGER CHECK (first_of_job IN (0, 1)),
  first_of_model INTEGER CHECK (first_of_model IN (0, 1)),
  tool_calls TEXT,
  reasoning TEXT,
  -- What the model said, or what the tool answered.
  text TEXT NOT NULL,
  UNIQUE (job_seq, seq),
  CHECK ((kind = 'reply') = (model IS NOT NULL AND provider_id IS NOT NULL AND cost_micros IS NOT NULL AND tool_calls IS NOT NULL)),
  CHECK ((kind = 'reply') = (call_id IS NULL AND name IS NULL)),
  CHECK ((kind = 'tool_result') = (ok IS NOT NULL))
) STRICT;
CREATE INDEX job_steps_replies_by_time ON job_steps (created_at) WHERE kind = 'reply';

CREATE TABLE messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  job_id TEXT NOT NULL REFERENCES agent_jobs (id),
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  created_at INTEGER NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (job_id, role)
) STRICT;
CREATE INDEX messages_by_conversation ON messages (conversation_id);

-- What recorded replies cost, summed twice. By the quarter of an hour, for days: every time zone in use is whole quarters
-- away from UTC, so the days of all of them can be put together from here.
CREATE TABLE spend_quarters (
  quarter_at INTEGER PRIMARY KEY CHECK (quarter_at % 900000 = 0),
  cost_micros INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL,
  jobs INTEGER NOT NULL
) STRICT;
-- And by the day of UTC, for who and what spent it.
CREATE TABLE spend_days (
  day_at INTEGER NOT NULL CHECK (day_at % 86400000 = 0),
  agent_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  model TEXT NOT NULL,
  cost_micros INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL,
  jobs INTEGER NOT NULL,
  model_jobs INTEGER NOT NULL,
  PRIMARY KEY (day_at, agent_id, channel, provider_id, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  payload TEXT NOT NULL
) STRICT;

-- Full text of jobs, by seq. Filled shortly after the commit that put the job into search_queue: one segment for many jobs.
CREATE VIRTUAL TABLE job_search USING fts5 (
  title, task, result, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
CREATE TABLE search_queue (
  job_seq INTEGER PRIMARY KEY REFERENCES agent_jobs (seq) ON DELETE CASCADE
) STRICT;
`
