import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'

export type Asset = { bytes: Buffer; type: string; etag: string; cacheControl: string }

/** The built page by request path. Only what was listed at the start can be requested, so no path leads out of the folder. */
export type Assets = {
  /** A file is read with the first request for it. Throws what reading throws. */
  get(path: string): Asset | undefined
  /** Reads the other files, one each turn. Later screens then open even if an update has replaced the files. */
  readAll(): Promise<void>
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** Vite puts a content hash into these names, so they can be cached for ever. */
const HASHED = /^\/assets\/.+-[\w-]{8,}\.\w+$/

/** Lists the built page, without source maps. null: it has not been built. */
export function openAssets(folder: string): Assets | null {
  if (!existsSync(join(folder, 'index.html'))) return null
  const files = new Map<string, string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || TYPES[extname(entry.name)] === undefined) continue
    const file = join(entry.parentPath, entry.name)
    const path = file.slice(folder.length).replaceAll('\\', '/').replace(/^\/*/, '/')
    files.set(path === '/index.html' ? '/' : path, file)
  }
  const read = new Map<string, Asset>()
  const get = (path: string): Asset | undefined => {
    const file = files.get(path)
    if (file === undefined) return undefined
    const asset = read.get(path) ?? readAsset(path, file)
    read.set(path, asset)
    return asset
  }
  return {
    get,
    async readAll() {
      for (const path of files.keys()) {
        get(path)
        await setImmediate()
      }
    },
  }
}

function readAsset(path: string, file: string): Asset {
  const bytes = readFileSync(file)
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
  return {
    bytes,
    etag,
    type: TYPES[extname(file)]!,
    cacheControl: HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
}
