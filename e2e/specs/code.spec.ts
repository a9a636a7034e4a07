import type { Page } from '@playwright/test'
import { expect, test } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'

const text = (wanted: string | RegExp) => (page: Page) => page.getByRole('main').getByText(wanted).first()

test.describe('with code tasks', () => {
  test.use({ scenario: 'code-tasks' })

  test('every state of a code task, in English and in German', async ({ deckhand }) => {
    const { client, page } = deckhand
    await client.ok('updateSettings', { body: { firstStart: 'done' } })
    const { codeTasks } = await client.ok('listCodeTasks', { query: {} })
    const jobOf = (title: RegExp) => `/jobs/${codeTasks.find((task) => title.test(task.title))!.jobId}`
    await lookAt(
      deckhand,
      [
        { name: 'list', path: '/code', shows: text('Ready to review') },
        { name: 'ready', path: jobOf(/empty cart/), shows: text('Runs by itself') },
        { name: 'waiting', path: jobOf(/search field/), shows: text('It waits for you.') },
        { name: 'nothing', path: jobOf(/nightly build/), shows: text('It ended without changing a file.') },
        { name: 'discarded', path: jobOf(/Rename money/), shows: text('The changes were discarded.') },
        { name: 'home', path: '/', shows: text('Claude Code changed 5 files in shop.') },
      ],
      'code',
    )
    await page.evaluate(() => localStorage.setItem('deckhand.language', 'de'))
    await lookAt(
      deckhand,
      [
        { name: 'list', path: '/code', shows: text('Bereit zur Prüfung') },
        { name: 'ready', path: jobOf(/empty cart/), shows: text('Läuft von selbst') },
        { name: 'stopped', path: jobOf(/Portuguese/), shows: text('Es wurde nicht fertig.') },
      ],
      'code-german',
    )
    // With the keyboard alone: the list is one tab stop, and Enter opens the newest task.
    await page.goto('app://deckhand/code')
    await page.getByRole('listbox').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/jobs\//)
  })
})
