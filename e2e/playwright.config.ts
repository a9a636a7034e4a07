import { defineConfig } from '@playwright/test'

export default defineConfig({
  testDir: 'specs',
  outputDir: '../test-results/windows',
  // Each test has its own app, data folder and ports. An app waits about half of the time, so two keep two cores busy.
  workers: 2,
  fullyParallel: true,
  // `npm test` runs failed files once more, when the machine is quiet.
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  // Limits only end a test that hangs, however busy the machine is.
  timeout: process.env['EVERY_PICTURE'] === '1' ? 1_200_000 : 300_000,
  expect: { timeout: 60_000 },
  reporter: [['list'], ...(process.env['PLAYWRIGHT_JSON_OUTPUT_FILE'] ? [['json'] as const] : [])],
  use: { trace: 'off' },
})
