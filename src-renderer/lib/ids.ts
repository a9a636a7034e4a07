let last = 0

/** An id for an element of this page. */
export function pageId(prefix: string): string {
  return `${prefix}-${++last}`
}
