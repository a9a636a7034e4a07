import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

test('everything is deleted after a word and a confirmation, and Deckhand starts from the beginning', async ({
  deckhand,
  page,
  models,
}) => {
  await setUpAgent(deckhand.client, models)
  await deckhand.client.ok('makeBackup')
  writeFileSync(join(deckhand.dataDir, 'mine.txt'), 'x')
  await page.goto('app://deckhand/settings/computer')
  await page.getByRole('button', { name: 'Delete all data…' }).click()
  const dialog = page.getByRole('alertdialog')
  await expect(dialog.getByText('1 agent, 0 jobs, 0 conversations, 0 webhooks and 0 schedules')).toBeVisible()
  await expect(dialog.getByText('In the data folder, what Deckhand did not make: mine.txt')).toBeVisible()
  await dialog.getByRole('button', { name: 'Delete everything' }).click()
  await expect(dialog.getByText('Type DELETE to delete everything.')).toBeVisible()
  expect((await deckhand.hooks()).questions).toEqual([])

  await dialog.getByRole('textbox').fill('DELETE')
  const { app } = deckhand
  const ended = new Promise((resolve) => app.process().once('exit', resolve))
  await dialog.getByRole('button', { name: 'Delete everything' }).click()
  await ended
  // The process ended before it deleted anything, as a kill would end it.
  expect(existsSync(join(deckhand.dataDir, 'reset.json'))).toBe(true)
  expect(existsSync(join(deckhand.dataDir, 'deckhand.db'))).toBe(true)

  await deckhand.start()
  await expect(deckhand.page.getByRole('heading', { name: 'Choose a model' })).toBeVisible()
  expect((await deckhand.client.ok('listAgents')).agents).toEqual([])
  expect(readdirSync(deckhand.dataDir)).toEqual(expect.arrayContaining(['mine.txt', 'backups']))
  expect(existsSync(join(deckhand.dataDir, 'reset.json'))).toBe(false)
})
