import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Whether there is exactly one Authorization header, with the secret. Takes constant time. */
export function hasBearer(authorizations: readonly string[], secret: string | null): boolean {
  const given = authorizations.length === 1 ? /^Bearer ([\x21-\x7e]+)$/i.exec(authorizations[0]!)?.[1] : undefined
  return isSame(given ?? '', secret ?? '') && given !== undefined && secret !== null
}

/** Compares two secrets. Takes constant time. */
export function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}
