/**
 * Characters that are invisible, change the writing direction, or control a terminal. With them a text can look different
 * from what it is. Line breaks, tabs and the joiners inside an emoji are left alone.
 */
const HIDDEN = new RegExp(
  [
    String.raw`[\u{0}-\u{8}\u{B}-\u{1F}\u{7F}-\u{9F}\u{2028}\u{2029}\u{2800}]`,
    String.raw`(?![\u{200D}\u{FE0F}])[\p{Default_Ignorable_Code_Point}\p{Cf}]`,
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
