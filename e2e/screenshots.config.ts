import { defineConfig } from '@playwright/test'

/** `npm run screenshots`: pictures of every screen, to look at. They assert nothing, so they are no part of the tests. */
export default defineConfig({
  testDir: 'screenshots',
  testMatch: '*.shots.ts',
  outputDir: '../test-results/screenshots-work',
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
})
