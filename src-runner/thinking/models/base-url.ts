/** Loopback names and addresses: what answers there runs on this machine and costs nothing. */
export function runsOnThisMachine(baseUrl: string): boolean {
  let host: string
  try {
    host = new URL(baseUrl).hostname
  } catch {
    return false
  }
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/**
 * The base address as the libraries need it: no slash at the end, no pasted end point, and the API's path where
 * somebody gave only the host.
 */
export function normalizeBaseUrl(given: string, apiPath: string): string {
  const base = given
    .trim()
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .replace(/\/(chat\/completions|completions|responses|messages|models)$/, '')
  if (base === '' || apiPath === '') return base
  return /^https?:\/\/[^/]+$/.test(base) ? base + apiPath : base
}
