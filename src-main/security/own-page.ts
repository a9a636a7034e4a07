/** The one page that is ours. Chromium gives a standard scheme an origin of its own; Node's URL does not, hence the text. */
export const PAGE_URL = 'app://deckhand/'

export function isOwnPage(url: string): boolean {
  return url.startsWith(PAGE_URL)
}

export type SendingFrame = { url: string; parent: unknown } | null

/** Only the top frame of our own page may ask the desktop for anything: no frame inside it, nothing it was led to. */
export function mayAskDesktop(frame: SendingFrame): boolean {
  return frame !== null && frame.parent === null && isOwnPage(frame.url)
}
