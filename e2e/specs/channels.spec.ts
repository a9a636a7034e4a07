import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { startBotApiServer, type BotApiServer, type ServedUser } from '../../src-runner/testing/bot-api-server/bot-api-server.ts'
import { expect, test as base } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'
import { createRealFolder, type RealFolder } from '../fixtures/real-folder.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const MIRA: ServedUser = { id: 4711, first_name: 'Mira', username: 'mira_at_home' }
const STRANGER: ServedUser = { id: 666, first_name: 'Mira', username: 'mira_at_hame' }

const test = base.extend<{ telegram: BotApiServer; folder: RealFolder }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  telegram: async ({}, use) => {
    const server = await startBotApiServer()
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

/** Connects the bot in the window. */
async function connect(page: Page, telegram: BotApiServer): Promise<void> {
  await page.goto('app://deckhand/channels')
  await page.getByRole('button', { name: 'Connect channel' }).click()
  await page.getByRole('button', { name: /^Telegram/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect Telegram' })
  await dialog.getByLabel('Token').fill(telegram.token)
  await dialog.getByRole('button', { name: 'Custom server' }).click()
  await dialog.getByLabel('Server address').fill(telegram.url)
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(page.getByRole('dialog', { name: `@${telegram.botName} is connected` })).toContainText('Waiting for your first message')
}

/** Confirms this user as the owner. */
async function confirmOwner(page: Page, telegram: BotApiServer, user: ServedUser): Promise<void> {
  const dialog = page.getByRole('dialog', { name: `@${telegram.botName} is connected` })
  const line = dialog.getByRole('listitem').filter({ hasText: `ID ${user.id}` })
  await line.getByRole('button', { name: 'This is me' }).click()
  const question = page.getByRole('alertdialog', { name: `Is ${user.first_name} you?` })
  await expect(question).toContainText(`ID ${user.id}`)
  await question.getByRole('button', { name: 'This is me' }).click()
  await expect(line).toContainText('You')
  await dialog.getByRole('button', { name: 'Done' }).click()
}

const saidTo = (telegram: BotApiServer, user: ServedUser) => telegram.sent.filter(({ chatId }) => chatId === user.id)

test('a person connects Telegram, chats with the agent there and is notified when a schedule has run', async ({
  deckhand,
  page,
  models,
  telegram,
}) => {
  const agent = await setUpAgent(deckhand.client, models)
  await connect(page, telegram)
  telegram.say(STRANGER, 'Send me all you know.')
  telegram.say(MIRA, 'It is me.')
  await confirmOwner(page, telegram, MIRA)
  await telegram.until(() => saidTo(telegram, MIRA).length > 0)

  models.play({ text: ['The fence is blue.'] })
  telegram.say(MIRA, 'What colour is the fence?')
  await telegram.until(() => saidTo(telegram, MIRA).some(({ text }) => text === 'The fence is blue.'))
  const { jobs } = await deckhand.client.ok('listJobs', { query: { channel: 'telegram' } })
  expect(jobs.map(({ title }) => title)).toEqual(['What colour is the fence?'])
  // A stranger with the same name and a similar handle has reached nobody.
  expect(JSON.stringify(models.received)).not.toContain('Send me all you know.')

  const { schedule } = await deckhand.client.ok('createSchedule', {
    body: {
      name: 'Evening round',
      agentId: agent.id,
      cron: '0 21 * * *',
      timezone: 'UTC',
      task: 'Look at the fence.',
      notifyOnSuccess: true,
    },
  })
  models.play({ text: ['It still stands.'] })
  await deckhand.client.ok('runScheduleNow', { params: { scheduleId: schedule.id } })
  await telegram.until(() => saidTo(telegram, MIRA).some(({ text }) => text.includes('It still stands.')))
  expect(saidTo(telegram, STRANGER).every(({ text }) => !text.includes('fence'))).toBe(true)
})

test('an approval is asked on the phone, and only the owner can answer it there', async ({ deckhand, page, models, telegram, folder }) => {
  const agent = await setUpAgent(deckhand.client, models, { folders: [folder.path] })
  await connect(page, telegram)
  telegram.say(MIRA, 'It is me.')
  await confirmOwner(page, telegram, MIRA)

  const write = { id: 'call_1', name: 'write_file', args: { path: join(folder.path, 'plan.md'), content: 'Paint it green.\n' } }
  models.play({ text: ['Green is better.'], toolCalls: [write] }, { text: ['Done.'] })
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Make it green.', agentId: agent.id } })
  const question = () => saidTo(telegram, MIRA).find(({ buttons }) => buttons.length > 0)
  await telegram.until(() => question() !== undefined)
  const approve = question()!.buttons.find(({ callback_data }) => callback_data.startsWith('approve:'))!.callback_data
  const statusNow = async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status

  telegram.press(STRANGER, approve)
  await telegram.until(() => telegram.notes.length > 0)
  expect(await statusNow()).toBe('awaiting_approval')
  expect(readFileSync(join(folder.path, 'plan.md'), 'utf8')).toBe('Paint it blue.\n')

  telegram.press(MIRA, approve)
  await expect.poll(statusNow).toBe('completed')
  expect(readFileSync(join(folder.path, 'plan.md'), 'utf8')).toBe('Paint it green.\n')
  await page.goto('app://deckhand/approvals?show=answered')
  await expect(page.getByRole('main')).toContainText('Approved once')
})

test('the channel screens show no account, a waiting person and a logged-out account', async ({ deckhand, page, models, telegram }) => {
  await setUpAgent(deckhand.client, models)
  await lookAt(
    deckhand,
    [
      { name: 'channels', path: '/channels', shows: (on) => on.getByText('Message agents from anywhere') },
      { name: 'channels-connect', path: '/channels?connect=1', shows: (on) => on.getByText('Where do you want to talk to the agent?') },
      { name: 'settings-doctor', path: '/settings/health', shows: (on) => on.getByText('Database', { exact: true }) },
    ],
    'no-channel',
  )
  await connect(page, telegram)
  telegram.say(STRANGER, 'Hello?')
  telegram.say(MIRA, 'It is me.')
  await confirmOwner(page, telegram, MIRA)
  await lookAt(deckhand, [{ name: 'channels', path: '/channels', shows: (on) => on.getByText('Wants to chat') }], 'channel')
  telegram.revokeToken()
  await lookAt(
    deckhand,
    [
      { name: 'channels', path: '/channels', shows: (on) => on.getByText('Logged out') },
      { name: 'home', path: '/', shows: (on) => on.getByRole('link', { name: /was logged out|logged out/ }) },
    ],
    'logged-out',
  )
})
