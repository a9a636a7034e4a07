import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The second part of a webhook's address: 256 bits, in letters that need no escaping in a URL. */
export function makeSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** A digest as hexadecimal digits, in bytes: what secrets are compared as, since Node hashes fastest into digits. */
export function digitsOf(digest: Buffer): Buffer {
  return Buffer.from(digest.toString('hex'), 'latin1')
}

/** The digest of nothing that anybody knows: what a secret is compared with when there is nothing to compare it with. */
const NOBODYS = digitsOf(randomBytes(32))
const presented = Buffer.alloc(NOBODYS.length)

/** The same work for a trigger that is there, one without a secret, and none at all. */
export function isSecretOf(trigger: { secretDigits: Buffer | null } | undefined, secret: string): boolean {
  presented.write(hash('sha256', secret, 'hex'), 'latin1')
  return timingSafeEqual(presented, trigger?.secretDigits ?? NOBODYS)
}
