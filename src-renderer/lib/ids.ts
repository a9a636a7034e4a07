/** Hard to guess, also over plain HTTP, where `crypto.randomUUID` is missing. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

let last = 0

/** An id for an element of this page. */
export function pageId(prefix: string): string {
  return `${prefix}-${++last}`
}
