/** Rules and messages hold for exactly what a person was shown. */
export const BOUND_CALLS = `
-- SHA-256 of what an allowed command runs, and where. Another program, script or folder is not allowed by it.
ALTER TABLE rules ADD COLUMN digest TEXT;
DROP INDEX rules_one_text;
CREATE UNIQUE INDEX rules_one_text
  ON rules (effect, tool, ifnull(pattern, ''), ifnull(agent_id, ''), ifnull(folder, ''), ifnull(digest, ''));
-- "Always" used to allow a command in every folder and with every script. It is asked once more.
DELETE FROM rules WHERE origin = 'approval' AND tool = 'run_command';

-- All of its text went out, and a file of it has to be tried again: messages behind it do not wait for that.
ALTER TABLE outbox ADD COLUMN only_files_left INTEGER NOT NULL DEFAULT 0 CHECK (only_files_left = 0 OR only_files_left = 1);
DROP INDEX outbox_of_chat;
CREATE INDEX outbox_of_chat ON outbox (channel_id, chat_id, seq) WHERE state = 'pending' AND only_files_left = 0;
`
