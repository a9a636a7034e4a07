/** Our own page. Chromium gives a standard scheme an origin, but Node's URL does not, so this is a string. */
export const PAGE_URL = 'app://deckhand/'

export function isOwnPage(url: string): boolean {
  return url.startsWith(PAGE_URL)
}

export type SendingFrame = { url: string; parent: unknown } | null

/** Only the top frame of our own page may call the desktop. */
export function mayAskDesktop(frame: SendingFrame): boolean {
  return frame !== null && frame.parent === null && isOwnPage(frame.url)
}
