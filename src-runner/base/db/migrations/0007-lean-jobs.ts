export const LEAN_JOBS = `
-- One index for lists by state and by channel, in place of two: each state is a walk for each channel, merged.
CREATE INDEX agent_jobs_by_state ON agent_jobs (status, channel);
DROP INDEX agent_jobs_by_status;
DROP INDEX agent_jobs_by_channel;
`
