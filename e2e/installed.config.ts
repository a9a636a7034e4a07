import { defineConfig } from '@playwright/test'

/** Tests of an installed package. build/package-test.mjs installs one and runs them as an ordinary user. */
export default defineConfig({
  testDir: 'installed',
  outputDir: `${process.env['HOME']}/test-results`,
  // One app, one data folder, one story.
  workers: 1,
  timeout: 300_000,
  expect: { timeout: 60_000 },
  reporter: [['list']],
})
