export const SCHEDULES = `
-- The run ended with nothing new to tell.
ALTER TABLE agent_jobs ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0 CHECK (quiet IN (0, 1));
CREATE INDEX agent_jobs_by_schedule ON agent_jobs (schedule_id, created_at) WHERE schedule_id IS NOT NULL;

CREATE TABLE schedules (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  entity_id TEXT NOT NULL REFERENCES entities (id),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  name TEXT NOT NULL,
  cron TEXT NOT NULL,
  timezone TEXT NOT NULL,
  task TEXT NOT NULL,
  daily_budget_micros INTEGER NOT NULL CHECK (daily_budget_micros BETWEEN 500000 AND 100000000),
  -- How old a missed due time may be to be caught up with. 0: never.
  catch_up_ms INTEGER NOT NULL CHECK (catch_up_ms >= 0),
  notify_on_success INTEGER NOT NULL CHECK (notify_on_success IN (0, 1)),
  notify_via TEXT NOT NULL CHECK (notify_via IN ('auto', 'telegram', 'discord', 'slack')),
  status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'budget_exhausted')),
  last_status TEXT CHECK (last_status IN
    ('running', 'success', 'failed', 'cancelled', 'awaiting_approval', 'budget_exhausted', 'notify_unreachable')),
  -- The first due time that the ledger does not have: it only ever goes forward. null: there is none any more.
  next_due_at INTEGER,
  -- When the local day begins that gives the budget back.
  resume_at INTEGER,
  -- When its owner was last told that the budget is spent: once for each local day.
  exhausted_told_at INTEGER,
  -- The newest occurrence that made a job.
  last_run_id TEXT,
  -- What the agent keeps from one run to the next.
  watch_state TEXT,
  -- What it may hold that is not the agent's own: marks of the job that kept it. A state that a person wrote holds nothing.
  watch_brings TEXT CHECK (watch_brings IN ('private', 'untrusted', 'private,untrusted')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((status = 'budget_exhausted') = (resume_at IS NOT NULL))
) STRICT;
CREATE INDEX schedules_by_agent ON schedules (agent_id);
-- What is due, in the order of time. The due times of paused schedules are only noted, which nobody has to wake up for.
CREATE INDEX schedules_due ON schedules (next_due_at) WHERE status <> 'paused' AND next_due_at IS NOT NULL;
CREATE INDEX schedules_paused_due ON schedules (next_due_at) WHERE status = 'paused' AND next_due_at IS NOT NULL;
CREATE INDEX schedules_to_resume ON schedules (resume_at) WHERE resume_at IS NOT NULL;

-- What a run was told of the runs before it, as it then was: an attempt after a crash is told the same.
CREATE TABLE job_watches (
  job_id TEXT PRIMARY KEY REFERENCES agent_jobs (id) ON DELETE CASCADE,
  previous_job_id TEXT,
  state TEXT,
  -- Marks that came into the job with it.
  brings TEXT CHECK (brings IN ('private', 'untrusted', 'private,untrusted'))
) STRICT;

-- The ledger: what became of each due time, and of each run that a person asked for. The key is what keeps a due time
-- from being decided twice. The job of a row is the one that names it in agent_jobs.occurrence_id.
CREATE TABLE occurrences (
  schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  due_at INTEGER NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('clock', 'run_now')),
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('due', 'ran', 'caught_up', 'skipped_overlap', 'skipped_budget', 'missed', 'paused')),
  reason TEXT NOT NULL,
  -- Above 1, the row stands for so many due times in a row, from due_at to until_at.
  times INTEGER NOT NULL DEFAULT 1 CHECK (times > 0),
  until_at INTEGER,
  noted_at INTEGER NOT NULL,
  decided_at INTEGER,
  PRIMARY KEY (schedule_id, due_at, origin),
  CHECK ((state = 'due') = (decided_at IS NULL)),
  CHECK ((times > 1) = (until_at IS NOT NULL)),
  CHECK (until_at IS NULL OR until_at > due_at),
  CHECK (times = 1 OR state IN ('missed', 'paused')),
  CHECK (origin = 'clock' OR state = 'ran')
) STRICT, WITHOUT ROWID;
-- What did not run, which the person has to know of.
CREATE INDEX occurrences_missed ON occurrences (decided_at) WHERE state = 'missed';
-- One due time at most waits for the run before it.
CREATE UNIQUE INDEX occurrences_one_due ON occurrences (schedule_id) WHERE state = 'due';
-- What was decided is not decided again.
CREATE TRIGGER occurrences_keep_decisions BEFORE UPDATE OF state, due_at, decided_at ON occurrences WHEN OLD.state <> 'due'
BEGIN
  SELECT RAISE(ABORT, 'a decided occurrence never changes');
END;
`
