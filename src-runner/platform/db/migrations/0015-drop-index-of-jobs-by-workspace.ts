export const SQL = `
DROP INDEX agent_jobs_by_entity;
`
