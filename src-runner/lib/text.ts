/** The beginning of a text that is longer than `chars`, with a mark after it. */
export function cutText(text: string, chars: number, mark = '…'): string {
  return text.length > chars ? text.slice(0, chars).toWellFormed() + mark : text
}

/** "1 file", "2 files". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
