import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Whether there is exactly one Authorization header, with the secret. Takes constant time. */
export function hasBearer(authorizations: readonly string[], secret: string | null): boolean {
  const given = authorizations.length === 1 ? /^Bearer ([\x21-\x7e]+)$/i.exec(authorizations[0]!)?.[1] : undefined
  const equal = timingSafeEqual(digest(given ?? ''), digest(secret ?? ''))
  return equal && given !== undefined && secret !== null
}
