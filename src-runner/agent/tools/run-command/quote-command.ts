import { isShell } from '../../../lib/shells.ts'

/** Characters that need no quotes. */
const PLAIN = /^[\w@%+=:,./-]+$/
/** Line breaks, other control characters, half surrogates, and what changes the direction of text or cannot be seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/**
 * A command as one line with clear argument boundaries. A person reads it, and rules compare with it: two different
 * commands never look the same, and none can draw a line that is not there.
 */
export function quoteCommand(command: readonly string[]): string {
  return command.map(quoteArgument).join(' ')
}

function quoteArgument(argument: string): string {
  if (PLAIN.test(argument)) return argument
  if (!UNSEEN.test(argument)) return `'${argument.replaceAll("'", `'\\''`)}'`
  return `$'${Array.from(argument, escapeCharacter).join('')}'`
}

function escapeCharacter(char: string): string {
  if (char === "'" || char === '\\') return `\\${char}`
  if (char === '\n') return '\\n'
  if (char === '\t') return '\\t'
  if (!UNSEEN.test(char)) return char
  const code = char.codePointAt(0)!
  return code < 0x80 ? `\\x${hex(code, 2)}` : code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')

/** The script of a command like `sh -c "…"`; null for any other command. */
export function shellLineOf(command: readonly string[]): string | null {
  if (!isShell(command[0] ?? '')) return null
  const flag = command.findIndex((argument, index) => index > 0 && (/^-[a-z]*c$/i.test(argument) || /^[-/]c(ommand)?$/i.test(argument)))
  return flag === -1 || command[flag + 1] === undefined ? null : command.slice(flag + 1).join(' ')
}
