/**
 * The gate in front of both servers (product specification, section 3). It runs before routing, for unknown paths too. The
 * bearer is checked behind it.
 *
 * It keeps out web pages: a page of any site can make the browser of this machine send requests to loopback, and DNS
 * rebinding lets it read the responses. A local client sends neither Origin nor Sec-Fetch-Site and passes.
 */
export type GateRequest = {
  method: string
  /** Path without the query, exactly as received. */
  path: string
  /** `1.1`, as Node gives it. */
  httpVersion: string
  /** Names and values as received, doubled ones included: [name, value, name, value, …] (Node's `rawHeaders`). */
  rawHeaders: readonly string[]
}

export type GateConfig = {
  authMode: 'local-trust' | 'local-auth' | 'bearer-token'
  /** Accepted Host names besides the loopback names, in lower case, without port. */
  hosts: Pick<ReadonlySet<string>, 'has'>
  /**
   * Origins whose pages may send requests here, for example `http://127.0.0.1:3000`: on the dashboard the addresses it is
   * bound to, on the runner none. `localhost` is not among them, because another program may own `[::1]` of the same port
   * and serve its own page under that name.
   */
  origins: ReadonlySet<string>
  /** Paths that another site may send a browser to. Left out: none. */
  fromOtherSites?: RegExp
}

export type GateRefusal = 'forbidden_host' | 'forbidden_forwarded' | 'forbidden_origin'

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]'])
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(?::\d{1,5})?$/
/** Set by proxies. A plain nginx before 1.29.7 sets none, but sends HTTP/1.0 to its upstream. */
const FORWARDED = /^(x-forwarded-.*|forwarded|x-real-ip|cf-.*|via)$/
/** `/webhooks/<slug>/<secret>` with any content, because every wrong one gets the same 404. */
const WEBHOOK = /^\/webhooks\/[^/]+\/[^/]+$/

/** Returns why the request is refused with 403, or null to continue with authentication and routing. */
export function refuseAtGate(request: GateRequest, config: GateConfig): GateRefusal | null {
  if (request.method === 'POST' && WEBHOOK.test(request.path)) return null
  const hosts: string[] = []
  const origins: string[] = []
  let fetchSite: string | null = null
  let forwarded = false
  let isNavigation = false
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!.toLowerCase()
    const value = request.rawHeaders[i + 1]!.trim()
    if (name === 'host') hosts.push(value)
    else if (name === 'origin') origins.push(value)
    else if (name === 'sec-fetch-site') fetchSite = value.toLowerCase()
    else if (name === 'sec-fetch-dest') isNavigation = value.toLowerCase() === 'document'
    else if (FORWARDED.test(name)) forwarded = true
  }
  if (hosts.length !== 1 || !mayAskFor(hosts[0]!, config.hosts)) return 'forbidden_host'
  if (request.httpVersion !== '1.1') return 'forbidden_forwarded'
  if (forwarded && config.authMode === 'local-trust') return 'forbidden_forwarded'
  if (origins.length > 0) return origins.every((origin) => config.origins.has(origin)) ? null : 'forbidden_origin'
  if (fetchSite === null || fetchSite === 'none') return null
  // A service sends a browser back after a sign-in. Only a whole page that somebody sees, never a script, an image or a frame.
  if (isNavigation && request.method === 'GET' && config.fromOtherSites?.test(request.path) === true) return null
  // A GET of our own page has no Origin header, but Sec-Fetch-Site says that page and request have the same host.
  return fetchSite === 'same-origin' && isHostOfOrigin(hosts[0]!, config.origins) ? null : 'forbidden_origin'
}

/** Whether `host`, the value of a Host header, belongs to one of the origins. */
export function isHostOfOrigin(host: string, origins: ReadonlySet<string>): boolean {
  const name = host.toLowerCase()
  for (const origin of origins) if (origin.endsWith(`//${name}`)) return true
  return false
}

function mayAskFor(host: string, configured: GateConfig['hosts']): boolean {
  const name = HOST.exec(host.toLowerCase())?.[1]
  return name !== undefined && (LOOPBACK_NAMES.has(name) || configured.has(name))
}
