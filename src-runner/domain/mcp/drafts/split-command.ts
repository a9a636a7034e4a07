/** Why a line is no command that can be started without a shell. */
export type CommandProblem = 'unclosed_quote' | 'shell'

/**
 * The words of a command line, with the quotes of a POSIX shell. Nothing is expanded. A line that needs a shell (pipes, several
 * commands, substitutions) is refused, because it would do something else without one.
 */
export function splitCommand(line: string): string[] | CommandProblem {
  const words: string[] = []
  let word: string | null = null
  let quote: '"' | "'" | null = null
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!
    if (quote === "'") {
      if (char === "'") quote = null
      else word += char
    } else if (char === '`' || (char === '$' && line[i + 1] === '(')) {
      return 'shell'
    } else if (quote === '"') {
      if (char === '"') quote = null
      else if (char === '\\' && /["\\$`]/.test(line[i + 1] ?? '')) word += line[++i]!
      else word += char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (char === '\\' && isEscape(line[i + 1])) {
      word = (word ?? '') + line[++i]!
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else if (/[|&;<>()]/.test(char)) {
      return 'shell'
    } else {
      word = (word ?? '') + char
    }
  }
  if (quote !== null) return 'unclosed_quote'
  return word === null ? words : [...words, word]
}

/** Elsewhere a backslash is a part of a path of Windows. */
function isEscape(next: string | undefined): boolean {
  return next !== undefined && /[\s"'\\|&;<>()$`]/.test(next)
}
