/**
 * Characters that a person does not see and a model reads: tags (from U+E0000, which spell whole sentences invisibly),
 * zero-width spaces, direction marks, control characters. Joiners and emoji selectors stay alone or in pairs, because Persian,
 * Hindi and emoji need them. A longer run of them hides a message.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- these are the characters to remove
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\u034f|(?:\u200c|\u200d|\p{Variation_Selector}){3,}/gu

/** The text as a person sees it, with line feeds as line ends. */
export function visibleText(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n').replace(INVISIBLE, '')
}
