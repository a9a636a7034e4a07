import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDiscordServer, type DiscordServer, type DiscordUser } from '../../src-runner/testing/discord-server/discord-server.ts'
import { expect, test as base } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'
import { createRealFolder, type RealFolder } from '../fixtures/real-folder.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const MIRA: DiscordUser = { id: '4711000000000000001', username: 'mira_at_home', global_name: 'Mira' }

const test = base.extend<{ discord: DiscordServer; folder: RealFolder }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  discord: async ({}, use) => {
    const server = await startDiscordServer()
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

test('a person comes from the token to the first approval in Discord', async ({ deckhand, page, models, discord, folder }) => {
  const agent = await setUpAgent(deckhand.client, models, { folders: [folder.path] })
  await page.goto('app://deckhand/channels')
  await page.getByRole('button', { name: 'Connect channel' }).click()
  await page.getByRole('button', { name: /^Discord/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect Discord' })
  await dialog.getByRole('button', { name: 'Custom server' }).click()
  await dialog.getByLabel('Server address').fill(discord.url)
  // A token of another service is named before anything is sent or stored.
  await dialog.getByLabel('Token').fill('xoxb-123456789012-abcdefghijkl')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(dialog).toContainText('This is a Slack bot token. Enter a Discord bot token here.')
  await dialog.getByLabel('Token').fill(`${discord.token.slice(0, -6)}abcdef`)
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(dialog.getByRole('alert')).toContainText('choose “Reset Token”')
  expect((await deckhand.client.ok('listChannels', { query: {} })).channels).toEqual([])
  await dialog.getByLabel('Token').fill(discord.token)
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  const connected = page.getByRole('dialog', { name: '@deckhand_test is connected' })
  await expect(connected).toContainText('Add the bot to a server')

  await discord.until(discord.gateway.isReady)
  discord.say(MIRA, 'It is me.')
  const line = connected.getByRole('listitem').filter({ hasText: MIRA.id })
  await line.getByRole('button', { name: 'This is me' }).click()
  await page.getByRole('alertdialog', { name: 'Is Mira you?' }).getByRole('button', { name: 'This is me' }).click()
  await expect(line).toContainText('You')
  await connected.getByRole('button', { name: 'Done' }).click()

  const write = { id: 'call_1', name: 'write_file', args: { path: join(folder.path, 'plan.md'), content: 'Paint it green.\n' } }
  models.play({ text: ['Green is better.'], toolCalls: [write] }, { text: ['Done.'] })
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Make it green.', agentId: agent.id } })
  const question = () => discord.sent.find(({ buttons }) => buttons.length > 0)
  await discord.until(() => question() !== undefined)
  discord.press(MIRA, question()!.buttons.find(({ custom_id }) => custom_id.startsWith('approve:'))!.custom_id)
  await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')
  expect(readFileSync(join(folder.path, 'plan.md'), 'utf8')).toBe('Paint it green.\n')
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
