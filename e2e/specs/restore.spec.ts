import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

test('a backup is restored in three clicks, with the replaced data kept beside it', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  await page.goto('app://deckhand/settings/computer')
  await page.getByRole('button', { name: 'Back up now' }).click()
  await expect(page.getByText(/^Last backup: /)).toBeVisible()
  await deckhand.client.ok('createAgent', { body: { name: 'Ben' } })

  await page.goto('app://deckhand/agents')
  await expect(page.getByRole('main').getByText('Ben', { exact: true })).toBeVisible()
  await page.getByRole('link', { name: 'Settings' }).first().click()
  await page.getByRole('link', { name: 'This computer' }).click()
  await page.getByRole('button', { name: 'Restore…' }).click()
  // The desktop asks, and the person agrees.
  await expect.poll(async () => (await deckhand.hooks()).questions).toEqual(['Restore this backup?'])

  await page.goto('app://deckhand/agents')
  await expect(page.getByRole('main').getByText('Ada', { exact: true })).toBeVisible()
  await expect(page.getByRole('main').getByText('Ben', { exact: true })).toHaveCount(0)
  await deckhand.untilReady()
  expect((await deckhand.client.ok('getSettings')).settings.pauseAll).toBe(true)

  const kept = readdirSync(deckhand.dataDir).filter((name) => /\.replaced-\d+T\d+Z$/.test(name))
  expect(kept).toHaveLength(1)
  const replaced = new Database(join(deckhand.dataDir, kept[0]!), { readonly: true })
  expect(replaced.prepare('SELECT name FROM agents').pluck().all()).toContain('Ben')
  replaced.close()
})
