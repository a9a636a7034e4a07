import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The second part of a webhook's address: 256 bits, in letters that need no escaping in a URL. */
export function makeSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** The digest of nothing that anybody knows: what a secret is compared with when there is nothing to compare it with. */
const NOBODYS = randomBytes(32)

/** The same work for a trigger that is there, one without a secret, and none at all. */
export function isSecretOf(trigger: { secretDigest: Buffer | null } | undefined, secret: string): boolean {
  const expected = trigger?.secretDigest ?? NOBODYS
  return timingSafeEqual(digestOf(secret), expected)
}
