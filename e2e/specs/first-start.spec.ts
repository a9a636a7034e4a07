import { createRealFolder } from '../fixtures/real-folder.ts'
import { expect, test } from '../fixtures/deckhand.ts'

test('the first start leads to a finished first job and does not come back', async ({ deckhand, page }, testInfo) => {
  const folder = createRealFolder({
    'boiler-service.md': '# Boiler\n\nServiced on 3 September. Next due in a year.\n',
    'garden-plan.md': '# Garden\n\nCut the hedge before March.\n',
    'expenses.csv': 'day,amount\nMonday,12.50\n',
  })
  await deckhand.setHooks({ folder: folder.path })
  const from = performance.now()

  await expect(page.getByRole('heading', { name: 'Choose a model' })).toBeVisible()
  await page.getByRole('button', { name: 'Use demo' }).click()

  await expect(page.getByRole('heading', { name: 'Create your first agent' })).toBeVisible()
  await page.getByLabel('Name', { exact: true }).fill('Marta')
  await page.getByRole('button', { name: 'Choose folder…' }).click()
  await expect(page.getByText(folder.path)).toBeVisible()
  await page.getByRole('button', { name: 'Create agent' }).click()

  await expect(page.getByRole('heading', { name: 'Run a first job with Marta' })).toBeVisible()
  await page.getByRole('button', { name: 'Run job' }).click()
  await expect(page.getByRole('heading', { name: 'Your first job is done' })).toBeVisible()
  for (const file of ['boiler-service.md', 'garden-plan.md', 'expenses.csv']) await expect(page.getByRole('main')).toContainText(file)
  // Only an agent that has read the file knows this.
  await expect(page.getByRole('main')).toContainText('Serviced on 3 September')

  const seconds = (performance.now() - from) / 1000
  testInfo.annotations.push({ type: 'first job', description: `${seconds.toFixed(1)} s` })

  await page.getByRole('link', { name: 'Go to Home' }).click()
  await page.getByRole('navigation').getByRole('link', { name: 'Activity' }).click()
  const row = page.getByRole('main').getByText('Look at my folder', { exact: false }).first()
  await row.click()

  await expect(page.getByRole('heading', { name: /Look at my folder/ })).toBeVisible()
  await expect(page.getByText('Completed', { exact: true })).toBeVisible()
  const figures = page.locator('dl[aria-label="Summary"]')
  await expect(figures).toContainText('Marta')
  await expect(figures).toContainText('Demo')
  await expect(figures).toContainText(/Tokens\s*[\d.,]+K?\sin,\s[\d.,]+K?\sout/)
  await expect(figures).toContainText('$0.00')
  await expect(page.getByRole('button', { name: /^Listed its folders/ })).toBeVisible()
  await expect(page.getByRole('button', { name: /^Read .*boiler-service\.md/ })).toBeVisible()

  await deckhand.quit()
  await deckhand.start()
  await expect(deckhand.page.getByRole('heading', { name: 'Home' })).toBeVisible()
  await expect(deckhand.page.getByText(/Look at my folder/).first()).toBeVisible()
  await expect(deckhand.page.getByRole('heading', { name: 'Choose a model' })).toBeHidden()
  folder.remove()
})
