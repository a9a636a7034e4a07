const OUTCOMES = "'no_agent', 'job_creation_failed'))"
const MORE_OUTCOMES = "'no_agent', 'job_creation_failed', 'ping', 'placeholder_missing', 'too_many_at_once'))"

/** Deliveries that try an address, that leave placeholders empty, and that are too many at once. */
export const PINGS_AND_PLACEHOLDERS = `
ALTER TABLE webhook_triggers ADD COLUMN require_placeholders INTEGER NOT NULL DEFAULT 0 CHECK (require_placeholders IN (0, 1));
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '${quoted(OUTCOMES)}', '${quoted(MORE_OUTCOMES)}') WHERE type = 'table' AND name = 'webhook_refusals';
PRAGMA writable_schema = RESET;
`

function quoted(sql: string): string {
  return sql.replaceAll("'", "''")
}
