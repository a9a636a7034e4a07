import type { IncomingMessage, ServerResponse } from 'node:http'

export type BucketLimit = { limit: number; windowMs: number }

export type RateLimits = {
  /** Counts a call. Returns how long to wait, in seconds, or null if it is allowed. Writes the headers of the bucket. */
  take(request: IncomingMessage, path: string, response: ServerResponse): number | null
  /** From now on, calls whose `METHOD /path` matches share a bucket for each channel. */
  add(route: RegExp, limit: BucketLimit): void
  /** Calls that came although their bucket was empty. */
  readonly exceeded: number
}

/** Buckets, as the service counts them: one for each route and channel. */
export function createRateLimits(now: () => number): RateLimits {
  const limits: { route: RegExp; limit: BucketLimit }[] = []
  const buckets = new Map<string, { left: number; resetsAt: number }>()
  let exceeded = 0
  return {
    get exceeded() {
      return exceeded
    },
    add: (route, limit) => void limits.push({ route, limit }),
    take({ method }, path, response) {
      const index = limits.findIndex(({ route }) => route.test(`${method} ${path}`))
      if (index === -1) return null
      const { limit, windowMs } = limits[index]!.limit
      const name = `${index}:${/\/channels\/(\d+)/.exec(path)?.[1] ?? ''}`
      const found = buckets.get(name)
      const bucket = found === undefined || found.resetsAt <= now() ? { left: limit, resetsAt: now() + windowMs } : found
      buckets.set(name, bucket)
      const isAllowed = bucket.left > 0
      if (isAllowed) bucket.left--
      else exceeded++
      const resetAfter = (bucket.resetsAt - now()) / 1000
      response.setHeader('X-RateLimit-Limit', limit)
      response.setHeader('X-RateLimit-Remaining', bucket.left)
      response.setHeader('X-RateLimit-Reset', bucket.resetsAt / 1000)
      response.setHeader('X-RateLimit-Reset-After', resetAfter.toFixed(3))
      response.setHeader('X-RateLimit-Bucket', `bucket${index}`)
      return isAllowed ? null : resetAfter
    },
  }
}
