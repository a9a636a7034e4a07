export const SCHEDULES = `
SELECT 1;
`
