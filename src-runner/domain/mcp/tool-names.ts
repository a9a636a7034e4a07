import { createHash } from 'node:crypto'

/** Providers accept no longer names. */
const MAX_CHARS = 64
const MAX_SLUG_CHARS = 20
const DIGEST_CHARS = 6

/** Stands between the slug of a server, which has no underscore, and the name of a tool. No built-in tool has it in its name. */
export const NAME_SEPARATOR = '__'

/** The start of a server's slug. */
export function shortSlug(slug: string): string {
  return slug.slice(0, MAX_SLUG_CHARS).replace(/-+$/, '')
}

/**
 * The name of a server's tool for agents and rules: at most 64 characters that every provider accepts. If characters are replaced or
 * left out, a digest of the name keeps two such names apart.
 */
export function agentNameOf(slug: string, name: string): string {
  const prefix = slug + NAME_SEPARATOR
  const clean = name.replace(/[^a-zA-Z0-9_-]/g, '_')
  if (clean === name && name !== '' && prefix.length + name.length <= MAX_CHARS) return prefix + name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_CHARS)
  return `${prefix}${clean.slice(0, MAX_CHARS - prefix.length - DIGEST_CHARS - 1)}_${digest}`
}
