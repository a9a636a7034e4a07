import { fileURLToPath } from 'node:url'
import solid from 'vite-plugin-solid'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
/** No test measures time. A limit only ends one that hangs, however busy the machine is. */
const limits = { testTimeout: 240_000, hookTimeout: 240_000, expect: { poll: { timeout: 60_000 } } }
/** What a test replaced is back for the next one, even if it failed. */
const cleanUps = { restoreMocks: true, unstubEnvs: true, unstubGlobals: true }
/** Tests that change the environment of their process, so that each file needs one of its own. */
const isolated = ['src-runner/platform/{sandbox,programs,protected-places}/**/*.test.ts', 'build/**/*.test.ts']
/** Tests that start the program many times. What is built starts in a third of the processor time that its sources take. */
const builtOnes = [
  'src-main/{headless,host}.test.ts',
  'src-runner/main.test.ts',
  'src-runner/stories/code-{results,tasks}.crash.test.ts',
  'src-runner/domain/jobs/job-store.crash.test.ts',
  'src-runner/adapters/skills/skill-kills.crash.test.ts',
  'src-runner/adapters/oauth/renewals.test.ts',
  'src-runner/adapters/channels/whatsapp/link-state.test.ts',
  'src-runner/platform/db/{backups,threads}.test.ts',
  'build/{canaries,kill-phases,kill-test,schedule-kill-test,channel-kills,whatsapp-kills}.test.ts',
]
/**
 * Starting a process copies the page tables of its parent. A worker that has grown to 1.5 GB, of which 200 MB are in use, takes
 * 70 ms for that, six times as long as a small one, and the suite starts thousands. So workers give memory back early: one malloc
 * arena, and a young generation of V8 that stays small.
 */
const smallWorkers = {
  execArgv: [
    '--max-semi-space-size=4',
    // V8 aborts the process ("jit_page.has_value()") when it drops a compiled import of WebAssembly that two threads use. Only the
    // part of Node that strips types from the source of a thread calls imports so often that they are compiled.
    '--wasm-wrapper-tiering-budget=2147483647',
  ],
  env: { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '1048576', MALLOC_MMAP_THRESHOLD_: '262144' },
}
const shared = { root, ...limits, ...cleanUps, ...smallWorkers }
const alias = [{ find: /^fast-check$/, replacement: fileURLToPath(new URL('fast-check-seeded.ts', import.meta.url)) }]

export default defineConfig({
  root,
  test: {
    // Vitest would leave one core idle, which on two cores is half of them.
    maxWorkers: '100%',
    projects: [
      {
        resolve: { alias },
        test: {
          ...shared,
          name: 'node',
          environment: 'node',
          // Loading the runner once a worker instead of once a file saves a third of the time. Tests share no state: they make
          // their own runner, folder and clock.
          isolate: false,
          include: ['src-runner/**/*.test.ts', 'src-main/**/*.test.ts', 'resources/**/*.test.ts'],
          exclude: [...isolated, ...builtOnes],
        },
      },
      {
        resolve: { alias },
        test: {
          ...shared,
          name: 'node, isolated',
          environment: 'node',
          include: isolated,
          exclude: builtOnes,
        },
      },
      {
        resolve: { alias },
        test: {
          ...shared,
          name: 'node, built',
          environment: 'node',
          isolate: false,
          include: builtOnes,
          // Runs only if one of these files does, and builds only what has changed.
          globalSetup: ['build/build-first.mjs'],
        },
      },
      {
        plugins: [solid()],
        resolve: { alias },
        test: {
          ...shared,
          name: 'page',
          environment: 'jsdom',
          isolate: false,
          include: ['src-renderer/**/*.test.ts', 'src-renderer/**/*.test.tsx'],
          setupFiles: ['src-renderer/testing/setup.ts'],
        },
      },
    ],
  },
})
