const STEP = '  '

/**
 * Indents JSON without changing a token. Parsing and printing it would round long numbers and drop repeated keys. Returns
 * text that is not JSON as it is.
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
  tokens.forEach((token, at) => {
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
  })
  return out
}
