import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Page } from '@playwright/test'
import { installScriptedAgent } from '../../src-runner/testing/coding-agents/install-scripted-agent.ts'
import { findSandbox } from '../../src-runner/platform/sandbox/find-sandbox.ts'
import { gitIn } from '../../src-runner/testing/git-rig.ts'
import { expect, test as base } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'
import { createRealFolder, type RealFolder } from '../fixtures/real-folder.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const test = base.extend<{ programs: RealFolder; shop: RealFolder }>({
  /** Where the scripted coding program is installed, under the name of a real one. */
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  programs: async ({}, use) => {
    const folder = createRealFolder({})
    await installScriptedAgent(folder.path, 'gemini')
    await use(folder)
    folder.remove()
  },
  env: async ({ programs }, use) => use({ PATH: [programs.path, process.env['PATH'] ?? ''].join(delimiter) }),
  /** A repository of the person's, with a commit. */
  // oxlint-disable-next-line no-empty-pattern -- as above.
  shop: async ({}, use) => {
    const folder = createRealFolder({ 'till.ts': 'export const tax = 19\n' })
    gitIn(folder.path, 'init', '--quiet')
    gitIn(folder.path, 'add', '--all')
    gitIn(folder.path, 'commit', '--quiet', '-m', 'Begin')
    await use(folder)
    folder.remove()
  },
})

/** The scripted program does the lines with @. */
const FIX_THE_TAX = `Fix the tax
@think The tax is 20 now.
@say I look at the till first.
@read till.ts
@put till.ts export const tax = 20\\n
@put notes.md hi
@run echo tested
@usage 1200 300 0.25
@say The tax is 20 now.`

/** Starts a task in the dialog. Without a sandbox, Deckhand asks before it starts the program. */
async function start(page: Page, task: string): Promise<void> {
  await page.goto('app://deckhand/code?new=1')
  const dialog = page.getByRole('dialog', { name: 'New code task' })
  // Its name is before its control, which covers the input.
  await dialog.getByText('Gemini CLI', { exact: true }).click()
  await dialog.getByLabel('Task').fill(task)
  await dialog.getByRole('button', { name: 'Start' }).click()
  await expect(page).toHaveURL(/\/jobs\//)
  if (!(await findSandbox()).works) await page.getByRole('button', { name: 'Approve once' }).click()
}

test('a code task: a person starts it, approves a command, and applies what it left', async ({ deckhand, page, models, shop }) => {
  await setUpAgent(deckhand.client, models, { folders: [shop.path] })
  await start(page, FIX_THE_TAX)
  const card = page.getByRole('article')
  await expect(card).toContainText('Gemini CLI asks on behalf of Ada')
  await expect(card.getByRole('group', { name: 'Command' })).toHaveText('echo tested')
  const path = new URL(page.url()).pathname
  await lookAt(
    deckhand,
    [
      { name: 'new', path: '/code?new=1', shows: (on) => on.getByText('Where it runs') },
      { name: 'asks', path, shows: (on) => on.getByText('It is waiting for you.', { exact: false }) },
    ],
    'code-work',
  )
  await page.getByRole('button', { name: /^Approve once/ }).click()

  const main = page.getByRole('main')
  await expect(main.getByText('Ready to review')).toBeVisible()
  await expect(main.getByRole('region', { name: 'Changed files' })).toContainText('2 files changed')
  await expect(main.getByText('exit 0')).toBeVisible()
  await expect(main.getByText('$0.25').first()).toBeVisible()
  await expect(main.getByRole('button', { name: /^Edited till\.ts/ })).toBeVisible()
  const { codeTask } = await deckhand.client.ok('getCodeTask', { params: { jobId: path.split('/').at(-1)! } })
  expect(gitIn(shop.path, 'show', `${codeTask.branch}:till.ts`)).toBe('export const tax = 20')
  expect(readFileSync(join(shop.path, 'till.ts'), 'utf8')).toBe('export const tax = 19\n')
  await page.getByRole('button', { name: 'Open folder' }).click()
  await expect.poll(async () => (await deckhand.hooks()).openedFolders).toEqual([codeTask.folder])
  expect((await deckhand.hooks()).notifications).toContain('Fix the tax')

  await page.getByRole('button', { name: /^Modified\s*till\.ts/ }).click()
  const diff = page.getByRole('group', { name: 'Changes to till.ts' })
  await expect(diff).toContainText('export const tax = 20')
  await page.getByRole('button', { name: 'Apply to my checkout' }).click()
  const dialog = page.getByRole('alertdialog')
  await expect(dialog).toContainText(`2 files change in ${shop.path}`)
  // The person changes the same line meanwhile: nothing is applied, and the dialog says why.
  writeFileSync(join(shop.path, 'till.ts'), 'export const tax = 21\n')
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(dialog.getByRole('alert')).toContainText('till.ts')
  expect(gitIn(shop.path, 'status', '--porcelain')).toBe('M till.ts')
  gitIn(shop.path, 'checkout', 'till.ts')
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(main.getByText('The changes are in your checkout.')).toBeVisible()
  expect(readFileSync(join(shop.path, 'till.ts'), 'utf8')).toBe('export const tax = 20\n')

  await page.getByRole('button', { name: 'Remove folder, keep branch' }).click()
  await dialog.getByRole('button', { name: 'Remove folder', exact: true }).click()
  await expect(main.getByText('Removed, the branch is kept', { exact: false })).toBeVisible()
  expect(gitIn(shop.path, 'branch', '--list', codeTask.branch)).toContain(codeTask.branch)
})

test('a code task is discarded: its folder and branch go, and the checkout stays', async ({ deckhand, page, models, shop }) => {
  await setUpAgent(deckhand.client, models, { folders: [shop.path] })
  await start(page, 'Break it\n@put till.ts broken\n@say Done.')
  const main = page.getByRole('main')
  await expect(main.getByText('Ready to review')).toBeVisible()
  await page.getByRole('button', { name: 'Discard…' }).click()
  const dialog = page.getByRole('alertdialog', { name: 'Discard “Break it”?' })
  await expect(dialog).toContainText('with the changes to 1 file. They cannot be brought back.')
  await dialog.getByRole('button', { name: 'Discard', exact: true }).click()
  await expect(main.getByText('The changes were discarded.', { exact: false })).toBeVisible()
  expect(gitIn(shop.path, 'branch', '--list', 'deckhand/*')).toBe('')
  expect(gitIn(shop.path, 'status', '--porcelain')).toBe('')
})

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
        { name: 'ready', path: jobOf(/empty cart/), shows: text('Not on the branch') },
        { name: 'waiting', path: jobOf(/search field/), shows: text('It is waiting for you.') },
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
        { name: 'ready', path: jobOf(/empty cart/), shows: text('Läuft automatisch') },
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
