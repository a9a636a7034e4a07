export const markdown = {
  code: 'Code',
  table: 'Table',
}
