import { execFileSync } from 'node:child_process'
import type { Locator, Page } from '@playwright/test'
import { expect, test } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const ORDER = { name: '#1042', total_price: '59.90', currency: 'EUR', customer: { first_name: 'Grace', last_name: 'H.' } }

async function post(url: string, body: unknown): Promise<{ status: number; answer: unknown }> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return { status: response.status, answer: await response.json() }
}

const inbox = (page: Page) => page.getByRole('list', { name: 'Deliveries' })

/** Creates a webhook in the window. Returns its address, which only the page knows. */
async function createWebhook(page: Page): Promise<{ url: string; panel: Locator }> {
  await page.goto('app://deckhand/automations')
  await page.getByRole('link', { name: 'New webhook' }).first().click()
  await page.getByRole('button', { name: /^Template/ }).click()
  await page.getByRole('option', { name: 'Shopify: order' }).click()
  await expect(page.getByRole('region', { name: 'Preview' })).toContainText('Order #1001 came in')
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const panel = page.getByRole('region', { name: 'Webhook address' })
  return { url: await panel.locator('code').innerText(), panel }
}

test('a webhook created in the window accepts a delivery, and its job appears at once', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  const { url, panel } = await createWebhook(page)
  await expect(page.getByText('No deliveries yet')).toBeVisible()

  models.play({ text: ['Nothing about it needs a person.'] })
  const { status, answer } = await post(url, ORDER)
  expect(status).toBe(202)
  const { jobId } = answer as { jobId: string }
  const row = inbox(page).getByRole('listitem').filter({ hasText: 'Job started' })
  await expect(row).toBeVisible()
  await row.getByRole('button').click()
  await expect(row.getByRole('group', { name: 'Payload' })).toContainText('"first_name": "Grace"')
  const task = row.getByRole('region', { name: 'Task' })
  await expect(task).toContainText('Order #1042 came in: 59.90 EUR')
  await expect(task).not.toContainText('untrusted external data')
  await task.getByRole('button', { name: 'Show agent input' }).click()
  await expect(task.getByRole('group', { name: 'Agent input' })).toContainText('untrusted external data')

  // The command that the page offers works in a shell.
  const command = await panel.getByRole('group', { name: 'Test in a terminal' }).innerText()
  const words = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${command}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')
  expect(words.slice(0, 3)).toEqual(['-X', 'POST', url])
  models.play({ text: ['This one neither.'] })
  expect((await post(url, JSON.parse(words.at(-1)!))).status).toBe(202)
  await expect(inbox(page).getByRole('listitem')).toHaveCount(2)

  await panel.getByRole('button', { name: 'I copied it' }).click()
  await row.last().getByRole('link', { name: 'Job' }).click()
  await expect(page).toHaveURL(new RegExp(`/jobs/${jobId}$`))
  await expect(page.getByText('Nothing about it needs a person.').first()).toBeVisible()
  await page.getByRole('link', { name: 'Check orders', exact: true }).click()
  await expect(row.last().getByRole('region', { name: 'Task' })).toContainText('Order #1042')
})

test('an address is shown once: neither a reload nor the history gives it back', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  const { url, panel } = await createWebhook(page)
  const secret = url.split('/').at(-1)!
  await panel.getByRole('button', { name: 'Copy address' }).click()
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Check orders' })).toBeVisible()
  const stored = await page.evaluate(() => JSON.stringify([history.state, { ...localStorage }, { ...sessionStorage }]))
  expect(stored + (await page.content())).not.toContain(secret)
})

test('unsaved changes ask before the page is left, and do not keep the app from quitting', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  await page.goto('app://deckhand/automations/webhooks/new')
  await page.getByRole('textbox', { name: 'Name' }).fill('Orders')
  const closeWindow = () => deckhand.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]!.close())
  await deckhand.setHooks({ confirm: false })
  await closeWindow()
  await expect.poll(async () => (await deckhand.hooks()).questions).toEqual(['Discard changes?'])
  await expect(page.getByRole('textbox', { name: 'Name' })).toHaveValue('Orders')
  // Quitting asks about running jobs, not about a form.
  await deckhand.quit()
})

test('a delivery with an old secret is refused, and the inbox says why', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  const { url, panel } = await createWebhook(page)
  await panel.getByRole('button', { name: 'I copied it' }).click()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Rotate secret…' }).click()
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  const renewed = await page.getByRole('region', { name: 'New webhook address' }).locator('code').innerText()
  expect(renewed).not.toBe(url)

  expect(await post(url, ORDER)).toEqual({ status: 404, answer: { error: 'not_found' } })
  expect(await post(url, ORDER)).toEqual({ status: 404, answer: { error: 'not_found' } })
  const row = inbox(page).getByRole('listitem').filter({ hasText: 'Wrong secret' })
  await expect(row).toContainText('2 times in a row')
  models.play({ text: ['Fine.'] })
  expect((await post(renewed, ORDER)).status).toBe(202)
  await expect(inbox(page)).toContainText('Job started')
})

test('a schedule created in the window can be run by hand, and the run appears in its history', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  await page.goto('app://deckhand/automations/schedules')
  await page.getByRole('link', { name: 'Use an example' }).click()
  await page.getByRole('textbox', { name: 'Cron' }).fill('0 9 * * 1')
  await expect(page.getByRole('button', { name: /^Repeats/ })).toContainText('Every week')
  const next = page.getByRole('region', { name: 'Next runs' })
  await expect(next).toContainText(/Every Monday at 9:00.AM/)
  await expect(next.getByRole('listitem')).toHaveCount(5)
  await page.getByRole('textbox', { name: 'Cron' }).fill('0 9 31 2 *')
  await expect(page.getByRole('textbox', { name: 'Cron' })).toHaveAttribute('aria-invalid', 'true')
  await page.getByRole('textbox', { name: 'Cron' }).fill('0 9 * * 1')
  await page.getByRole('button', { name: 'Create schedule' }).click()
  await expect(page.getByText('No runs yet')).toBeVisible()

  models.play({ text: ['Two things are open.'] })
  const held = models.holdBefore(1)
  await page.getByRole('button', { name: 'Run now' }).click()
  const run = page.getByRole('list', { name: 'Run history' }).getByRole('listitem')
  await expect(run).toContainText('Manual')
  await expect(page.getByText('A run is in progress.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Run now' })).toBeDisabled()
  held.release()
  await expect(run.getByRole('link', { name: 'Completed' })).toBeVisible()
  await expect(page.getByRole('img', { name: 'Last run: 1 × Ran' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Run now' })).toBeEnabled()

  await run.getByRole('link', { name: 'Completed' }).click()
  await expect(page.getByText('Two things are open.').first()).toBeVisible()
  await expect(page.getByText('run manually')).toBeVisible()
})
