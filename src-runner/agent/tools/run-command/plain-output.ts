// Strings, because the linter refuses control characters in expressions.
const ESC = '\\u001b'
const BEL = '\\u0007'
/** Strings (titles, links) from their introducer to their terminator. */
const STRING_BODY = `[\\]PX^_][^${BEL}${ESC}]*`

/** Escape sequences of terminals (ECMA-48): colours, cursor moves, strings up to their end, and short ones. */
const SEQUENCE = new RegExp(`(?:${ESC}\\[|\\u009b)[0-?]*[ -/]*[@-~]|${ESC}${STRING_BODY}(?:${BEL}|${ESC}\\\\|$)|${ESC}[ -/]*[0-~]`, 'g')
const CONTROL = /[^\P{Cc}\t\n\r]/gu
/** A sequence without its end. */
const UNFINISHED = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*|${STRING_BODY}${ESC}?|[ -/]*)?$`)
const MAX_UNFINISHED_CHARS = 512

/** Text without colours; of a line that was redrawn, only the last state. */
export function plainOutput(text: string): string {
  return withoutSequences(text)
    .replaceAll('\r\n', '\n')
    .replace(/^.*\r(?=[^\n])/gm, '')
    .replaceAll('\r', '')
}

/** The same for output in pieces, which may cut a sequence in two. */
export function createPlainStream(): (piece: string) => string {
  let waiting = ''
  return (piece) => {
    const text = waiting + piece
    const unfinished = UNFINISHED.exec(text)?.[0] ?? ''
    waiting = unfinished.length <= MAX_UNFINISHED_CHARS ? unfinished : ''
    return withoutSequences(waiting === '' ? text : text.slice(0, -waiting.length))
  }
}

function withoutSequences(text: string): string {
  return text.replace(SEQUENCE, '').replace(CONTROL, '')
}
