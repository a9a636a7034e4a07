import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

export type Asset = { bytes: Buffer; type: string; etag: string; cacheControl: string }

/** The built page by request path. Only what is in this map can be requested, so no path leads out of the folder. */
export type Assets = ReadonlyMap<string, Asset>

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

/** Reads the built page into memory (about 1 MB), without source maps. null: it has not been built. */
export async function loadAssets(folder: string): Promise<Assets | null> {
  const assets = new Map<string, Asset>()
  let entries
  try {
    entries = await readdir(folder, { recursive: true, withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  await Promise.all(
    entries.map(async (entry) => {
      const type = TYPES[extname(entry.name)]
      if (!entry.isFile() || type === undefined) return
      const file = join(entry.parentPath, entry.name)
      const bytes = await readFile(file)
      const path = file.slice(folder.length).replaceAll('\\', '/').replace(/^\/*/, '/')
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
      const cacheControl = HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache'
      assets.set(path === '/index.html' ? '/' : path, { bytes, type, etag, cacheControl })
    }),
  )
  return assets.has('/') ? assets : null
}
