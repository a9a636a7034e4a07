/**
 * JSON as people keep it in configuration files: with comments, commas at the end of lists, and without the outer braces of a
 * fragment. Takes time in proportion to its length. Throws SyntaxError.
 */
export function parseLooseJson(text: string): unknown {
  const whole = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  try {
    return JSON.parse(whole)
  } catch {
    return parseWithExtras(whole)
  }
}

function parseWithExtras(text: string): unknown {
  const plain = withoutExtras(text).trim()
  try {
    return JSON.parse(plain)
  } catch (error) {
    if (!plain.startsWith('"')) throw error
    return JSON.parse(withoutExtras(`{${plain}}`))
  }
}

/** A string, a comment, white space, one sign, or anything else up to the next of these. */
const TOKENS = /"[^"\\]*(?:\\[^][^"\\]*)*"?|\/\/[^\n]*|\/\*[^*]*(?:\*(?!\/)[^*]*)*(?:\*\/)?|\s+|[,}\]/]|[^"\s,}\]/]+/g

function withoutExtras(text: string): string {
  const kept: string[] = []
  /** Where a comma is that nothing but white space follows. */
  let comma = -1
  for (const [token] of text.matchAll(TOKENS)) {
    const isComment = token.startsWith('//') || token.startsWith('/*')
    if (comma !== -1 && (token === '}' || token === ']')) kept[comma] = ''
    if (!isComment && token.trim() !== '') comma = token === ',' ? kept.length : -1
    kept.push(isComment ? ' ' : token)
  }
  return kept.join('')
}
