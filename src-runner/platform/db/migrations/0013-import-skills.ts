export const SQL = `
ALTER TABLE skills ADD missing_at integer;
ALTER TABLE skills ADD imported_at integer;
`
