/** Where Ollama listens unless its owner chose another address. */
export const OLLAMA_URL = 'http://127.0.0.1:11434'

/** Whether the address is loopback. */
export function runsOnThisMachine(baseUrl: string): boolean {
  let host: string
  try {
    host = new URL(baseUrl).hostname
  } catch {
    return false
  }
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** For the libraries: without a slash or a pasted end point, and with the API's path if only the host is given. */
export function normalizeBaseUrl(given: string, apiPath: string): string {
  const base = given
    .trim()
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .replace(/\/(chat\/completions|completions|responses|messages|models)$/, '')
  if (base === '' || apiPath === '') return base
  return /^https?:\/\/[^/]+$/i.test(base) ? base + apiPath : base
}
