export const SQL = `
CREATE TABLE agents (
  id text PRIMARY KEY NOT NULL, entity_id text NOT NULL, slug text NOT NULL, name text COLLATE NOCASE NOT NULL, avatar text,
  instructions text NOT NULL, provider_id text, model text, fallbacks text NOT NULL, autonomy text NOT NULL, folders text NOT NULL,
  max_turns integer NOT NULL, max_cost_micros integer NOT NULL, max_working_ms integer NOT NULL, max_tool_calls integer NOT NULL,
  is_default integer NOT NULL, created_at integer NOT NULL, updated_at integer NOT NULL, deleted_at integer, day_budget_micros integer,
  month_budget_micros integer,
  FOREIGN KEY (entity_id) REFERENCES entities(id), CHECK (json_type(fallbacks) = 'array'),
  CHECK (autonomy = 'ask_first' OR autonomy = 'ask_when_it_matters' OR autonomy = 'on_its_own'), CHECK (json_type(folders) = 'array'),
  CHECK (max_tool_calls >= 0), CHECK (is_default IN (0, 1)), CHECK (max_turns > 0), CHECK (max_cost_micros > 0), CHECK (max_working_ms > 0),
  CHECK (day_budget_micros > 0), CHECK (month_budget_micros > 0), CHECK ((provider_id IS NULL) = (model IS NULL)),
  CHECK (deleted_at IS NULL OR is_default = 0)
) STRICT;

CREATE UNIQUE INDEX agents_one_slug ON agents (entity_id, slug) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX agents_one_default ON agents (entity_id) WHERE is_default = 1;
CREATE INDEX agents_by_name ON agents (name, id) WHERE deleted_at IS NULL;
CREATE TABLE approvals (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, job_seq integer NOT NULL, kind text NOT NULL, status text NOT NULL,
  call_id text, tool text, args text NOT NULL, hash text NOT NULL, reason text NOT NULL, facts text, decision text, taints text NOT NULL,
  question text, budget text, always_rule text, may_remember text NOT NULL, remember text, note text, answer text,
  created_at integer NOT NULL, expires_at integer NOT NULL, answered_at integer,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade,
  CHECK (kind = 'tool' OR kind = 'question' OR kind = 'unknown_outcome' OR kind = 'budget'),
  CHECK (status = 'pending' OR status = 'approved' OR status = 'rejected' OR status = 'expired' OR status = 'withdrawn'),
  CHECK (json_type(facts) = 'object'), CHECK (json_type(decision) = 'object'), CHECK (json_type(taints) = 'object'),
  CHECK (json_type(question) = 'object'), CHECK (json_type(budget) = 'object'), CHECK (json_type(always_rule) = 'object'),
  CHECK (json_type(may_remember) = 'array'), CHECK (remember = 'once' OR remember = 'job' OR remember = 'always'), CHECK (json_valid(args)),
  CHECK (length(hash) = 64), CHECK ((kind = 'budget') = (call_id IS NULL)), CHECK ((call_id IS NULL) = (tool IS NULL)),
  CHECK ((kind = 'budget') = (budget IS NOT NULL)), CHECK ((kind = 'question') = (question IS NOT NULL)),
  CHECK ((status IN ('approved', 'rejected')) = (answered_at IS NOT NULL)), CHECK ((status = 'approved') = (remember IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX approvals_id_unique ON approvals (id);
CREATE UNIQUE INDEX approvals_one_open ON approvals (job_seq,ifnull(call_id, '')) WHERE status = 'pending';
CREATE INDEX approvals_by_status ON approvals (status);
CREATE INDEX approvals_by_job ON approvals (job_seq);
CREATE INDEX approvals_due ON approvals (expires_at) WHERE status = 'pending';
CREATE TABLE decisions (
  job_seq integer NOT NULL, call_id text NOT NULL, tool text NOT NULL, facts text NOT NULL, decision text NOT NULL, taints text NOT NULL,
  decided_at integer NOT NULL,
  PRIMARY KEY(job_seq, call_id), FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade, CHECK (json_type(facts) = 'object'),
  CHECK (json_type(decision) = 'object'), CHECK (json_type(taints) = 'object')
) STRICT;

CREATE TABLE budget_extensions (
  approval_id text PRIMARY KEY NOT NULL, scope text NOT NULL, owner text NOT NULL, period text NOT NULL, micros integer NOT NULL,
  FOREIGN KEY (approval_id) REFERENCES approvals(id) ON DELETE cascade,
  CHECK (scope = 'job' OR scope = 'agent_day' OR scope = 'agent_month' OR scope = 'app_day'), CHECK (micros > 0)
) STRICT;

CREATE INDEX budget_extensions_by_owner ON budget_extensions (scope, owner, period);
CREATE TABLE channel_conversations (
  conversation_id text PRIMARY KEY NOT NULL, person_id text NOT NULL,
  FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE cascade,
  FOREIGN KEY (person_id) REFERENCES channel_people(id) ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX channel_conversations_by_person ON channel_conversations (person_id);
CREATE TABLE channel_messages (
  channel_id text NOT NULL, external_id text NOT NULL, job_id text, received_at integer NOT NULL,
  PRIMARY KEY(channel_id, external_id), FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE cascade,
  FOREIGN KEY (job_id) REFERENCES agent_jobs(id) ON DELETE set null
) STRICT, WITHOUT ROWID;

CREATE INDEX channel_messages_by_job ON channel_messages (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX channel_messages_by_age ON channel_messages (received_at);
CREATE TABLE channel_people (
  id text PRIMARY KEY NOT NULL, channel_id text NOT NULL, external_id text NOT NULL, chat_id text NOT NULL, role text NOT NULL,
  display_name text NOT NULL, handle text, conversation_id text, first_seen_at integer NOT NULL, last_message_at integer NOT NULL,
  FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE cascade,
  FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE set null,
  CHECK (role = 'requested' OR role = 'owner' OR role = 'allowed' OR role = 'refused')
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX channel_people_one_per_account ON channel_people (channel_id, external_id);
CREATE UNIQUE INDEX channel_people_one_owner ON channel_people (channel_id) WHERE role = 'owner';
CREATE INDEX channel_people_requested ON channel_people (first_seen_at) WHERE role = 'requested';
CREATE INDEX channel_people_by_conversation ON channel_people (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE TABLE channels (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, agent_id text NOT NULL, kind text NOT NULL, account_id text NOT NULL,
  name text NOT NULL, link text, base_url text, enabled integer NOT NULL, status text NOT NULL, problem text NOT NULL,
  status_since integer NOT NULL, last_round_trip_at integer, position text, created_at integer NOT NULL,
  FOREIGN KEY (agent_id) REFERENCES agents(id), CHECK (kind = 'telegram' OR kind = 'discord' OR kind = 'slack' OR kind = 'messenger'),
  CHECK (enabled IN (0, 1)),
  CHECK (status = 'off' OR status = 'connecting' OR status = 'open' OR status = 'failing' OR status = 'logged_out')
) STRICT;

CREATE UNIQUE INDEX channels_id_unique ON channels (id);
CREATE UNIQUE INDEX channels_one_per_account ON channels (kind, account_id);
CREATE INDEX channels_by_agent ON channels (agent_id, seq);
CREATE TABLE conversations (
  id text PRIMARY KEY NOT NULL, entity_id text NOT NULL, agent_id text NOT NULL, title text NOT NULL, created_at integer NOT NULL,
  updated_at integer NOT NULL,
  FOREIGN KEY (entity_id) REFERENCES entities(id), FOREIGN KEY (agent_id) REFERENCES agents(id)
) STRICT;

CREATE INDEX conversations_by_use ON conversations (updated_at, id);
CREATE INDEX conversations_by_agent ON conversations (agent_id, updated_at, id);
CREATE TABLE messages (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, conversation_id text NOT NULL, job_id text NOT NULL, role text NOT NULL,
  created_at integer NOT NULL, text text NOT NULL,
  FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE cascade, FOREIGN KEY (job_id) REFERENCES agent_jobs(id),
  CHECK (role = 'user' OR role = 'assistant')
) STRICT;

CREATE UNIQUE INDEX messages_id_unique ON messages (id);
CREATE UNIQUE INDEX messages_one_per_role ON messages (job_id, role);
CREATE INDEX messages_by_conversation ON messages (conversation_id);
CREATE TABLE entities (
  id text PRIMARY KEY NOT NULL, name text NOT NULL, is_default integer NOT NULL, created_at integer NOT NULL,
  CHECK (is_default IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX entities_one_default ON entities (is_default) WHERE is_default = 1;
CREATE TABLE file_changes (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, job_id text NOT NULL, agent_id text NOT NULL, call_id text,
  op text NOT NULL, state text NOT NULL, folder text NOT NULL, parts text NOT NULL, shown text NOT NULL, real_path text NOT NULL,
  from_folder text, from_parts text, from_shown text, from_real_path text, before_mark text, before_size integer, before_mode integer,
  after_mark text, after_size integer, after_mode integer, binary integer NOT NULL, own integer NOT NULL,
  trashed integer DEFAULT false NOT NULL, started_at integer NOT NULL, ended_at integer,
  FOREIGN KEY (job_id) REFERENCES agent_jobs(id) ON DELETE cascade, FOREIGN KEY (agent_id) REFERENCES agents(id),
  CHECK (op = 'write' OR op = 'edit' OR op = 'move' OR op = 'delete' OR op = 'undo'),
  CHECK (state = 'started' OR state = 'done' OR state = 'void' OR state = 'unclear'), CHECK (json_type(parts) = 'array'),
  CHECK (json_type(from_parts) = 'array'), CHECK (binary IN (0, 1)), CHECK (own IN (0, 1)), CHECK (trashed IN (0, 1)),
  CHECK ((op = 'undo') = (call_id IS NULL)), CHECK ((state = 'started') = (ended_at IS NULL)),
  CHECK ((from_real_path IS NULL) = (from_folder IS NULL)), CHECK ((from_real_path IS NULL) = (from_parts IS NULL)),
  CHECK ((from_real_path IS NULL) = (from_shown IS NULL)), CHECK ((before_mark IS NULL) = (before_size IS NULL)),
  CHECK ((before_mark IS NULL) = (before_mode IS NULL)), CHECK ((after_mark IS NULL) = (after_size IS NULL)),
  CHECK ((after_mark IS NULL) = (after_mode IS NULL)),
  CHECK (op <> 'move' OR (from_real_path IS NOT NULL AND before_mark IS NOT NULL AND after_mark IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX file_changes_id_unique ON file_changes (id);
CREATE INDEX file_changes_by_job ON file_changes (job_id, seq);
CREATE INDEX file_changes_by_path ON file_changes (real_path, seq);
CREATE TABLE client_turns (
  client_id text PRIMARY KEY NOT NULL, job_seq integer NOT NULL, digest blob NOT NULL, at integer NOT NULL,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq), CHECK (length(digest) = 32)
) STRICT, WITHOUT ROWID;

CREATE INDEX client_turns_by_age ON client_turns (at);
CREATE TABLE job_steps (
  id integer PRIMARY KEY NOT NULL, job_seq integer NOT NULL, seq integer NOT NULL, kind text NOT NULL, attempt integer NOT NULL,
  claim integer NOT NULL, created_at integer NOT NULL, duration_ms integer NOT NULL, call_id text, name text, ok integer, provider_id text,
  model text, input_tokens integer, output_tokens integer, cached_tokens integer, cost_micros integer, priced integer, estimated integer,
  interrupted integer, first_of_job integer, first_of_model integer, tool_calls text, reasoning text, text text NOT NULL, adds_taint text,
  left_machine integer,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade,
  CHECK (kind = 'reply' OR kind = 'tool_started' OR kind = 'tool_result'), CHECK (duration_ms >= 0), CHECK (ok IN (0, 1)),
  CHECK (input_tokens >= 0), CHECK (output_tokens >= 0), CHECK (cached_tokens >= 0), CHECK (priced IN (0, 1)), CHECK (estimated IN (0, 1)),
  CHECK (interrupted IN (0, 1)), CHECK (first_of_job IN (0, 1)), CHECK (first_of_model IN (0, 1)),
  CHECK (adds_taint = 'private' OR adds_taint = 'untrusted' OR adds_taint = 'private,untrusted'), CHECK (left_machine IN (0, 1)),
  CHECK (seq > 0), CHECK (cost_micros >= 0),
  CHECK ((kind = 'reply') = (model IS NOT NULL AND provider_id IS NOT NULL AND cost_micros IS NOT NULL AND tool_calls IS NOT NULL)),
  CHECK ((kind = 'reply') = (call_id IS NULL AND name IS NULL)), CHECK ((kind = 'tool_result') = (ok IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX job_steps_one_per_seq ON job_steps (job_seq, seq);
CREATE INDEX job_steps_replies_by_time ON job_steps (created_at) WHERE kind = 'reply';
CREATE INDEX job_steps_taints ON job_steps (job_seq, seq) WHERE adds_taint IS NOT NULL OR left_machine = 1;
CREATE TABLE job_texts (
  job_seq integer PRIMARY KEY NOT NULL, task text NOT NULL, context text, result text, output text, payload blob, headers text,
  before_job_seq integer,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade, CHECK (json_type(context) = 'object'),
  CHECK (json_type(output) = 'object'), CHECK (json_type(headers) = 'object')
) STRICT;

CREATE TABLE job_time_buckets (
  first_seq integer PRIMARY KEY NOT NULL, bucket_at integer NOT NULL,
  CHECK (bucket_at % 900000 = 0)
) STRICT;

CREATE INDEX job_time_buckets_by_time ON job_time_buckets (bucket_at);
CREATE TABLE agent_jobs (
  seq integer PRIMARY KEY NOT NULL, id text NOT NULL, entity_id text NOT NULL, agent_id text NOT NULL, channel text NOT NULL,
  status text NOT NULL, title text NOT NULL, conversation_id text, trigger_id text, schedule_id text, parent_job_id text,
  retry_of_job_id text, provider_id text, model text, input_tokens integer DEFAULT 0 NOT NULL, output_tokens integer DEFAULT 0 NOT NULL,
  cached_tokens integer DEFAULT 0 NOT NULL, cost_micros integer DEFAULT 0 NOT NULL, unpriced_calls integer DEFAULT 0 NOT NULL,
  turns integer DEFAULT 0 NOT NULL, tool_calls integer DEFAULT 0 NOT NULL, steps integer DEFAULT 0 NOT NULL,
  attempt integer DEFAULT 0 NOT NULL, claim integer DEFAULT 0 NOT NULL, crashes integer DEFAULT 0 NOT NULL, boot_id text,
  heartbeat_at integer, woken integer DEFAULT false NOT NULL, cancel_requested_at integer, working_ms integer DEFAULT 0 NOT NULL,
  created_at integer NOT NULL, started_at integer, finished_at integer, error text, error_message text, result_preview text,
  parent_call_id text, children_cost_micros integer DEFAULT 0 NOT NULL, no_op integer DEFAULT false NOT NULL,
  FOREIGN KEY (entity_id) REFERENCES entities(id), FOREIGN KEY (agent_id) REFERENCES agents(id),
  FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE set null, FOREIGN KEY (parent_job_id) REFERENCES agent_jobs(id),
  FOREIGN KEY (retry_of_job_id) REFERENCES agent_jobs(id),
  CHECK (channel = 'chat' OR channel = 'api' OR channel = 'webhook' OR channel = 'schedule' OR channel = 'telegram' OR channel = 'discord' OR channel = 'slack' OR channel = 'messenger' OR channel = 'delegation'),
  CHECK (status = 'pending' OR status = 'running' OR status = 'awaiting_approval' OR status = 'awaiting_child' OR status = 'completed' OR status = 'failed' OR status = 'cancelled'),
  CHECK (input_tokens >= 0), CHECK (output_tokens >= 0), CHECK (cached_tokens >= 0), CHECK (unpriced_calls >= 0), CHECK (turns >= 0),
  CHECK (tool_calls >= 0), CHECK (attempt >= 0), CHECK (claim >= 0), CHECK (crashes >= 0), CHECK (woken IN (0, 1)), CHECK (working_ms >= 0),
  CHECK (no_op IN (0, 1)), CHECK (cost_micros >= 0), CHECK (children_cost_micros >= 0), CHECK (steps >= turns + tool_calls),
  CHECK ((status = 'completed' OR status = 'failed' OR status = 'cancelled') = (finished_at IS NOT NULL)),
  CHECK ((status = 'running') = (boot_id IS NOT NULL)), CHECK ((status = 'running') = (heartbeat_at IS NOT NULL)),
  CHECK ((status = 'failed') = (error IS NOT NULL)), CHECK ((error IS NULL) = (error_message IS NULL)),
  CHECK ((claim = 0) = (started_at IS NULL)), CHECK (claim > 0 OR status = 'pending' OR status = 'cancelled'),
  CHECK (woken = 0 OR status = 'running'),
  CHECK (cancel_requested_at IS NULL OR (status <> 'pending' AND status <> 'awaiting_approval' AND status <> 'awaiting_child')),
  CHECK ((provider_id IS NULL) = (model IS NULL)), CHECK (cached_tokens <= input_tokens)
) STRICT;

CREATE UNIQUE INDEX agent_jobs_id_unique ON agent_jobs (id);
CREATE INDEX agent_jobs_by_agent ON agent_jobs (agent_id, status);
CREATE INDEX agent_jobs_by_conversation ON agent_jobs (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX agent_jobs_open_turns ON agent_jobs (conversation_id) WHERE conversation_id IS NOT NULL AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child');
CREATE INDEX agent_jobs_open_runs ON agent_jobs (schedule_id) WHERE schedule_id IS NOT NULL AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child');
CREATE INDEX agent_jobs_by_parent ON agent_jobs (parent_job_id) WHERE parent_job_id IS NOT NULL;
CREATE INDEX agent_jobs_by_retry ON agent_jobs (retry_of_job_id) WHERE retry_of_job_id IS NOT NULL;
CREATE UNIQUE INDEX agent_jobs_one_per_call ON agent_jobs (parent_job_id, parent_call_id) WHERE parent_call_id IS NOT NULL;
CREATE INDEX agent_jobs_by_state ON agent_jobs (status, channel) WHERE status <> 'pending' AND status <> 'running';
CREATE INDEX agent_jobs_running ON agent_jobs (status) WHERE status = 'running';
CREATE INDEX agent_jobs_ended_runs ON agent_jobs (schedule_id, created_at) WHERE schedule_id IS NOT NULL AND finished_at IS NOT NULL;
CREATE TABLE postponed_jobs (
  job_seq integer PRIMARY KEY NOT NULL, until integer NOT NULL, times integer NOT NULL,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade, CHECK (times > 0)
) STRICT;

CREATE TABLE reply_parts (
  job_seq integer NOT NULL, seq integer NOT NULL, parts text NOT NULL,
  PRIMARY KEY(job_seq, seq), FOREIGN KEY (job_seq,seq) REFERENCES job_steps(job_seq,seq) ON DELETE cascade,
  CHECK (json_type(parts) = 'object')
) STRICT, WITHOUT ROWID;

CREATE TABLE search_mark (
  id integer PRIMARY KEY NOT NULL, job_seq integer NOT NULL,
  CHECK (job_seq >= 0), CHECK (id = 1)
) STRICT;

CREATE TABLE search_queue (
  job_seq integer PRIMARY KEY NOT NULL,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade
) STRICT;

CREATE TABLE job_memories (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, job_id text NOT NULL, memory_id text NOT NULL, via text NOT NULL,
  version integer NOT NULL, text text NOT NULL, untrusted integer NOT NULL, at integer NOT NULL,
  FOREIGN KEY (job_id) REFERENCES agent_jobs(id) ON DELETE cascade, CHECK (via = 'prompt' OR via = 'recall'), CHECK (untrusted IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX job_memories_one_per_version ON job_memories (job_id, memory_id, via, version);
CREATE TABLE memories (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, agent_id text, writer_agent_id text, job_id text, call_id text,
  text text NOT NULL, untrusted integer NOT NULL, created_at integer NOT NULL, updated_at integer NOT NULL,
  FOREIGN KEY (agent_id) REFERENCES agents(id), FOREIGN KEY (writer_agent_id) REFERENCES agents(id),
  FOREIGN KEY (job_id) REFERENCES agent_jobs(id) ON DELETE set null, CHECK (untrusted IN (0, 1)), CHECK (text <> '')
) STRICT;

CREATE UNIQUE INDEX memories_id_unique ON memories (id);
CREATE INDEX memories_by_agent ON memories (agent_id, seq);
CREATE UNIQUE INDEX memories_one_per_call ON memories (job_id, call_id) WHERE call_id IS NOT NULL;
CREATE TABLE outbox (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, key text NOT NULL, kind text NOT NULL, state text NOT NULL,
  agent_id text NOT NULL, channel_id text, person_id text, chat_id text, job_id text, approval_id text, text text NOT NULL,
  buttons text NOT NULL, files text NOT NULL, tries integer DEFAULT 0 NOT NULL, cut_off integer DEFAULT 0 NOT NULL,
  parts_sent integer DEFAULT 0 NOT NULL, problem text DEFAULT '' NOT NULL, external_id text, created_at integer NOT NULL,
  next_try_at integer, give_up_at integer NOT NULL, sent_at integer, failed_at integer, only_files_left integer DEFAULT false NOT NULL,
  FOREIGN KEY (agent_id) REFERENCES agents(id), FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE set null,
  FOREIGN KEY (job_id) REFERENCES agent_jobs(id) ON DELETE set null,
  CHECK (kind = 'reply' OR kind = 'confirmation' OR kind = 'approval' OR kind = 'notification'),
  CHECK (state = 'pending' OR state = 'sent' OR state = 'undeliverable' OR state = 'not_sent'), CHECK (json_type(buttons) = 'array'),
  CHECK (json_type(files) = 'array'), CHECK (tries >= 0), CHECK (cut_off >= 0), CHECK (parts_sent >= 0), CHECK (only_files_left IN (0, 1)),
  CHECK ((state = 'pending') = (next_try_at IS NOT NULL)), CHECK ((state = 'sent') = (sent_at IS NOT NULL)),
  CHECK ((state = 'undeliverable') = (failed_at IS NOT NULL)), CHECK (state = 'not_sent' OR chat_id IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX outbox_id_unique ON outbox (id);
CREATE UNIQUE INDEX outbox_key_unique ON outbox (key);
CREATE INDEX outbox_of_channel ON outbox (channel_id, seq) WHERE state = 'pending';
CREATE INDEX outbox_waiting ON outbox (give_up_at) WHERE state = 'pending';
CREATE INDEX outbox_undeliverable ON outbox (failed_at) WHERE state = 'undeliverable';
CREATE INDEX outbox_by_state ON outbox (state, seq);
CREATE INDEX outbox_by_agent ON outbox (agent_id, seq);
CREATE INDEX outbox_by_job ON outbox (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX outbox_by_approval ON outbox (approval_id) WHERE approval_id IS NOT NULL;
CREATE INDEX outbox_approval_messages ON outbox (channel_id, external_id) WHERE approval_id IS NOT NULL AND external_id IS NOT NULL;
CREATE INDEX outbox_of_chat ON outbox (channel_id, chat_id, seq) WHERE state = 'pending' AND only_files_left = 0;
CREATE TABLE model_prices (
  provider_id text NOT NULL, model text NOT NULL, input_micros integer NOT NULL, output_micros integer NOT NULL,
  cached_input_micros integer, updated_at integer NOT NULL,
  PRIMARY KEY(provider_id, model), FOREIGN KEY (provider_id) REFERENCES providers(id) ON DELETE cascade, CHECK (input_micros >= 0),
  CHECK (output_micros >= 0), CHECK (cached_input_micros >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE providers (
  id text PRIMARY KEY NOT NULL, kind text NOT NULL, name text NOT NULL, base_url text, has_key integer NOT NULL, origin text NOT NULL,
  created_at integer NOT NULL,
  CHECK (kind = 'anthropic' OR kind = 'openai' OR kind = 'google' OR kind = 'openai-compatible' OR kind = 'ollama' OR kind = 'demo'),
  CHECK (has_key IN (0, 1)), CHECK (origin = 'built_in' OR origin = 'user' OR origin = 'found')
) STRICT;

CREATE TABLE rules (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, effect text NOT NULL, tool text NOT NULL, pattern text, agent_id text,
  folder text, origin text NOT NULL, created_at integer NOT NULL, digest text,
  FOREIGN KEY (agent_id) REFERENCES agents(id), CHECK (effect = 'allow' OR effect = 'ask' OR effect = 'deny'),
  CHECK (origin = 'person' OR origin = 'approval')
) STRICT;

CREATE UNIQUE INDEX rules_id_unique ON rules (id);
CREATE UNIQUE INDEX rules_one_text ON rules (effect,tool,ifnull(pattern, ''),ifnull(agent_id, ''),ifnull(folder, ''),ifnull(digest, ''));
CREATE TABLE job_cursors (
  job_id text PRIMARY KEY NOT NULL, previous_job_id text, cursor text, adds_taint text,
  FOREIGN KEY (job_id) REFERENCES agent_jobs(id) ON DELETE cascade,
  CHECK (adds_taint = 'private' OR adds_taint = 'untrusted' OR adds_taint = 'private,untrusted')
) STRICT;

CREATE TABLE occurrences (
  seq integer PRIMARY KEY NOT NULL, schedule_seq integer NOT NULL, due_at integer NOT NULL, origin text NOT NULL, id text,
  state text NOT NULL, reason text NOT NULL, times integer DEFAULT 1 NOT NULL, until_at integer, noted_at integer NOT NULL,
  decided_at integer, job_seq integer,
  FOREIGN KEY (schedule_seq) REFERENCES schedules(seq) ON DELETE cascade, FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq),
  CHECK (origin = 'clock' OR origin = 'run_now'),
  CHECK (state = 'due' OR state = 'ran' OR state = 'caught_up' OR state = 'skipped_overlap' OR state = 'skipped_budget' OR state = 'missed' OR state = 'paused'),
  CHECK (times > 0), CHECK ((state IN ('ran', 'caught_up')) = (job_seq IS NOT NULL)), CHECK ((job_seq IS NULL) = (id IS NOT NULL)),
  CHECK ((state = 'due') = (decided_at IS NULL)), CHECK ((times > 1) = (until_at IS NOT NULL)),
  CHECK (until_at IS NULL OR until_at > due_at), CHECK (times = 1 OR state IN ('missed', 'paused')),
  CHECK (origin = 'clock' OR state = 'ran')
) STRICT;

CREATE UNIQUE INDEX occurrences_one_per_due_time ON occurrences (schedule_seq, due_at, origin);
CREATE INDEX occurrences_missed ON occurrences (decided_at) WHERE state = 'missed';
CREATE UNIQUE INDEX occurrences_one_due ON occurrences (schedule_seq) WHERE state = 'due';
CREATE TABLE schedules (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, entity_id text NOT NULL, agent_id text NOT NULL, name text NOT NULL,
  cron text NOT NULL, timezone text NOT NULL, task text NOT NULL, daily_budget_micros integer NOT NULL, catch_up_ms integer NOT NULL,
  notify_on_success integer NOT NULL, notify_via text NOT NULL, status text NOT NULL, last_status text, next_due_at integer,
  resume_at integer, exhausted_notified_at integer, cursor text, cursor_taints text, created_at integer NOT NULL,
  updated_at integer NOT NULL, last_run_seq integer,
  FOREIGN KEY (entity_id) REFERENCES entities(id), FOREIGN KEY (agent_id) REFERENCES agents(id), CHECK (catch_up_ms >= 0),
  CHECK (notify_on_success IN (0, 1)),
  CHECK (notify_via = 'auto' OR notify_via = 'telegram' OR notify_via = 'discord' OR notify_via = 'slack'),
  CHECK (status = 'active' OR status = 'paused' OR status = 'budget_exhausted'),
  CHECK (last_status = 'running' OR last_status = 'success' OR last_status = 'failed' OR last_status = 'cancelled' OR last_status = 'awaiting_approval' OR last_status = 'budget_exhausted' OR last_status = 'notify_unreachable'),
  CHECK (cursor_taints = 'private' OR cursor_taints = 'untrusted' OR cursor_taints = 'private,untrusted'),
  CHECK (daily_budget_micros BETWEEN 500000 AND 100000000), CHECK ((status = 'budget_exhausted') = (resume_at IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX schedules_id_unique ON schedules (id);
CREATE INDEX schedules_by_agent ON schedules (agent_id);
CREATE INDEX schedules_due ON schedules (next_due_at) WHERE status <> 'paused' AND next_due_at IS NOT NULL;
CREATE INDEX schedules_paused_due ON schedules (next_due_at) WHERE status = 'paused' AND next_due_at IS NOT NULL;
CREATE INDEX schedules_to_resume ON schedules (resume_at) WHERE resume_at IS NOT NULL;
CREATE TABLE settings (
  key text PRIMARY KEY NOT NULL, value text NOT NULL, updated_at integer NOT NULL,
  CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

CREATE TABLE spend_agent_buckets (
  agent_id text NOT NULL, bucket_at integer NOT NULL, cost_micros integer NOT NULL,
  PRIMARY KEY(agent_id, bucket_at), CHECK (bucket_at % 900000 = 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE spend_buckets (
  bucket_at integer PRIMARY KEY NOT NULL, cost_micros integer NOT NULL, input_tokens integer NOT NULL, output_tokens integer NOT NULL,
  cached_tokens integer NOT NULL, unpriced_calls integer NOT NULL, jobs integer NOT NULL,
  CHECK (bucket_at % 900000 = 0)
) STRICT;

CREATE TABLE spend_days (
  day_at integer NOT NULL, agent_id text NOT NULL, channel text NOT NULL, provider_id text NOT NULL, model text NOT NULL,
  cost_micros integer NOT NULL, input_tokens integer NOT NULL, output_tokens integer NOT NULL, cached_tokens integer NOT NULL,
  unpriced_calls integer NOT NULL, jobs integer NOT NULL, model_jobs integer NOT NULL,
  PRIMARY KEY(day_at, agent_id, channel, provider_id, model), CHECK (day_at % 86400000 = 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_refusals (
  seq integer PRIMARY KEY NOT NULL, id text NOT NULL, trigger_seq integer NOT NULL, after_job_seq integer NOT NULL, outcome text NOT NULL,
  status integer NOT NULL, times integer NOT NULL, sender_id text, event_name text, job_seq integer, bytes integer NOT NULL,
  received_at integer NOT NULL, headers text, payload blob,
  FOREIGN KEY (trigger_seq) REFERENCES webhook_triggers(seq) ON DELETE cascade, FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq),
  CHECK (outcome = 'duplicate' OR outcome = 'wrong_secret' OR outcome = 'paused' OR outcome = 'bad_signature' OR outcome = 'rate_limited' OR outcome = 'too_many_at_once' OR outcome = 'unsupported_media_type' OR outcome = 'unsupported_encoding' OR outcome = 'payload_too_large' OR outcome = 'invalid_json' OR outcome = 'incomplete' OR outcome = 'no_agent' OR outcome = 'placeholder_missing' OR outcome = 'job_creation_failed' OR outcome = 'ping'),
  CHECK (bytes >= 0), CHECK (json_type(headers) = 'object'), CHECK (times > 0), CHECK ((outcome = 'duplicate') = (job_seq IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX webhook_refusals_id_unique ON webhook_refusals (id);
CREATE INDEX webhook_refusals_by_place ON webhook_refusals (trigger_seq, after_job_seq);
CREATE INDEX webhook_refusals_of_senders ON webhook_refusals (received_at) WHERE outcome IN ('rate_limited', 'payload_too_large', 'invalid_json', 'no_agent', 'job_creation_failed');
CREATE TABLE webhook_sender_ids (
  trigger_seq integer NOT NULL, sender_id text NOT NULL, job_id text NOT NULL, at integer NOT NULL,
  PRIMARY KEY(trigger_seq, sender_id), FOREIGN KEY (trigger_seq) REFERENCES webhook_triggers(seq) ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_sender_ids_by_time ON webhook_sender_ids (at);
CREATE TABLE webhook_triggers (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, entity_id text NOT NULL, agent_id text, name text NOT NULL,
  slug text NOT NULL, secret_digest blob, task_template text NOT NULL, notify_on_success integer NOT NULL, notify_via text NOT NULL,
  signature text, dedupe integer NOT NULL, status text NOT NULL, trigger_count integer DEFAULT 0 NOT NULL, last_triggered_at integer,
  fires blob, fires_boot text, fires_gap real, created_at integer NOT NULL, newest_job_seq integer,
  require_placeholders integer DEFAULT false NOT NULL,
  FOREIGN KEY (entity_id) REFERENCES entities(id), FOREIGN KEY (agent_id) REFERENCES agents(id), CHECK (notify_on_success IN (0, 1)),
  CHECK (notify_via = 'auto' OR notify_via = 'telegram' OR notify_via = 'discord' OR notify_via = 'slack'),
  CHECK (signature = 'standard_webhooks' OR signature = 'github' OR signature = 'stripe' OR signature = 'slack'), CHECK (dedupe IN (0, 1)),
  CHECK (status = 'active' OR status = 'paused'), CHECK (trigger_count >= 0), CHECK (require_placeholders IN (0, 1)),
  CHECK (length(secret_digest) = 32), CHECK (length(fires) = 240), CHECK ((trigger_count = 0) = (last_triggered_at IS NULL)),
  CHECK ((trigger_count = 0) = (fires IS NULL)), CHECK ((fires IS NULL) = (fires_boot IS NULL)),
  CHECK ((fires IS NULL) = (fires_gap IS NULL))
) STRICT;

CREATE UNIQUE INDEX webhook_triggers_id_unique ON webhook_triggers (id);
CREATE UNIQUE INDEX webhook_triggers_slug_unique ON webhook_triggers (slug);
CREATE INDEX webhook_triggers_by_agent ON webhook_triggers (agent_id) WHERE agent_id IS NOT NULL;
CREATE TABLE events (
  id integer PRIMARY KEY NOT NULL, at integer NOT NULL, type text NOT NULL, payload text NOT NULL
) STRICT;

CREATE TABLE trusted_clock (
  name text PRIMARY KEY NOT NULL, at integer NOT NULL, ahead_ms integer NOT NULL, stood_ms integer NOT NULL, was_off integer NOT NULL,
  elapsed_ms integer NOT NULL, boot text NOT NULL,
  CHECK (name = 'age' OR name = 'money'), CHECK (stood_ms >= 0), CHECK (was_off IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE job_search USING fts5 (
  title, task, result, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE memory_search USING fts5 (
  text, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);

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
CREATE TRIGGER approvals_keep_answers BEFORE UPDATE ON approvals WHEN OLD.status <> 'pending'
BEGIN
  SELECT RAISE(ABORT, 'an answered approval never changes');
END;
CREATE TRIGGER approvals_keep_questions
  BEFORE UPDATE OF job_seq, kind, call_id, tool, args, hash, facts, question, budget, always_rule, may_remember ON approvals
BEGIN
  SELECT RAISE(ABORT, 'what is asked never changes');
END;
CREATE TRIGGER occurrences_keep_decisions BEFORE UPDATE OF schedule_seq, due_at, origin, state, decided_at, job_seq ON occurrences
  WHEN OLD.state <> 'due'
BEGIN
  SELECT RAISE(ABORT, 'a decided occurrence never changes');
END;

INSERT INTO entities (id, name, is_default, created_at) VALUES (new_id(), 'Personal', 1, now_ms());
INSERT INTO providers (id, kind, name, base_url, has_key, origin, created_at) VALUES ('demo', 'demo', 'Demo', NULL, 0, 'built_in', now_ms());
INSERT INTO search_mark (id, job_seq) VALUES (1, 0);
INSERT INTO trusted_clock (name, at, ahead_ms, stood_ms, was_off, elapsed_ms, boot) VALUES ('age', now_ms(), 0, 0, 0, 0, ''), ('money', now_ms(), 0, 0, 0, 0, '');
`
