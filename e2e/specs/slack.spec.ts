import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { SLACK_BOT_SCOPES } from '../../resources/slack-manifest.ts'
import { startSlackServer, type SlackServer, type SlackUser } from '../../src-runner/testing/slack-server/slack-server.ts'
import { expect, test as base } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'
import { createRealFolder, type RealFolder } from '../fixtures/real-folder.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const MIRA: SlackUser = { id: 'U0MIRA00001', name: 'mira', realName: 'Mira Holm' }

const test = base.extend<{ slack: SlackServer; folder: RealFolder }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  slack: async ({}, use) => {
    const server = await startSlackServer()
    await use(server)
    await server.close()
  },
  // oxlint-disable-next-line no-empty-pattern -- as above.
  folder: async ({}, use) => {
    const folder = createRealFolder({ 'plan.md': 'Paint it blue.\n' })
    await use(folder)
    folder.remove()
  },
})

test('a person connects Slack with its two tokens, and approves a change there', async ({ deckhand, page, models, slack, folder }) => {
  const agent = await setUpAgent(deckhand.client, models, { folders: [folder.path] })
  await page.goto('app://deckhand/channels')
  await page.getByRole('button', { name: 'Connect channel' }).click()
  await page.getByRole('button', { name: /^Slack/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect Slack' })
  const connect = dialog.getByRole('button', { name: 'Connect', exact: true })
  await dialog.getByRole('button', { name: 'Custom server' }).click()
  await dialog.getByLabel('Server address').fill(slack.url)

  await dialog.getByLabel('Bot token').fill(slack.appToken)
  await dialog.getByLabel('App-level token').fill(slack.botToken)
  await connect.click()
  await expect(dialog).toContainText('This is a Slack app-level token. Enter a Slack bot token here.')
  expect(slack.calls).toEqual([])
  await dialog.getByLabel('Bot token').fill(slack.botToken)
  await dialog.getByLabel('App-level token').fill(slack.appToken)
  slack.setScopes(['chat:write'])
  await connect.click()
  await expect(dialog.getByRole('alert')).toContainText(`https://api.slack.com/apps/${slack.appId}/oauth`)
  slack.setScopes([...SLACK_BOT_SCOPES])
  await connect.click()
  const connected = page.getByRole('dialog', { name: `${slack.accountName} is connected` })
  await expect(connected).toContainText('Waiting for your first message')

  slack.say(MIRA, 'It is me.')
  const line = connected.getByRole('listitem').filter({ hasText: MIRA.id })
  await line.getByRole('button', { name: 'This is me' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'This is me' }).click()
  await expect(line).toContainText('You')
  await connected.getByRole('button', { name: 'Done' }).click()

  const write = { id: 'call_1', name: 'write_file', args: { path: join(folder.path, 'plan.md'), content: 'Paint it green.\n' } }
  models.play({ text: ['Green is better.'], toolCalls: [write] }, { text: ['Done.'] })
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Make it green.', agentId: agent.id } })
  const question = () => slack.sent.find(({ buttons }) => buttons.length > 0)
  await slack.until(() => question() !== undefined)
  expect(question()!.text).toContain('plan.md')
  slack.press(MIRA, question()!.buttons[0]!.value)
  await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')
  expect(readFileSync(join(folder.path, 'plan.md'), 'utf8')).toBe('Paint it green.\n')
  await slack.until(() => question() === undefined)

  await lookAt(
    deckhand,
    [{ name: 'channels-slack', path: '/channels', shows: (on) => on.getByRole('heading', { name: slack.accountName }) }],
    'slack',
  )
})

test('the dialog shows how to make the Slack app', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  await page.goto('app://deckhand/channels?connect=1')
  await page.getByRole('button', { name: /^Slack/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect Slack' })
  await dialog.getByRole('button', { name: 'Copy manifest' }).click()
  await expect(dialog.getByRole('button', { name: 'Copied' })).toBeVisible()
  const copied = JSON.parse(await deckhand.app.evaluate(({ clipboard }) => clipboard.readText())) as unknown
  expect(copied).toMatchObject({ settings: { socket_mode_enabled: true }, oauth_config: { scopes: { bot: [...SLACK_BOT_SCOPES] } } })

  const choose = (on: Page) => on.getByRole('button', { name: /^Slack/ }).click()
  const place = { name: 'connect', path: '/channels?connect=1', shows: (on: Page) => on.getByLabel('App-level token'), open: choose }
  await lookAt(deckhand, [place], 'slack')
})
