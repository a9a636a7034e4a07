export const SQL = `
DROP INDEX webhook_refusals_of_senders;
CREATE INDEX webhook_refusals_of_senders ON webhook_refusals (received_at) WHERE outcome IN ('rate_limited', 'unsupported_encoding', 'payload_too_large', 'invalid_json', 'no_agent', 'placeholder_missing', 'job_creation_failed');
`
