import { startDiscordServer, type DiscordUser } from '../../src-runner/testing/discord-server/discord-server.ts'
import { changeFileWithApproval, confirmOwner, openConnectDialog, withService } from '../fixtures/approve-in-chat.ts'
import { expect } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'

const MIRA: DiscordUser = { id: '4711000000000000001', username: 'mira_at_home', global_name: 'Mira' }

const test = withService(() => startDiscordServer())

test('a person comes from the token to the first approval in Discord', async ({ deckhand, page, models, service: discord, folder }) => {
  const { client } = deckhand
  const { agent, dialog, connect } = await openConnectDialog({ deckhand, page, models, folder }, 'Discord', discord.url)
  // A token of another service is named before anything is sent or stored.
  await dialog.getByLabel('Token').fill('xoxb-123456789012-abcdefghijkl')
  await connect.click()
  await expect(dialog).toContainText('This is a Slack bot token. Enter a Discord bot token here.')
  await dialog.getByLabel('Token').fill(`${discord.token.slice(0, -6)}abcdef`)
  await connect.click()
  await expect(dialog.getByRole('alert')).toContainText('choose “Reset Token”')
  expect((await client.ok('listChannels', { query: {} })).channels).toEqual([])
  await dialog.getByLabel('Token').fill(discord.token)
  await connect.click()
  const connected = page.getByRole('dialog', { name: '@deckhand_test is connected' })
  await expect(connected).toContainText('Add the bot to a server')

  await discord.until(discord.gateway.isReady)
  discord.say(MIRA, 'It is me.')
  await confirmOwner(page, connected, MIRA.id)
  const question = () => discord.sent.find(({ buttons }) => buttons.length > 0)
  await changeFileWithApproval({ client, models, folder }, agent.id, async () => {
    await discord.until(() => question() !== undefined)
    discord.press(MIRA, question()!.buttons.find(({ custom_id }) => custom_id.startsWith('approve:'))!.custom_id)
  })
  await discord.until(() => question() === undefined && discord.notes.some(({ text }) => text === 'Approved.'))

  const connectDiscord = (on: typeof page) => on.getByText('Message Content Intent')
  await lookAt(
    deckhand,
    [
      { name: 'channels', path: '/channels', shows: (on) => on.getByText('@deckhand_test').first() },
      {
        name: 'channels-connect',
        path: '/channels?connect=1',
        open: (on) => on.getByRole('button', { name: /^Discord/ }).click(),
        shows: connectDiscord,
      },
    ],
    'discord',
  )
})
