export const FILES_AND_MEMORY = `
-- What jobs did to files, written before it happens. A mark tells one content from another and names the kept copy in
-- the folder files/ beside the database; a state without a mark is "nothing there".
CREATE TABLE file_changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  job_id TEXT NOT NULL REFERENCES agent_jobs (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  -- null: a person undid something.
  call_id TEXT,
  op TEXT NOT NULL CHECK (op IN ('write', 'edit', 'move', 'delete', 'undo')),
  -- started: under way, or cut off. void: nothing was changed. unclear: cut off, and the file is neither as before nor as wanted.
  state TEXT NOT NULL CHECK (state IN ('started', 'done', 'void', 'unclear')),
  -- The agent's folder, the way below it, how it was shown, and where it really is.
  folder TEXT NOT NULL,
  parts TEXT NOT NULL CHECK (json_type(parts) = 'array'),
  shown TEXT NOT NULL,
  real_path TEXT NOT NULL,
  -- The same, of a move, for where the file came from. before_* is then its state there.
  from_folder TEXT,
  from_parts TEXT CHECK (from_parts IS NULL OR json_type(from_parts) = 'array'),
  from_shown TEXT,
  from_real_path TEXT,
  before_mark TEXT,
  before_size INTEGER,
  before_mode INTEGER,
  after_mark TEXT,
  after_size INTEGER,
  after_mode INTEGER,
  binary INTEGER NOT NULL CHECK (binary IN (0, 1)),
  -- All of what it leaves is this agent's own.
  own INTEGER NOT NULL CHECK (own IN (0, 1)),
  trashed INTEGER NOT NULL DEFAULT 0 CHECK (trashed IN (0, 1)),
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((op = 'undo') = (call_id IS NULL)),
  CHECK ((state = 'started') = (ended_at IS NULL)),
  CHECK ((from_real_path IS NULL) = (from_folder IS NULL)),
  CHECK ((from_real_path IS NULL) = (from_parts IS NULL)),
  CHECK ((from_real_path IS NULL) = (from_shown IS NULL)),
  CHECK ((before_mark IS NULL) = (before_size IS NULL)),
  CHECK ((before_mark IS NULL) = (before_mode IS NULL)),
  CHECK ((after_mark IS NULL) = (after_size IS NULL)),
  CHECK ((after_mark IS NULL) = (after_mode IS NULL)),
  CHECK (op <> 'move' OR (from_real_path IS NOT NULL AND before_mark IS NOT NULL AND after_mark IS NOT NULL))
) STRICT;
CREATE INDEX file_changes_by_job ON file_changes (job_id, seq);
CREATE INDEX file_changes_by_path ON file_changes (real_path, seq);

CREATE TABLE memories (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  -- null: shared by all agents.
  agent_id TEXT REFERENCES agents (id),
  -- The agent that wrote it, also when it is shared. null: a person did.
  writer_agent_id TEXT REFERENCES agents (id),
  job_id TEXT REFERENCES agent_jobs (id) ON DELETE SET NULL,
  call_id TEXT,
  text TEXT NOT NULL CHECK (text <> ''),
  untrusted INTEGER NOT NULL CHECK (untrusted IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX memories_by_agent ON memories (agent_id, seq);
-- A call that is run again after a crash remembers nothing twice.
CREATE UNIQUE INDEX memories_one_per_call ON memories (job_id, call_id) WHERE call_id IS NOT NULL;

CREATE VIRTUAL TABLE memory_search USING fts5 (
  text, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);

-- What a job was given to read of it, as it then was.
CREATE TABLE job_memories (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id TEXT NOT NULL REFERENCES agent_jobs (id) ON DELETE CASCADE,
  memory_id TEXT NOT NULL,
  via TEXT NOT NULL CHECK (via IN ('prompt', 'recall')),
  -- Of a memory that changed while the job ran, each text it read.
  version INTEGER NOT NULL,
  text TEXT NOT NULL,
  untrusted INTEGER NOT NULL CHECK (untrusted IN (0, 1)),
  at INTEGER NOT NULL,
  UNIQUE (job_id, memory_id, via, version)
) STRICT;
`
