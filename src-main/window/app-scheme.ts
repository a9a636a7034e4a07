import { net, type Session } from 'electron'
import type { Dashboard } from '../dashboard/dashboard.ts'
import { PAGE_HEADERS, pagePolicy } from '../dashboard/hardening.ts'
import { findRoute } from '../dashboard/known-routes.ts'
import { isOwnPage } from '../security/own-page.ts'
import { SCHEME } from './register-app-scheme.ts'

/** Serves the window from the dashboard, without a port. */
export function serveAppScheme(session: Session, dashboard: Dashboard, devServer: string | null): void {
  session.protocol.handle(SCHEME, (request) => {
    if (!isOwnPage(request.url)) return new Response(null, { status: 404 })
    if (devServer !== null && !isForDashboard(request)) return fromDevServer(request, devServer)
    return dashboard.handle(request, { via: 'window' })
  })
}

/** The page's sources also have a folder `api`, so in development only known routes go to the dashboard. */
function isForDashboard(request: Request): boolean {
  const { pathname } = new URL(request.url)
  return pathname === '/api/health' || findRoute(request.method, pathname) !== 'unknown'
}

/** Development: Vite serves the page, with hot reload. */
async function fromDevServer(request: Request, devServer: string): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  // Only this header: net.fetch refuses navigation headers.
  const response = await net.fetch(new URL(pathname + search, devServer).href, {
    headers: { accept: request.headers.get('accept') ?? '*/*' },
  })
  const socket = devServer.replace(/^http/, 'ws').replace(/\/$/, '')
  const headers = new Headers({
    ...PAGE_HEADERS,
    'content-security-policy': pagePolicy({ 'connect-src': socket }),
    'cache-control': 'no-store',
  })
  const type = response.headers.get('content-type')
  if (type) headers.set('content-type', type)
  return new Response(response.body, { status: response.status, headers })
}
