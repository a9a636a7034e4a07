import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deckhand } from '../fixtures/deckhand.ts'
import { expect, test } from '../fixtures/deckhand.ts'
import { createRealFolder } from '../fixtures/real-folder.ts'

const KEY = 'sk-canary-5f0c2b7e91d84a63'

test('an agent reads a real folder with a model server that the person added', async ({ deckhand, page, models }) => {
  const folder = createRealFolder({ 'letters/landlord.txt': 'The deposit of 1,240 euros was paid on 2 May.\n' })
  await deckhand.setHooks({ folder: folder.path })
  await deckhand.client.ok('updateSettings', { body: { firstStart: 'done' } })
  await page.goto('app://deckhand/models')

  await page.getByRole('button', { name: 'Add provider' }).click()
  const form = page.getByRole('dialog', { name: 'Add provider' })
  await form.getByRole('button', { name: 'Provider' }).click()
  await page.getByRole('option', { name: /OpenAI-compatible server/ }).click()
  await form.getByLabel('Name', { exact: true }).fill('Server in the cellar')
  await form.getByLabel(/^Base URL/).fill(`${models.url}/v1`)
  await form.getByLabel(/^API key/).fill(KEY)
  await form.getByRole('button', { name: 'Connect' }).click()
  await expect(form).toBeHidden()
  await expect(page.getByRole('main')).toContainText('Server in the cellar')
  await expect(page.getByText('Connected · 2 models')).toBeVisible()
  await expect(page.getByText(/Key stored/)).toBeVisible()

  await page.goto('app://deckhand/agents/new')
  await page.getByLabel('Name', { exact: true }).fill('Nora')
  await page.getByRole('button', { name: 'Add folder…' }).click()
  await expect(page.getByText(folder.path)).toBeVisible()
  await page.getByRole('button', { name: 'Create agent' }).click()
  await expect(page.getByText('Nora created')).toBeVisible()

  models.play(
    { text: ['I look.'], toolCalls: [{ id: 'call_1', name: 'list_files', args: { recursive: true } }], usage: { input: 100, output: 10 } },
    {
      toolCalls: [{ id: 'call_2', name: 'read_file', args: { path: `${folder.path}/letters/landlord.txt` } }],
      usage: { input: 200, output: 10 },
    },
    { text: ['It was ', '**1,240 euros**', '.'], usage: { input: 300, output: 10 } },
  )
  await page.goto('app://deckhand/')
  await page.getByRole('textbox', { name: 'New job' }).fill('How much was the deposit?')
  await page.getByRole('button', { name: 'Run job' }).click()
  await page
    .getByRole('link', { name: /How much was the deposit/ })
    .first()
    .click()

  await expect(page.getByRole('main')).toContainText('It was 1,240 euros.')
  await expect(page.getByRole('button', { name: /^Listed / })).toBeVisible()
  await expect(page.getByRole('button', { name: /^Read .*landlord\.txt/ })).toBeVisible()
  const figures = page.locator('dl[aria-label="Summary"]')
  await expect(figures).toContainText('small')
  await expect(figures).toContainText('600 in, 30 out')
  // A model on this machine is free.
  await expect(figures).toContainText('$0.00')

  const asked = models.received.filter(({ path }) => path.endsWith('/chat/completions'))
  expect(asked).toHaveLength(3)
  expect(asked.map(({ headers }) => headers['authorization'])).toEqual(Array(3).fill(`Bearer ${KEY}`))
  expect(JSON.stringify(asked[1]!.body)).toContain('landlord.txt')
  expect(JSON.stringify(asked[1]!.body)).not.toContain('1,240 euros')
  expect(JSON.stringify(asked[2]!.body)).toContain('The deposit of 1,240 euros was paid on 2 May.')

  await page.goto('app://deckhand/models')
  await page.getByRole('button', { name: 'Actions for Server in the cellar' }).click()
  await page.getByRole('menuitem', { name: 'Edit…' }).click()
  await expect(page.getByRole('dialog')).toContainText('A key is stored')
  expect(await whatThePageHolds(deckhand)).not.toContain(KEY)

  await deckhand.quit()
  expect(filesWith(deckhand.dataDir, KEY)).toEqual([])
  expect(deckhand.output()).not.toContain(KEY)
  folder.remove()
})

/** All that the page holds: its elements, fields and storage, and every response of the runner. */
async function whatThePageHolds({ page }: Deckhand): Promise<string> {
  const answers = await page.evaluate(async () => {
    const paths = ['/api/providers', '/api/models', '/api/settings', '/api/agents', '/api/jobs']
    const texts = await Promise.all(paths.map(async (path) => (await fetch(path)).text()))
    const fields = [...document.querySelectorAll('input, textarea')].map((field) => (field as HTMLInputElement).value)
    return [...texts, ...fields, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join('\n')
  })
  return `${await page.content()}\n${answers}`
}

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text))
}
