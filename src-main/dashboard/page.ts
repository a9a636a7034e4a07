import { PAGE_KEY_META } from '../contract/browser-api.ts'
import type { Asset, Assets } from './assets.ts'
import { PAGE_HEADERS } from './hardening.ts'
import type { DashboardRequest } from './requests.ts'
import { html, refusal, text, type DashboardResponse } from './responses.ts'

/** Serves the built page and its files. `keyFor`: the key that the page gets, if any. */
export function servePage(
  assets: Assets | null,
  request: DashboardRequest,
  path: string,
  keyFor: (request: DashboardRequest) => string | null,
): DashboardResponse {
  if (assets === null) return html(503, 'The page has not been built. Run "npm run build", then start Deckhand again.')
  const page = assets.get('/')
  const asset = assets.get(path) ?? (isScreen(request, path) ? page : undefined)
  if (asset === undefined) return refusal('not_found')
  const key = asset === page ? keyFor(request) : null
  if (key === null) return serveAsset(request, asset)
  const withKey = asset.bytes.toString().replace('<head>', `<head><meta name="${PAGE_KEY_META}" content="${key}">`)
  return text(200, PAGE_HEADERS, asset.type, withKey)
}

/** Deckhand hands it out: programs open it too, and they do not ask for HTML. */
const JOB_PAGE = /^\/jobs\/[0-9a-f-]{36}$/i

/** Opening or reloading the path of a screen returns the page. Missing files stay missing. */
function isScreen(request: DashboardRequest, path: string): boolean {
  const last = path.slice(path.lastIndexOf('/') + 1)
  if (last.includes('.') || path.startsWith('/assets/')) return false
  return (request.header('accept') ?? '').includes('text/html') || JOB_PAGE.test(path)
}

function serveAsset(request: DashboardRequest, asset: Asset): DashboardResponse {
  const headers = { ...PAGE_HEADERS, etag: asset.etag, 'cache-control': asset.cacheControl }
  const known = (request.header('if-none-match') ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === asset.etag)
  if (known) return { status: 304, headers, body: null }
  return {
    status: 200,
    headers: { ...headers, 'content-type': asset.type, 'content-length': String(asset.bytes.length) },
    body: asset.bytes,
  }
}
