const STEP = '  '
/** The spaces before brackets in brackets take the square of their number. */
const MAX_CHARS = 2_000_000

/**
 * Indents JSON without changing a token. Parsing and printing it would round long numbers and drop repeated keys. Returns
 * text that is not JSON as it is, and text that would become too long.
 */
export function prettyJson(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  // A string, a number or word, or a punctuation character. Spaces between tokens match nothing.
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []
  let depth = 0
  let out = ''
  const line = () => `\n${STEP.repeat(depth)}`
  for (const [at, token] of tokens.entries()) {
    if (out.length > MAX_CHARS) return text
    const before = tokens[at - 1]
    if (token === '}' || token === ']') {
      depth--
      out += before === '{' || before === '[' ? token : line() + token
    } else if (token === ',') out += `,${line()}`
    else if (token === ':') out += ': '
    else {
      if (before === '{' || before === '[') out += line()
      out += token
      if (token === '{' || token === '[') depth++
    }
  }
  return out
}
