const MAX_PATHS = 40
const MAX_DEPTH = 6

/** Keys that a placeholder can name. */
const WRITABLE = /^[^.{}\s]+$/

/** The paths in a JSON text that a template can name, in order. A list is one path. Returns none for text that is not JSON. */
export function pathsOf(json: string): string[] {
  const found: string[] = []
  const walk = (value: unknown, path: string[]) => {
    if (found.length >= MAX_PATHS) return
    if (value !== null && typeof value === 'object' && !Array.isArray(value) && path.length < MAX_DEPTH) {
      for (const [key, inner] of Object.entries(value)) if (WRITABLE.test(key)) walk(inner, [...path, key])
    } else if (path.length > 0) found.push(path.join('.'))
  }
  try {
    walk(JSON.parse(json), [])
  } catch {
    return []
  }
  return found
}

const PLACEHOLDER = /\{([^{}\s]+)\}/g

/** A sample payload that fills every placeholder of a template. */
export function sampleFor(template: string): string {
  const sample: Record<string, unknown> = {}
  for (const [, path] of template.matchAll(PLACEHOLDER)) {
    const keys = path!.split('.')
    let place = sample
    for (const key of keys.slice(0, -1)) {
      const inner = Object.hasOwn(place, key) ? place[key] : undefined
      if (typeof inner === 'object' && inner !== null) place = inner as Record<string, unknown>
      else place = put(place, key, {}) as Record<string, unknown>
    }
    const last = keys.at(-1)!
    if (!Object.hasOwn(place, last)) put(place, last, last)
  }
  return JSON.stringify(sample, null, 2)
}

/** Works for keys such as `__proto__`, which an assignment would not set. */
function put(place: Record<string, unknown>, key: string, value: unknown): unknown {
  Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true })
  return value
}
