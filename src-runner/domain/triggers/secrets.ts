import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The second part of a webhook's address: 256 bits in URL-safe characters. */
export function makeSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** A digest as the bytes of its hexadecimal digits. Secrets are compared in this form, because Node produces it fastest. */
export function digitsOf(digest: Buffer): Buffer {
  return Buffer.from(digest.toString('hex'), 'latin1')
}

/** Stands in for a trigger that does not exist or has no secret. Nobody knows a text with this digest. */
const UNKNOWN_DIGITS = digitsOf(randomBytes(32))
const presented = Buffer.alloc(UNKNOWN_DIGITS.length)

/** Takes the same time for a trigger that exists, one without a secret, and none at all. */
export function isSecretOf(trigger: { secretDigits: Buffer | null } | undefined, secret: string): boolean {
  presented.write(hash('sha256', secret, 'hex'), 'latin1')
  return timingSafeEqual(presented, trigger?.secretDigits ?? UNKNOWN_DIGITS)
}
