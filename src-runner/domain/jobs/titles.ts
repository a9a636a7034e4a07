const TITLE_CHARS = 80
const PREVIEW_CHARS = 280

/** The first line that is not empty, cut at about 80 characters. */
export function titleFor(task: string): string {
  const line = task.split(/[\r\n\u2028\u2029]/).find((part) => part.trim() !== '') ?? ''
  const words = line.trim().replace(/\s+/g, ' ')
  return words.length <= TITLE_CHARS ? words : `${cutAt(words, TITLE_CHARS - 1).trimEnd()}…`
}

/** The first 280 characters of a result. */
export function previewOf(result: string): string {
  return cutAt(result, PREVIEW_CHARS)
}

/** Never splits a surrogate pair. */
function cutAt(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  const splitsPair = last >= 0xd800 && last <= 0xdbff && text.length > length
  return text.slice(0, splitsPair ? length - 1 : length)
}
