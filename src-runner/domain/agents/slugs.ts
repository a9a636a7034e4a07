const MAX_CHARS = 60

/** A name as a path segment: lower-case ASCII letters, digits and single hyphens. If nothing is left, `fallback`. */
export function slugFor(name: string, fallback = 'agent'): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_CHARS)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? fallback : slug
}

/** The first of `slug`, `slug-2`, `slug-3`, … that is not taken. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  let free = slug
  for (let i = 2; taken.has(free); i++) free = `${slug}-${i}`
  return free
}
