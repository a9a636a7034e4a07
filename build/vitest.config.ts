import { fileURLToPath } from 'node:url'
import solid from 'vite-plugin-solid'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
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
          include: ['src-renderer/**/*.test.ts', 'src-renderer/**/*.test.tsx'],
          setupFiles: ['src-renderer/testing/setup.ts'],
        },
      },
    ],
  },
})
