/** A text for a menu or a notification: one line, without invisible characters, `most` characters at most. */
export function oneLine(text: string, most: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\s]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line
}
