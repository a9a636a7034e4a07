export const CHANNELS = `
CREATE TABLE channels (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  kind TEXT NOT NULL CHECK (kind IN ('telegram', 'discord', 'slack', 'messenger')),
  -- The service's own id of the account.
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  link TEXT,
  base_url TEXT,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  status TEXT NOT NULL CHECK (status IN ('off', 'connecting', 'open', 'failing', 'logged_out')),
  problem TEXT NOT NULL,
  status_since INTEGER NOT NULL,
  last_round_trip_at INTEGER,
  -- How far the service's messages have been taken in. Moves on in the transaction that keeps them.
  position TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (kind, account_id)
) STRICT;
CREATE INDEX channels_by_agent ON channels (agent_id, seq);

CREATE TABLE channel_people (
  id TEXT NOT NULL PRIMARY KEY,
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  external_id TEXT NOT NULL,
  -- Where a private message to them goes.
  chat_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('asked', 'owner', 'allowed', 'refused')),
  display_name TEXT NOT NULL,
  handle TEXT,
  -- The one that their next message belongs to. null: it begins a new one.
  conversation_id TEXT REFERENCES conversations (id) ON DELETE SET NULL,
  first_seen_at INTEGER NOT NULL,
  last_message_at INTEGER NOT NULL,
  UNIQUE (channel_id, external_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX channel_people_one_owner ON channel_people (channel_id) WHERE role = 'owner';
CREATE INDEX channel_people_asked ON channel_people (first_seen_at) WHERE role = 'asked';

CREATE INDEX channel_people_by_conversation ON channel_people (conversation_id) WHERE conversation_id IS NOT NULL;

-- Who is spoken with in a conversation, also in one that they have left: its last answers still go to them.
CREATE TABLE channel_conversations (
  conversation_id TEXT NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
  person_id TEXT NOT NULL REFERENCES channel_people (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_conversations_by_person ON channel_conversations (person_id);

-- A message that the service hands over twice makes one job.
CREATE TABLE channel_messages (
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  external_id TEXT NOT NULL,
  job_id TEXT REFERENCES agent_jobs (id) ON DELETE SET NULL,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (channel_id, external_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_messages_by_job ON channel_messages (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX channel_messages_by_age ON channel_messages (received_at);

CREATE TABLE outbox (
  -- The order in which messages were written, and within a chat the one in which they are sent.
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  -- What it tells of: the same thing is told once, however often it is written down.
  key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('reply', 'confirmation', 'approval', 'notice')),
  state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'undeliverable', 'nowhere')),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  channel_id TEXT REFERENCES channels (id) ON DELETE SET NULL,
  person_id TEXT,
  chat_id TEXT,
  job_id TEXT REFERENCES agent_jobs (id) ON DELETE SET NULL,
  approval_id TEXT,
  text TEXT NOT NULL,
  buttons TEXT NOT NULL CHECK (json_type(buttons) = 'array'),
  files TEXT NOT NULL CHECK (json_type(files) = 'array'),
  -- Tries that failed while the channel worked otherwise.
  tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- Tries that began and of which no ending was written down: the process died in them.
  cut_off INTEGER NOT NULL DEFAULT 0 CHECK (cut_off >= 0),
  -- Of a message that goes out in pieces, those that are there already.
  parts_sent INTEGER NOT NULL DEFAULT 0 CHECK (parts_sent >= 0),
  problem TEXT NOT NULL DEFAULT '',
  -- The service's id of the piece that carries the buttons: the last one of the text.
  external_id TEXT,
  created_at INTEGER NOT NULL,
  next_try_at INTEGER,
  -- What is still pending then is given up.
  give_up_at INTEGER NOT NULL,
  sent_at INTEGER,
  -- When it was given up.
  failed_at INTEGER,
  CHECK ((state = 'pending') = (next_try_at IS NOT NULL)),
  CHECK ((state = 'sent') = (sent_at IS NOT NULL)),
  CHECK ((state = 'undeliverable') = (failed_at IS NOT NULL)),
  CHECK (state = 'nowhere' OR chat_id IS NOT NULL)
) STRICT;
CREATE INDEX outbox_of_chat ON outbox (channel_id, chat_id, seq) WHERE state = 'pending';
CREATE INDEX outbox_of_channel ON outbox (channel_id, seq) WHERE state = 'pending';
CREATE INDEX outbox_waiting ON outbox (give_up_at) WHERE state = 'pending';
CREATE INDEX outbox_undeliverable ON outbox (failed_at) WHERE state = 'undeliverable';
CREATE INDEX outbox_by_state ON outbox (state, seq);
CREATE INDEX outbox_by_agent ON outbox (agent_id, seq);
CREATE INDEX outbox_by_job ON outbox (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX outbox_by_approval ON outbox (approval_id) WHERE approval_id IS NOT NULL;
CREATE INDEX outbox_asked ON outbox (channel_id, external_id) WHERE approval_id IS NOT NULL AND external_id IS NOT NULL;
`
