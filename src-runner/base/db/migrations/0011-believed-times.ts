/** Time as it is believed to pass, whatever the clock is set to: see `base/time/believed-time.ts`. */
export const BELIEVED_TIMES = `
CREATE TABLE believed_times (
  -- What goes by it: whatever is forgotten by its age, or money.
  line TEXT NOT NULL PRIMARY KEY CHECK (line = 'age' OR line = 'money'),
  at INTEGER NOT NULL,
  -- What the clock shows beyond that, and is not believed yet.
  ahead_ms INTEGER NOT NULL,
  stood_ms INTEGER NOT NULL CHECK (stood_ms >= 0),
  -- The doubt is from a start of the machine: nobody knows how long it was off.
  was_off INTEGER NOT NULL CHECK (was_off IN (0, 1)),
  -- The machine's running time at that moment, and the boot that it is counted from.
  elapsed_ms INTEGER NOT NULL,
  boot TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO believed_times (line, at, ahead_ms, stood_ms, was_off, elapsed_ms, boot)
  SELECT line, coalesce((SELECT at FROM events ORDER BY id DESC LIMIT 1), now_ms()), 0, 0, 0, 0, ''
  FROM (SELECT 'age' AS line UNION ALL SELECT 'money');

-- When it expires is moved when the clock is set. All else of what is asked never changes, as before.
DROP TRIGGER approvals_keep_questions;
CREATE TRIGGER approvals_keep_questions
  BEFORE UPDATE OF job_seq, kind, call_id, tool, args, hash, facts, question, budget, always_rule, may_remember ON approvals
BEGIN
  SELECT RAISE(ABORT, 'what is asked never changes');
END;
`
