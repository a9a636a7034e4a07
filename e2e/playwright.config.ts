import { defineConfig } from '@playwright/test'

export default defineConfig({
  testDir: 'specs',
  outputDir: '../test-results/windows',
  // Each test has an app, a data folder and ports of its own. An app waits about half of the time, so two keep two cores busy.
  workers: 2,
  fullyParallel: true,
  // A test that passes at the second try has found something.
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  // Limits only end a test that hangs, however busy the machine is.
  timeout: 300_000,
  expect: { timeout: 30_000 },
  reporter: [['list'], ...(process.env['PLAYWRIGHT_JSON_OUTPUT_FILE'] ? [['json'] as const] : [])],
  use: { trace: 'off' },
})
