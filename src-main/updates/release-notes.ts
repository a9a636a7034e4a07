const MAX_CHARACTERS = 5_000
/** Control characters except line breaks and tabs, and those that reorder or hide text. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}]/gu

/** Release notes as plain text. The page shows them as text too, so that no markup in them can do anything. */
export function plainNotes(notes: unknown): string {
  if (typeof notes !== 'string') return ''
  const text = notes
    .slice(0, MAX_CHARACTERS * 4)
    .replace(/\r\n?/g, '\n')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(UNSEEN, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS).trimEnd()}…` : text
}
