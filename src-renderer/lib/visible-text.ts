/**
 * Characters that are invisible, change the writing direction, or control a terminal. With them a text can look different
 * from what it is. Line breaks, tabs and the joiners inside an emoji are left alone.
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

/** The text with every hidden character written out, such as `⟨U+202E⟩`. */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(HIDDEN, (sign) => `⟨U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`)
}
