/**
 * The page's Content Security Policy. No remote image, font, frame or connection, so model output cannot make the page
 * send data anywhere. Inline styles are allowed because Solid writes constant styles as attributes.
 */
const PAGE_POLICY: Record<string, string> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'worker-src': "'self'",
  'manifest-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
}

/** `extra` adds to single directives. Only development uses it, for the server with hot reload. */
export function pagePolicy(extra: Record<string, string> = {}): string {
  return Object.entries(PAGE_POLICY)
    .map(([name, value]) => `${name} ${value}${extra[name] ? ` ${extra[name]}` : ''}`)
    .join('; ')
}

const ALWAYS: Record<string, string> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

export const API_HEADERS: Record<string, string> = {
  ...ALWAYS,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

export const PAGE_HEADERS: Record<string, string> = {
  ...ALWAYS,
  'content-security-policy': pagePolicy(),
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), display-capture=()',
}
