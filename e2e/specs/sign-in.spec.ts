import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { _electron, expect, type Page, test as base } from '@playwright/test'
import { hasChromiumSandbox } from '../../build/chromium-sandbox.mjs'
import { startModelServer, type ModelServer } from '../../src-runner/testing/model-servers/model-server.ts'
import { createRunnerClient } from '../../src-runner/testing/runner-client.ts'
import { startHeadless, type Headless } from '../fixtures/headless.ts'
import { createRealFolder, type RealFolder } from '../fixtures/real-folder.ts'
import { expectAccessible, expectNoSidewaysScroll, expectTouchTargets, takePicture } from '../fixtures/screen-shots.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const SECRET = 'secret-of-the-sign-in-test-0123456789abcdef'
const PASSWORD = 'password-canary-7f3a91'

/** Two browsers at the width of a phone, each with cookies of its own, and a Deckhand without a desktop. */
const test = base.extend<{
  server: Headless
  models: ModelServer
  folder: RealFolder
  browsers: { first: Page; second: Page; widen: () => Promise<void> }
}>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  server: async ({}, use) => {
    const headless = await startHeadless({ AUTH_MODE: 'local-auth', WORKER_SECRET: SECRET, LOG_LEVEL: 'trace' })
    await use(headless)
    await headless.stop()
  },
  // oxlint-disable-next-line no-empty-pattern -- as above.
  models: async ({}, use) => {
    const models = await startModelServer()
    await use(models)
    await models.close()
  },
  // oxlint-disable-next-line no-empty-pattern -- as above.
  folder: async ({}, use) => {
    const folder = createRealFolder({ 'plan.md': 'Paint it blue.\n' })
    await use(folder)
    folder.remove()
  },
  // oxlint-disable-next-line no-empty-pattern -- as above.
  browsers: async ({}, use) => {
    const storage = mkdtempSync(join(tmpdir(), 'deckhand-browser-'))
    const args = [join(import.meta.dirname, '../fixtures/browser/main.mjs'), storage]
    const app = await _electron.launch({ args, chromiumSandbox: hasChromiumSandbox(), colorScheme: null })
    await expect.poll(() => app.windows().length).toBe(2)
    const named = (name: string) => app.windows().find((page) => page.url().endsWith(name))!
    const widen = () =>
      app.evaluate(({ BrowserWindow }) => {
        for (const window of BrowserWindow.getAllWindows()) window.setContentSize(1200, 800)
      })
    await use({ first: named('first'), second: named('second'), widen })
    await app.close()
    rmSync(storage, { recursive: true, force: true })
  },
})

async function picture(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const label = `sign-in-${name}-${colorScheme}`
    await takePicture({ page }, label)
    await expectAccessible({ page }, label, colorScheme)
  }
  await expectNoSidewaysScroll({ page }, name)
  if ((await page.evaluate(() => innerWidth)) < 500) await expectTouchTargets({ page }, name)
}

const fill = async (page: Page, name: string, password = PASSWORD) => {
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
}

test('people sign in from a phone, work there, and are signed out from elsewhere', async ({ server, models, folder, browsers }) => {
  const { first: phone, second: tablet } = browsers
  const url = server.dashboardUrl
  const client = createRunnerClient(server.runnerUrl, SECRET)
  const agent = await setUpAgent(client, models, { folders: [folder.path] })

  // Nobody gets in before there is an account.
  const failed: string[] = []
  phone.on('response', (response) => void (response.status() === 401 && failed.push(new URL(response.url()).pathname)))
  await phone.goto(`${url}/activity`)
  await expect(phone.getByRole('heading', { name: 'Nobody can sign in yet' })).toBeVisible()
  await picture(phone, 'no-owner')
  expect(failed, 'requests that were refused').toEqual([])

  const setup = /create the owner account: (\S+)/.exec(server.errors())![1]!
  expect(setup).toContain('/sign-in#setup=')
  await phone.goto(setup)
  await expect(phone.getByRole('heading', { name: 'Create the owner account' })).toBeVisible()
  expect(phone.url()).toBe(`${url}/`)
  await fill(phone, 'Anna', 'short')
  await phone.getByRole('button', { name: 'Create account' }).click()
  await expect(phone.getByText('Use at least 10 characters.')).toBeVisible()
  await picture(phone, 'setup')
  await fill(phone, 'Anna')
  await phone.getByRole('button', { name: 'Create account' }).click()
  await expect(phone.getByRole('textbox', { name: 'New job' })).toBeVisible()
  await picture(phone, 'home')

  // Chat, with a call that needs approval.
  models.play(
    {
      text: ['I change the plan.'],
      toolCalls: [{ id: 'call_1', name: 'run_command', args: { command: ['rm', 'plan.md'], folder: folder.path } }],
    },
    { text: ['The plan is gone.'] },
  )
  await phone.goto(`${url}/chat?agent=${agent.id}`)
  await phone.getByRole('textbox', { name: 'Message' }).fill('Remove the plan.')
  await phone.getByRole('button', { name: 'Send' }).click()
  await phone
    .getByRole('button', { name: /^Approve|^Allow/ })
    .first()
    .click()
  await expect(phone.getByText('The plan is gone.', { exact: true })).toBeVisible()
  await picture(phone, 'chat')

  // A job that runs until it is stopped.
  models.play({ text: ['I think'], fault: { kind: 'stall', afterFrames: 2 } })
  const { jobId } = await client.ok('submitTask', { body: { task: 'Think for a long time.', agentId: agent.id } })
  await phone.goto(`${url}/jobs/${jobId}`)
  await phone.getByRole('button', { name: 'Stop', exact: true }).click()
  await expect.poll(async () => (await client.ok('getJob', { params: { jobId } })).job.status).toBe('cancelled')
  await phone.getByRole('link', { name: 'Activity' }).first().click()
  await expect(phone.getByText('Think for a long time.').first()).toBeVisible()
  await picture(phone, 'activity')

  // An invitation for the second browser.
  await phone.goto(`${url}/settings/people`)
  await phone.getByRole('button', { name: 'Invite' }).click()
  await phone.getByRole('button', { name: 'Create link' }).click()
  const link = (await phone.locator('[data-link]').innerText()).trim()
  await picture(phone, 'invite')
  await phone.getByRole('button', { name: 'Done' }).click()
  await tablet.goto(link)
  await expect(tablet.getByText('Anna invited you.')).toBeVisible()
  await fill(tablet, 'Ben')
  await tablet.getByRole('button', { name: 'Create account' }).click()
  await expect(tablet.getByRole('textbox', { name: 'New job' })).toBeVisible()
  await tablet.goto(`${url}/activity`)
  await expect(tablet.getByText('Think for a long time.').first()).toBeVisible()

  // The owner signs it out: its open page is gone at once, and comes back where it was.
  await phone.goto(`${url}/settings/people`)
  await expect(phone.getByText('(Ben)')).toBeVisible()
  await picture(phone, 'people')
  await phone.getByRole('button', { name: /^Sign out .*\(Ben\)/ }).click()
  await expect(tablet.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await fill(tablet, 'Ben', 'a wrong password')
  await tablet.getByRole('button', { name: 'Sign in' }).click()
  await expect(tablet.getByText('The name or the password is wrong.')).toBeVisible()
  await picture(tablet, 'wrong')
  await fill(tablet, 'ben')
  await tablet.getByRole('button', { name: 'Sign in' }).click()
  await expect(tablet.getByText('Think for a long time.').first()).toBeVisible()
  expect(new URL(tablet.url()).pathname).toBe('/activity')

  await phone.getByRole('button', { name: 'More' }).click()
  await phone.getByRole('button', { name: 'Sign out Anna' }).click()
  await expect(phone.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await phone.reload()
  await expect(phone.getByRole('heading', { name: 'Sign in' })).toBeVisible()

  // As wide as a desktop, the account has a menu at the side.
  await browsers.widen()
  await picture(tablet, 'wide')
  await tablet.getByRole('button', { name: 'Account of Ben' }).click()
  await expect(tablet.getByRole('menuitem', { name: 'Sign out' })).toBeVisible()
  const cookies = await tablet.context().cookies()
  await tablet.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(tablet.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await picture(tablet, 'wide-out')

  // Neither the password nor a link is in a log or a file.
  const tokens = cookies.map(({ value }) => decodeURIComponent(value).split('.')[0]!)
  for (const entry of readdirSync(server.dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const text = readFileSync(join(entry.parentPath, entry.name), 'latin1')
    expect(text.includes(PASSWORD), entry.name).toBe(false)
    expect(text.includes(link.split('=')[1]!), entry.name).toBe(false)
    if (!entry.name.startsWith('auth.db')) for (const token of tokens) expect(text.includes(token), entry.name).toBe(false)
  }
  expect(server.errors()).not.toContain(PASSWORD)
})
