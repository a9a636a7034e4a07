// Written as strings: to match control characters is the purpose here, and the linter takes it for a mistake elsewhere.
const ESC = '\\u001b'
const BEL = '\\u0007'
/** Strings (titles, links) from their introducer to their terminator. */
const STRING_BODY = `[\\]PX^_][^${BEL}${ESC}]*`

/**
 * Escape sequences of terminals (ECMA-48): colours and cursor moves, strings up to their end, and short ones. What is
 * left of the control characters is dropped, except tab, line feed and carriage return.
 */
const SEQUENCE = new RegExp(`(?:${ESC}\\[|\\u009b)[0-?]*[ -/]*[@-~]|${ESC}${STRING_BODY}(?:${BEL}|${ESC}\\\\|$)|${ESC}[ -/]*[0-~]`, 'g')
const CONTROL = /[^\P{Cc}\t\n\r]/gu
/** A sequence whose end has not come yet; one that is longer than this is not waited for. */
const UNFINISHED = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*|${STRING_BODY}${ESC}?|[ -/]*)?$`)
const MAX_UNFINISHED_CHARS = 512

/** Text as it would be read on paper: no colours, and of a line that was drawn again and again the last state. */
export function plainOutput(text: string): string {
  return withoutSequences(text)
    .replaceAll('\r\n', '\n')
    .replace(/^.*\r(?=[^\n])/gm, '')
    .replaceAll('\r', '')
}

/** The same for output that comes in pieces: a sequence may be cut in two. */
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
