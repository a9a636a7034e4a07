import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'electron-vite'
import solid from 'vite-plugin-solid'
import { dataModules } from './build/data-modules.ts'
import { createLicenses } from './build/licenses.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const licenses = createLicenses(here('.'))

type Modules = { getModuleInfo(id: string): { importedIds: readonly string[] } | null }

/**
 * Puts all that the first screen needs into one chunk. Otherwise whatever it shares with another screen becomes a chunk of its
 * own, and the page asks for ninety files before it shows anything. Without the entry, which waits for the texts: their chunk
 * imports this one.
 */
function createFirstChunk(entry: string) {
  const first = new Set<string>()
  return (id: string, modules: Modules) => {
    if (first.size === 0) {
      first.add(entry)
      for (const found of first) for (const imported of modules.getModuleInfo(found)?.importedIds ?? []) first.add(imported)
    }
    return first.has(id) && id !== entry ? 'first' : null
  }
}

/**
 * Three builds. `dependencies` in package.json holds the native modules only, and those stay outside the bundles;
 * everything else is a devDependency and is bundled, so that the packaged app carries no node_modules but theirs.
 * A dynamic import becomes a chunk of its own and is read when it is first needed.
 */
export default defineConfig({
  main: {
    plugins: [dataModules, licenses.collect],
    build: {
      outDir: 'out/main',
      rolldownOptions: {
        input: {
          main: here('src-main/entry.ts'),
          headless: here('src-main/headless.ts'),
          runner: here('src-runner/main.ts'),
          'damage-thread': here('src-runner/platform/db/damage-thread.ts'),
          'backup-thread': here('src-runner/platform/db/backup-thread.ts'),
          'table-sizes-thread': here('src-runner/platform/db/table-sizes-thread.ts'),
          'query-thread': here('src-runner/platform/db/query-thread.ts'),
          'checkpoint-thread': here('src-runner/platform/db/checkpoint-thread.ts'),
        },
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      },
    },
  },
  preload: {
    plugins: [licenses.collect],
    build: {
      outDir: 'out/preload',
      // A sandboxed preload can require nothing but electron: it has to be one CommonJS file with all it needs inside.
      externalizeDeps: false,
      rolldownOptions: { input: { preload: here('src-main/preload.ts') }, output: { format: 'cjs', entryFileNames: '[name].cjs' } },
    },
  },
  renderer: {
    root: here('src-renderer'),
    // Screens have paths of their own (/jobs/…), and a page that is loaded there must find its files as well.
    // electron-vite makes them relative, whatever `base` says here; a plugin speaks after it.
    plugins: [
      dataModules,
      solid(),
      tailwindcss(),
      licenses.collect,
      licenses.write,
      { name: 'assets-from-the-root', config: () => ({ base: '/' }) },
    ],
    build: {
      outDir: here('out/renderer'),
      emptyOutDir: true,
      minify: true,
      rolldownOptions: {
        // A contract's constants come without its schemas, unless those are used too.
        treeshake: { manualPureFunctions: ['z'] },
        input: { index: here('src-renderer/index.html') },
        output: { codeSplitting: { groups: [{ name: createFirstChunk(here('src-renderer/main.tsx')) }] } },
      },
    },
    // Hot reload keeps its web socket on this address: the page itself is served by the app's own dashboard.
    server: { host: '127.0.0.1', port: 5173, strictPort: true, hmr: { protocol: 'ws', host: '127.0.0.1', port: 5173 } },
  },
})
