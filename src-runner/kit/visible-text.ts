/**
 * Characters that a person does not see and a model reads: tags (U+E0000 and following, which spell whole sentences
 * invisibly), zero-width spaces, marks that turn the direction of writing, control characters. Joiners and the
 * selectors of emoji stay where they stand alone or in pairs, as Persian, Hindi and emoji need them; longer rows of
 * them can only be a code.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- these are the characters to remove
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\u034f|(?:\u200c|\u200d|\p{Variation_Selector}){3,}/gu

/** The text as a person would see it, with line feeds alone at the ends of lines. */
export function visibleText(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n').replace(INVISIBLE, '')
}
