/** A pattern split at its stars. Matching scans the text once for each piece, so no pattern can make it slow. */
export type Pattern = { pieces: readonly string[]; literals: number }

export function parsePattern(pattern: string): Pattern {
  const pieces = pattern.split('*')
  return { pieces, literals: pieces.reduce((sum, piece) => sum + piece.length, 0) }
}

/** Whether the pattern matches the complete text. A star matches any text, including none and line breaks. */
export function matchesPattern({ pieces }: Pattern, text: string): boolean {
  const first = pieces[0]!
  if (pieces.length === 1) return text === first
  const last = pieces.at(-1)!
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (let i = 1; i < pieces.length - 1; i++) {
    const found = text.indexOf(pieces[i]!, at)
    if (found === -1 || found + pieces[i]!.length > end) return false
    at = found + pieces[i]!.length
  }
  return true
}
