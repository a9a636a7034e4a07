import { RE2JS } from 're2js'

/**
 * Matches paths against `*` and `?` within one part, `**` over several, `{a,b}` and `[abc]`. A pattern without a slash is
 * matched against the last part. RE2 takes linear time for every pattern, unlike a backtracking expression.
 */
export function compileGlob(glob: string): (parts: readonly string[]) => boolean {
  const pattern = RE2JS.compile(`^(?:${expressionFor(glob.replace(/^\.?\//, ''))})$`, RE2JS.DOTALL)
  return glob.includes('/') ? (parts) => pattern.matches(parts.join('/')) : (parts) => pattern.matches(parts.at(-1) ?? '')
}

function expressionFor(glob: string): string {
  let out = ''
  let braces = 0
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i]!
    if (glob.startsWith('**/', i) && (i === 0 || glob[i - 1] === '/')) {
      out += '(?:[^/]+/)*'
      i += 2
    } else if (char === '*') {
      const isDouble = glob[i + 1] === '*'
      out += isDouble ? '.*' : '[^/]*'
      if (isDouble) i++
    } else if (char === '?') out += '[^/]'
    else if (char === '{' && glob.includes('}', i)) {
      out += '(?:'
      braces++
    } else if (char === '}' && braces > 0) {
      out += ')'
      braces--
    } else if (char === ',' && braces > 0) out += '|'
    else if (char === '[' && glob.indexOf(']', i + 2) > 0) {
      const end = glob.indexOf(']', i + 2)
      const inner = glob.slice(i + 1, end).replace(/[\\[\]^]/g, '\\$&')
      out += inner.startsWith('!') ? `[^/${inner.slice(1)}]` : `[${inner}]`
      i = end
    } else out += RE2JS.quote(char)
  }
  return out + ')'.repeat(braces)
}
