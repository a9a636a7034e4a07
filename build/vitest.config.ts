import { fileURLToPath } from 'node:url'
import solid from 'vite-plugin-solid'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Nothing is measured by a test: a limit ends one that hangs, however busy the machine is. */
const limits = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } }
const alias = [{ find: /^fast-check$/, replacement: fileURLToPath(new URL('fast-check-seeded.ts', import.meta.url)) }]

export default defineConfig({
  root,
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'node',
          root,
          environment: 'node',
          ...limits,
          include: ['src-runner/**/*.test.ts', 'src-main/**/*.test.ts', 'build/**/*.test.ts'],
        },
      },
      {
        plugins: [solid()],
        resolve: { alias },
        test: {
          name: 'page',
          root,
          environment: 'jsdom',
          ...limits,
          include: ['src-renderer/**/*.test.ts', 'src-renderer/**/*.test.tsx'],
          setupFiles: ['src-renderer/testing/setup.ts'],
        },
      },
    ],
  },
})
