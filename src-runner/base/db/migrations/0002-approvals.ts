export const APPROVALS = `
ALTER TABLE agents ADD COLUMN day_budget_micros INTEGER CHECK (day_budget_micros > 0);
ALTER TABLE agents ADD COLUMN month_budget_micros INTEGER CHECK (month_budget_micros > 0);

-- The call that a delegated job answers: one job for one call, however often the parent is started again.
ALTER TABLE agent_jobs ADD COLUMN parent_call_id TEXT;
ALTER TABLE agent_jobs ADD COLUMN children_cost_micros INTEGER NOT NULL DEFAULT 0 CHECK (children_cost_micros >= 0);
CREATE UNIQUE INDEX agent_jobs_one_per_call ON agent_jobs (parent_job_id, parent_call_id) WHERE parent_call_id IS NOT NULL;

ALTER TABLE job_texts ADD COLUMN output TEXT CHECK (output IS NULL OR json_type(output) = 'object');

-- What a tool's answer brought into the job, and whether its call went out of this machine. Marks are read from here.
ALTER TABLE job_steps ADD COLUMN brings TEXT CHECK (brings IN ('private', 'untrusted', 'private,untrusted'));
ALTER TABLE job_steps ADD COLUMN left_machine INTEGER CHECK (left_machine IN (0, 1));
UPDATE job_steps SET brings = 'private' WHERE kind = 'tool_result' AND name IN ('list_files', 'read_file', 'search_files');
CREATE INDEX job_steps_marks ON job_steps (job_seq, seq) WHERE brings IS NOT NULL OR left_machine = 1;

CREATE TABLE rules (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  effect TEXT NOT NULL CHECK (effect IN ('allow', 'ask', 'deny')),
  tool TEXT NOT NULL,
  pattern TEXT,
  agent_id TEXT REFERENCES agents (id),
  folder TEXT,
  origin TEXT NOT NULL CHECK (origin IN ('person', 'approval')),
  created_at INTEGER NOT NULL
) STRICT;
-- The same words twice would only make the list longer.
CREATE UNIQUE INDEX rules_one_text ON rules (effect, tool, ifnull(pattern, ''), ifnull(agent_id, ''), ifnull(folder, ''));

-- The last thing the policy said of each call. Written with the step that followed from it, or with the question.
CREATE TABLE decisions (
  job_seq INTEGER NOT NULL REFERENCES agent_jobs (seq) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  facts TEXT NOT NULL CHECK (json_type(facts) = 'object'),
  decision TEXT NOT NULL CHECK (json_type(decision) = 'object'),
  marks TEXT NOT NULL CHECK (json_type(marks) = 'object'),
  decided_at INTEGER NOT NULL,
  PRIMARY KEY (job_seq, call_id)
) STRICT;

CREATE TABLE approvals (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  job_seq INTEGER NOT NULL REFERENCES agent_jobs (seq) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('tool', 'question', 'unknown_outcome', 'budget')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'withdrawn')),
  call_id TEXT,
  tool TEXT,
  args TEXT NOT NULL CHECK (json_valid(args)),
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  reason TEXT NOT NULL,
  facts TEXT CHECK (facts IS NULL OR json_type(facts) = 'object'),
  decision TEXT CHECK (decision IS NULL OR json_type(decision) = 'object'),
  marks TEXT NOT NULL CHECK (json_type(marks) = 'object'),
  question TEXT CHECK (question IS NULL OR json_type(question) = 'object'),
  budget TEXT CHECK (budget IS NULL OR json_type(budget) = 'object'),
  always_rule TEXT CHECK (always_rule IS NULL OR json_type(always_rule) = 'object'),
  may_remember TEXT NOT NULL CHECK (json_type(may_remember) = 'array'),
  remember TEXT CHECK (remember IN ('once', 'job', 'always')),
  note TEXT,
  answer TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  answered_at INTEGER,
  CHECK ((kind = 'budget') = (call_id IS NULL)),
  CHECK ((call_id IS NULL) = (tool IS NULL)),
  CHECK ((kind = 'budget') = (budget IS NOT NULL)),
  CHECK ((kind = 'question') = (question IS NOT NULL)),
  CHECK ((status IN ('approved', 'rejected')) = (answered_at IS NOT NULL)),
  CHECK ((status = 'approved') = (remember IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX approvals_one_open ON approvals (job_seq, ifnull(call_id, '')) WHERE status = 'pending';
CREATE INDEX approvals_by_status ON approvals (status);
CREATE INDEX approvals_by_job ON approvals (job_seq);
CREATE INDEX approvals_due ON approvals (expires_at) WHERE status = 'pending';
-- An answer is given once, and what was shown is what was answered.
CREATE TRIGGER approvals_keep_answers BEFORE UPDATE ON approvals WHEN OLD.status <> 'pending'
BEGIN
  SELECT RAISE(ABORT, 'an answered approval never changes');
END;
CREATE TRIGGER approvals_keep_questions
  BEFORE UPDATE OF job_seq, kind, call_id, tool, args, hash, facts, question, budget, always_rule, may_remember, expires_at ON approvals
BEGIN
  SELECT RAISE(ABORT, 'what is asked never changes');
END;

-- What one tap added to a cap. owner: the job, the agent, or nothing for all; period: the day or month it is for.
CREATE TABLE budget_extensions (
  approval_id TEXT NOT NULL PRIMARY KEY REFERENCES approvals (id) ON DELETE CASCADE,
  scope TEXT NOT NULL CHECK (scope IN ('job', 'agent_day', 'agent_month', 'app_day')),
  owner TEXT NOT NULL,
  period TEXT NOT NULL,
  micros INTEGER NOT NULL CHECK (micros > 0)
) STRICT;
CREATE INDEX budget_extensions_by_owner ON budget_extensions (scope, owner, period);

-- What each agent spent, by the quarter of an hour: the days of every time zone can be put together from here.
CREATE TABLE spend_agent_quarters (
  agent_id TEXT NOT NULL,
  quarter_at INTEGER NOT NULL CHECK (quarter_at % 900000 = 0),
  cost_micros INTEGER NOT NULL,
  PRIMARY KEY (agent_id, quarter_at)
) STRICT, WITHOUT ROWID;
INSERT INTO spend_agent_quarters (agent_id, quarter_at, cost_micros)
  SELECT job.agent_id, step.created_at - step.created_at % 900000, sum(step.cost_micros)
  FROM job_steps AS step JOIN agent_jobs AS job ON job.seq = step.job_seq
  WHERE step.kind = 'reply' AND step.cost_micros > 0 GROUP BY 1, 2;
`
