export const SQL = `
CREATE TABLE __new_channel_conversations (
  conversation_id text PRIMARY KEY NOT NULL, person_id text NOT NULL, chat_id text, is_current integer DEFAULT true NOT NULL,
  FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE cascade,
  FOREIGN KEY (person_id) REFERENCES channel_people(id) ON DELETE cascade, CHECK (is_current IN (0, 1))
) STRICT, WITHOUT ROWID;

INSERT INTO __new_channel_conversations (conversation_id, person_id) SELECT conversation_id, person_id FROM channel_conversations;
DROP TABLE channel_conversations;
ALTER TABLE __new_channel_conversations RENAME TO channel_conversations;
CREATE INDEX channel_conversations_by_person ON channel_conversations (person_id,chat_id);
CREATE TABLE __new_channel_people (
  id text PRIMARY KEY NOT NULL, channel_id text NOT NULL, external_id text NOT NULL, is_room integer DEFAULT false NOT NULL,
  chat_id text NOT NULL, role text NOT NULL, display_name text NOT NULL, handle text, conversation_id text, first_seen_at integer NOT NULL,
  last_message_at integer NOT NULL,
  FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE cascade,
  FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE set null, CHECK (is_room IN (0, 1)),
  CHECK (role = 'requested' OR role = 'owner' OR role = 'allowed' OR role = 'refused')
) STRICT, WITHOUT ROWID;

INSERT INTO __new_channel_people (id, channel_id, external_id, chat_id, role, display_name, handle, conversation_id, first_seen_at, last_message_at) SELECT id, channel_id, external_id, chat_id, role, display_name, handle, conversation_id, first_seen_at, last_message_at FROM channel_people;
DROP TABLE channel_people;
ALTER TABLE __new_channel_people RENAME TO channel_people;
CREATE UNIQUE INDEX channel_people_one_per_account ON channel_people (channel_id,external_id);
CREATE UNIQUE INDEX channel_people_one_owner ON channel_people (channel_id) WHERE role = 'owner';
CREATE INDEX channel_people_requested ON channel_people (first_seen_at) WHERE role = 'requested';
CREATE INDEX channel_people_by_conversation ON channel_people (conversation_id) WHERE conversation_id IS NOT NULL;
`
