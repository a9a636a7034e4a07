import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { hasChromiumSandbox } from '../../build/chromium-sandbox.mjs'
import { electronProgram } from '../../build/setup-electron.mjs'
import { expect, test, type Deckhand } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Starts Deckhand again with the same data, as the system does for a link. Resolves with its exit code. */
function startAgain(deckhand: Deckhand, args: string[]): Promise<number | null> {
  const sandbox = hasChromiumSandbox() ? [] : ['--no-sandbox']
  const { DECKHAND_TEST: _, ...env } = process.env
  const second = spawn(electronProgram(), [...sandbox, ROOT, ...args], {
    env: { ...env, DECKHAND_DATA_DIR: deckhand.dataDir, DECKHAND_VAULT: 'file' },
    stdio: 'ignore',
  })
  return new Promise((resolve) => second.on('exit', resolve))
}

test('a second start hands its link over: a screen opens, and a task is only proposed', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  await deckhand.client.ok('updateSettings', { body: { firstStart: 'done' } })
  expect(await startAgain(deckhand, ['deckhand://open/activity'])).toBe(0)
  await expect(page).toHaveURL('app://deckhand/activity')
  expect((await deckhand.hooks()).questions).toEqual([])

  const link = 'deckhand://task?text=Sum%20up%20my%20notes%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E'
  await deckhand.setHooks({ confirm: false })
  expect(await startAgain(deckhand, [link])).toBe(0)
  await expect.poll(async () => (await deckhand.hooks()).questions).toEqual(['Use a task from a link?'])
  await expect(page).toHaveURL('app://deckhand/activity')

  await deckhand.setHooks({ confirm: true })
  expect(await startAgain(deckhand, [link])).toBe(0)
  const field = page.getByRole('textbox', { name: 'Message' })
  await expect(field).toHaveValue('Sum up my notes<img src=x onerror=alert(1)>')
  await expect(page.getByText('This text comes from a link. Check it before you send it.')).toBeVisible()
  expect((await deckhand.client.ok('listJobs', {})).jobs).toEqual([])

  await page.keyboard.press('Enter')
  await expect.poll(async () => (await deckhand.client.ok('listJobs', {})).jobs).toHaveLength(1)
  await expect(page.getByText('This text comes from a link.')).toHaveCount(0)
})

test('a link that asks for more only brings the window to the front', async ({ deckhand, page }) => {
  await deckhand.client.ok('updateSettings', { body: { firstStart: 'done' } })
  await page.goto('app://deckhand/activity')
  await expect(page.getByRole('heading', { name: 'Activity' })).toBeVisible()
  for (const link of ['deckhand://approve?id=1', 'deckhand://task?text=a&run=1', 'deckhand://open/%2e%2e/x'])
    expect(await startAgain(deckhand, [link, '--inspect=0', '--remote-debugging-port=0'])).toBe(0)
  expect(page.url()).toBe('app://deckhand/activity')
  expect((await deckhand.hooks()).questions).toEqual([])
  expect((await deckhand.client.ok('listJobs', {})).jobs).toEqual([])
})
