export const SQL = `
CREATE TABLE __new_approvals (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, job_seq integer NOT NULL, entity_id text NOT NULL, kind text NOT NULL, status text NOT NULL,
  call_id text, tool text, args text NOT NULL, hash text NOT NULL, reason text NOT NULL, facts text, decision text, taints text NOT NULL,
  question text, budget text, always_rule text, may_remember text NOT NULL, remember text, note text, answer text,
  created_at integer NOT NULL, expires_at integer NOT NULL, answered_at integer,
  FOREIGN KEY (job_seq) REFERENCES agent_jobs(seq) ON DELETE cascade, FOREIGN KEY (entity_id) REFERENCES entities(id),
  CHECK (kind = 'tool' OR kind = 'question' OR kind = 'unknown_outcome' OR kind = 'budget'),
  CHECK (status = 'pending' OR status = 'approved' OR status = 'rejected' OR status = 'expired' OR status = 'withdrawn'),
  CHECK (json_type(facts) = 'object'), CHECK (json_type(decision) = 'object'), CHECK (json_type(taints) = 'object'),
  CHECK (json_type(question) = 'object'), CHECK (json_type(budget) = 'object'), CHECK (json_type(always_rule) = 'object'),
  CHECK (json_type(may_remember) = 'array'), CHECK (remember = 'once' OR remember = 'job' OR remember = 'always'), CHECK (json_valid(args)),
  CHECK (length(hash) = 64), CHECK ((kind = 'budget') = (call_id IS NULL)), CHECK ((call_id IS NULL) = (tool IS NULL)),
  CHECK ((kind = 'budget') = (budget IS NOT NULL)), CHECK ((kind = 'question') = (question IS NOT NULL)),
  CHECK ((status IN ('approved', 'rejected')) = (answered_at IS NOT NULL)), CHECK ((status = 'approved') = (remember IS NOT NULL))
) STRICT;

INSERT INTO __new_approvals (seq, id, job_seq, kind, status, call_id, tool, args, hash, reason, facts, decision, taints, question, budget, always_rule, may_remember, remember, note, answer, created_at, expires_at, answered_at, entity_id)
SELECT seq, id, job_seq, kind, status, call_id, tool, args, hash, reason, facts, decision, taints, question, budget, always_rule, may_remember, remember, note, answer, created_at, expires_at, answered_at,
  (SELECT entity_id FROM agent_jobs WHERE agent_jobs.seq = approvals.job_seq) FROM approvals;
DROP TABLE approvals;
ALTER TABLE __new_approvals RENAME TO approvals;

CREATE UNIQUE INDEX approvals_id_unique ON approvals (id);
CREATE UNIQUE INDEX approvals_one_open ON approvals (job_seq,ifnull(call_id, '')) WHERE status = 'pending';
CREATE INDEX approvals_by_status ON approvals (status);
CREATE INDEX approvals_by_job ON approvals (job_seq);
CREATE INDEX approvals_due ON approvals (expires_at) WHERE status = 'pending';

CREATE INDEX approvals_by_entity ON approvals (entity_id);
CREATE INDEX approvals_by_entity_and_status ON approvals (entity_id, status);

CREATE TRIGGER approvals_keep_answers BEFORE UPDATE ON approvals WHEN OLD.status <> 'pending'
BEGIN
  SELECT RAISE(ABORT, 'an answered approval never changes');
END;
CREATE TRIGGER approvals_keep_questions
  BEFORE UPDATE OF job_seq, entity_id, kind, call_id, tool, args, hash, facts, question, budget, always_rule, may_remember ON approvals
BEGIN
  SELECT RAISE(ABORT, 'what is asked never changes');
END;

CREATE TABLE __new_outbox (
  seq integer PRIMARY KEY AUTOINCREMENT NOT NULL, id text NOT NULL, key text NOT NULL, kind text NOT NULL, state text NOT NULL,
  agent_id text NOT NULL, entity_id text NOT NULL, channel_id text, person_id text, chat_id text, job_id text, approval_id text, text text NOT NULL,
  buttons text NOT NULL, files text NOT NULL, tries integer DEFAULT 0 NOT NULL, cut_off integer DEFAULT 0 NOT NULL,
  parts_sent integer DEFAULT 0 NOT NULL, problem text DEFAULT '' NOT NULL, external_id text, created_at integer NOT NULL,
  next_try_at integer, give_up_at integer NOT NULL, sent_at integer, failed_at integer, only_files_left integer DEFAULT false NOT NULL,
  FOREIGN KEY (agent_id) REFERENCES agents(id), FOREIGN KEY (entity_id) REFERENCES entities(id), FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE set null,
  FOREIGN KEY (job_id) REFERENCES agent_jobs(id) ON DELETE set null,
  CHECK (kind = 'reply' OR kind = 'confirmation' OR kind = 'approval' OR kind = 'notification'),
  CHECK (state = 'pending' OR state = 'sent' OR state = 'undeliverable' OR state = 'not_sent'), CHECK (json_type(buttons) = 'array'),
  CHECK (json_type(files) = 'array'), CHECK (tries >= 0), CHECK (cut_off >= 0), CHECK (parts_sent >= 0), CHECK (only_files_left IN (0, 1)),
  CHECK ((state = 'pending') = (next_try_at IS NOT NULL)), CHECK ((state = 'sent') = (sent_at IS NOT NULL)),
  CHECK ((state = 'undeliverable') = (failed_at IS NOT NULL)), CHECK (state = 'not_sent' OR chat_id IS NOT NULL)
) STRICT;

INSERT INTO __new_outbox (seq, id, key, kind, state, agent_id, channel_id, person_id, chat_id, job_id, approval_id, text, buttons, files, tries, cut_off, parts_sent, problem, external_id, created_at, next_try_at, give_up_at, sent_at, failed_at, only_files_left, entity_id)
SELECT seq, id, key, kind, state, agent_id, channel_id, person_id, chat_id, job_id, approval_id, text, buttons, files, tries, cut_off, parts_sent, problem, external_id, created_at, next_try_at, give_up_at, sent_at, failed_at, only_files_left,
  (SELECT entity_id FROM agents WHERE agents.id = outbox.agent_id) FROM outbox;
DROP TABLE outbox;
ALTER TABLE __new_outbox RENAME TO outbox;

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

CREATE INDEX outbox_by_entity ON outbox (entity_id, seq);
CREATE INDEX outbox_by_entity_and_state ON outbox (entity_id, state, seq);
`
