export const WEBHOOKS = `
SELECT 1;
`
