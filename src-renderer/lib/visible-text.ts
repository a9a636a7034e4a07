/**
 * Signs that take no room, turn the direction of writing around, or steer a terminal: with them a text can read
 * differently from what it is. Line breaks and tabs are what they look like, and so are the joiners inside an emoji.
 */
const HIDDEN = new RegExp(
  [
    String.raw`[\u{0}-\u{8}\u{B}-\u{1F}\u{7F}-\u{9F}\u{AD}\u{61C}\u{115F}\u{1160}\u{17B4}\u{17B5}\u{180B}-\u{180F}\u{200B}\u{200C}\u{200E}\u{200F}]`,
    String.raw`[\u{2028}-\u{202E}\u{2060}-\u{206F}\u{3164}\u{FE00}-\u{FE0E}\u{FEFF}\u{FFA0}\u{FFF9}-\u{FFFB}\u{E0000}-\u{E01EF}]`,
    String.raw`(?<![\p{Extended_Pictographic}\d#*])\u{FE0F}`,
    String.raw`(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\u{FE0F}])\u{200D}`,
  ].join('|'),
  'gu',
)

/** The text with every hidden sign written out, `⟨U+202E⟩`, so that what is read is what there is. */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(HIDDEN, (sign) => `⟨U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`)
}
