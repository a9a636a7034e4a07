// What vitest runs before the tests of the built program, and the kill tests before their first start.
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from './run.mjs'
import { build } from './setup.mjs'

const TESTING = 'src-runner/testing'
const THREADS = 'src-runner/platform/db'

/** Builds the program, and the variants of the runner that tests kill. */
export async function setup() {
  await build()
  await bundleChildren()
}

async function bundleChildren() {
  const found = (folder, extension) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => name.endsWith(extension))
      .map((name) => join(root, folder, name))
  const files = [...found(TESTING, '-child.ts'), ...found(THREADS, '-thread.ts')]
  // The kill tests import this file in vitest too, where nothing is left to bundle.
  const { build: bundle } = await import('vite')
  await bundle({
    root,
    configFile: false,
    logLevel: 'error',
    // The native modules stay outside, as in the build of the program.
    ssr: { noExternal: true, external: ['better-sqlite3', 'keytar'] },
    build: {
      ssr: true,
      outDir: 'node_modules/.cache/test-children',
      emptyOutDir: true,
      rolldownOptions: {
        input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      },
    },
  })
}
