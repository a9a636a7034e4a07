import type { Page } from '@playwright/test'
import { SLACK_BOT_SCOPES } from '../../resources/slack-manifest.ts'
import { startSlackServer, type SlackUser } from '../../src-runner/testing/slack-server/slack-server.ts'
import { changeFileWithApproval, confirmOwner, openConnectDialog, withService } from '../fixtures/approve-in-chat.ts'
import { expect } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const MIRA: SlackUser = { id: 'U0MIRA00001', name: 'mira', realName: 'Mira Holm' }

const test = withService(() => startSlackServer())

test('a person connects Slack with its two tokens, and approves a change there', async ({
  deckhand,
  page,
  models,
  service: slack,
  folder,
}) => {
  const { client } = deckhand
  const { agent, dialog, connect } = await openConnectDialog({ deckhand, page, models, folder }, 'Slack', slack.url)
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
  await confirmOwner(page, connected, MIRA.id)
  const question = () => slack.sent.find(({ buttons }) => buttons.length > 0)
  await changeFileWithApproval({ client, models, folder }, agent.id, async () => {
    await slack.until(() => question() !== undefined)
    expect(question()!.text).toContain('plan.md')
    slack.press(MIRA, question()!.buttons[0]!.value)
  })
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
