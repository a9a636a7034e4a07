import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '../fixtures/deckhand.ts'

const FOLDER = join(import.meta.dirname, '../../test-results/screens')
const README_PICTURE = join(import.meta.dirname, '../../resources/screenshot.png')

const SCREENS = { home: '/', chat: '/chat', activity: '/activity', agents: '/agents', models: '/models', settings: '/settings' }

for (const theme of ['light', 'dark'] as const) {
  test.describe(theme, () => {
    test.use({ scenario: 'busy-day', machineSettings: { theme } })

    test(`the screens of a busy day, ${theme}`, async ({ deckhand, page }) => {
      mkdirSync(FOLDER, { recursive: true })
      const show = async (name: string, path: string) => {
        await page.goto(new URL(path, page.url()).href)
        await expect(page.getByRole('main')).toBeVisible()
        await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
        await page.screenshot({ path: join(FOLDER, `${name}-${theme}.png`) })
      }
      for (const [name, path] of Object.entries(SCREENS)) await show(name, path)
      const { jobs } = await deckhand.client.ok('listJobs', { query: { limit: 50 } })
      const job = jobs.find(({ channel, toolCalls }) => channel === 'chat' && toolCalls > 1)!
      await show('job', `/jobs/${job.id}`)
      if (job.conversationId !== null) await show('conversation', `/chat/${job.conversationId}`)
      if (theme === 'light') await page.screenshot({ path: README_PICTURE })
    })
  })

  test.describe(`${theme}, nothing there yet`, () => {
    test.use({ machineSettings: { theme } })

    test(`the first start, ${theme}`, async ({ page }) => {
      mkdirSync(FOLDER, { recursive: true })
      await expect(page.getByRole('main')).toBeVisible()
      await page.screenshot({ path: join(FOLDER, `first-start-${theme}.png`) })
    })
  })
}
