/**
 * Many schedules come due at once, each in a row and index entries of its own in places far apart. What a run writes beside
 * its job is one short row at the end of the ledger and one entry of its key.
 */
export const LEAN_LEDGER = `
-- A row that made a job has the id of that job, of which it is the only one, and no id of its own. It names its job, so no
-- index over jobs has to be written to find it.
CREATE TABLE ledger (
  seq INTEGER PRIMARY KEY,
  schedule_seq INTEGER NOT NULL REFERENCES schedules (seq) ON DELETE CASCADE,
  due_at INTEGER NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('clock', 'run_now')),
  -- Of what made no job.
  id TEXT,
  state TEXT NOT NULL CHECK (state IN ('due', 'ran', 'caught_up', 'skipped_overlap', 'skipped_budget', 'missed', 'paused')),
  reason TEXT NOT NULL,
  -- Above 1, the row stands for so many due times in a row, from due_at to until_at.
  times INTEGER NOT NULL DEFAULT 1 CHECK (times > 0),
  until_at INTEGER,
  noted_at INTEGER NOT NULL,
  decided_at INTEGER,
  job_seq INTEGER REFERENCES agent_jobs (seq),
  -- What keeps a due time from being decided twice.
  UNIQUE (schedule_seq, due_at, origin),
  CHECK ((state IN ('ran', 'caught_up')) = (job_seq IS NOT NULL)),
  CHECK ((job_seq IS NULL) = (id IS NOT NULL)),
  CHECK ((state = 'due') = (decided_at IS NULL)),
  CHECK ((times > 1) = (until_at IS NOT NULL)),
  CHECK (until_at IS NULL OR until_at > due_at),
  CHECK (times = 1 OR state IN ('missed', 'paused')),
  CHECK (origin = 'clock' OR state = 'ran')
) STRICT;
INSERT INTO ledger (schedule_seq, due_at, origin, id, state, reason, times, until_at, noted_at, decided_at, job_seq)
  SELECT schedule.seq, o.due_at, o.origin, iif(job.seq IS NULL, o.id, NULL), o.state, o.reason, o.times, o.until_at, o.noted_at,
    o.decided_at, job.seq
  FROM occurrences AS o JOIN schedules AS schedule ON schedule.id = o.schedule_id
    LEFT JOIN agent_jobs AS job ON job.occurrence_id = o.id
  ORDER BY o.noted_at;
-- The newest row that made a job.
ALTER TABLE schedules ADD COLUMN last_run_seq INTEGER;
UPDATE schedules SET last_run_seq = newest.seq
  FROM occurrences AS o JOIN ledger AS newest ON newest.due_at = o.due_at AND newest.origin = o.origin
  WHERE o.id = schedules.last_run_id AND newest.schedule_seq = schedules.seq;
ALTER TABLE schedules DROP COLUMN last_run_id;
DROP TABLE occurrences;
ALTER TABLE ledger RENAME TO occurrences;
-- What did not run, which the person has to know of.
CREATE INDEX occurrences_missed ON occurrences (decided_at) WHERE state = 'missed';
-- One due time at most waits for the run before it.
CREATE UNIQUE INDEX occurrences_one_due ON occurrences (schedule_seq) WHERE state = 'due';
-- What was decided is not decided again, and its job is none other's.
CREATE TRIGGER occurrences_keep_decisions BEFORE UPDATE OF schedule_seq, due_at, origin, state, decided_at, job_seq ON occurrences
  WHEN OLD.state <> 'due'
BEGIN
  SELECT RAISE(ABORT, 'a decided occurrence never changes');
END;

DROP INDEX agent_jobs_one_per_occurrence;
ALTER TABLE agent_jobs DROP COLUMN occurrence_id;
-- The jobs of a schedule that have ended; those that have not are in agent_jobs_open_fires. A job on its way in is in one of
-- the two.
CREATE INDEX agent_jobs_ended_fires ON agent_jobs (schedule_id, created_at) WHERE schedule_id IS NOT NULL AND finished_at IS NOT NULL;
DROP INDEX agent_jobs_by_schedule;
`
