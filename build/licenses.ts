import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Plugin } from 'vite'

/** The file beside the page that holds the licences of everything that is not ours. */
export const LICENSES_FILE = 'third-party-licenses.txt'

/**
 * Shipped although no module of them is in a bundle: native modules that stay outside, the stylesheet that Tailwind
 * writes, and Electron, whose package lies beside the app.
 */
const NOT_BUNDLED = ['better-sqlite3', 'electron', 'keytar', 'tailwindcss']
const LICENSE_FILE = /^(licen[cs]e|copying|notification)/i
const FOLDER = `node_modules${sep}`

/**
 * Collects which packages the builds of main, preload and page took modules from, and writes their licences beside the
 * page, which is built last.
 */
export function createLicenses(root: string): { collect: Plugin; write: Plugin } {
  const folders = new Set(NOT_BUNDLED.map((name) => join(root, 'node_modules', name)))
  return {
    collect: {
      name: 'collect-licenses',
      generateBundle(_options, bundle) {
        for (const part of Object.values(bundle)) {
          if (part.type !== 'chunk') continue
          for (const id of part.moduleIds) {
            const folder = packageFolderOf(id)
            if (folder !== null) folders.add(folder)
          }
        }
      },
    },
    write: {
      name: 'write-licenses',
      enforce: 'post',
      generateBundle: {
        order: 'post',
        handler() {
          this.emitFile({ type: 'asset', fileName: LICENSES_FILE, source: describe(folders) })
        },
      },
    },
  }
}

/** The folder of the package that a module belongs to; null: the module is ours, or made by a plugin. */
export function packageFolderOf(id: string): string | null {
  const path = id
    .replace(/^\0/, '')
    .replace(/[?#].*$/, '')
    .replaceAll('/', sep)
  const at = path.lastIndexOf(FOLDER)
  if (at === -1) return null
  const parts = path.slice(at + FOLDER.length).split(sep)
  const folder = path.slice(0, at + FOLDER.length) + parts.slice(0, parts[0]!.startsWith('@') ? 2 : 1).join(sep)
  return existsSync(join(folder, 'package.json')) ? folder : null
}

function by(author: unknown): string {
  const name = typeof author === 'object' && author !== null ? (author as { name?: string }).name : author
  return typeof name === 'string' ? ` by ${name}` : ''
}

function describe(folders: Iterable<string>): string {
  const texts = new Map<string, string>()
  for (const folder of folders) {
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
    if (typeof license !== 'string') throw new Error(`${folder} does not say its license`)
    const files = readdirSync(folder).filter((file) => LICENSE_FILE.test(file) && !/\.(js|ts|json)$/.test(file))
    const own = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim())
    const title = `${String(name)} ${String(version)} (${license})`
    texts.set(
      title,
      [
        title,
        '-'.repeat(title.length),
        ...(own.length > 0 ? own : [`Licensed under ${license}${by(author)}. The package contains no licence text.`]),
      ].join('\n\n'),
    )
  }
  const head =
    'Deckhand contains the following software by others. The licenses of Chromium and of what it is made of are in\nLICENSES.chromium.html beside the app.'
  return `${[head, ...[...texts.keys()].sort().map((title) => texts.get(title)!)].join('\n\n\n')}\n`
}
