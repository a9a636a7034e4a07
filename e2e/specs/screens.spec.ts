import type { Locator, Page } from '@playwright/test'
import { type Deckhand, expect, test } from '../fixtures/deckhand.ts'
import { changeTheme, expectAccessible, expectNoSidewaysScroll, NARROW, resizeWindow, takePicture, WIDE } from '../fixtures/screen-shots.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

// Sixty pictures, each looked at for what keeps people out.
test.setTimeout(180_000)

/** A place to look at: where it is, and what says that all of it is there. */
type Place = { name: string; path: string; shows: (page: Page) => Locator; open?: (page: Page) => Promise<void> }

const heading = (name: string | RegExp) => (page: Page) => page.getByRole('heading', { name })
const text = (wanted: string | RegExp) => (page: Page) => page.getByRole('main').getByText(wanted).first()

async function lookAt(deckhand: Deckhand, places: Place[], state: string): Promise<void> {
  const { page } = deckhand
  for (const { name, path, shows, open } of places) {
    await test.step(`${state}: ${name}`, async () => {
      await page.goto(`app://deckhand${path}`)
      await open?.(page)
      await expect(shows(page)).toBeVisible()
      // Nothing is loading any more.
      await expect(page.locator('main [aria-busy=true]:not(:has(*)), main .animate-pulse')).toHaveCount(0)
      for (const [size, theme] of [
        [WIDE, 'light'],
        [WIDE, 'dark'],
        [NARROW, 'light'],
      ] as const) {
        const label = `${state}-${name}-${size.width}-${theme}`
        await resizeWindow(deckhand, size)
        await changeTheme(deckhand, theme)
        await takePicture(deckhand, label)
        if (size === WIDE) await expectAccessible(deckhand, label)
        await expectNoSidewaysScroll(deckhand, label)
      }
    })
  }
}

test('a fresh installation, on every screen', async ({ deckhand }) => {
  const { client } = deckhand
  await lookAt(deckhand, [{ name: 'welcome-model', path: '/', shows: heading('Choose a model') }], 'empty')
  await client.ok('updateSettings', { body: { defaultModel: { providerId: 'demo', model: 'demo' } } })
  await lookAt(
    deckhand,
    [
      { name: 'welcome-agent', path: '/welcome?step=agent', shows: heading('Name your first agent') },
      { name: 'chat', path: '/chat', shows: text('You need an agent to talk to') },
      { name: 'activity', path: '/activity', shows: text('Nothing has happened yet') },
      { name: 'agents', path: '/agents', shows: text('No agents yet') },
    ],
    'empty',
  )
  await client.ok('createAgent', { body: { name: 'File guide' } })
  await lookAt(deckhand, [{ name: 'welcome-job', path: '/welcome?step=job', shows: heading('Give File guide a first job') }], 'empty')
  await client.ok('updateSettings', { body: { firstStart: 'done' } })
  await lookAt(
    deckhand,
    [
      { name: 'home', path: '/', shows: text('No job yet') },
      { name: 'models', path: '/models', shows: heading('Models & keys') },
    ],
    'empty',
  )
})

test.describe('in the middle of a day', () => {
  test.use({ scenario: 'busy-day' })

  test('every screen', async ({ deckhand, models }) => {
    const { client, page } = deckhand
    const agent = await setUpAgent(client, models, { name: 'Dora' })
    models.holdBefore(3)
    await client.ok('submitTask', { body: { task: 'Sort the photos of the summer by place.', agentId: agent.id } })
    await models.untilQuiet()
    const { jobs } = await client.ok('listJobs', {})
    const jobOf = (part: string) => jobs.find(({ title }) => title.includes(part))!
    const insurance = jobOf('insurance contracts')
    const { agents } = await client.ok('listAgents')
    const ada = agents.find(({ name }) => name === 'Ada')!

    await lookAt(
      deckhand,
      [
        { name: 'home', path: '/', shows: text('Sort the photos') },
        { name: 'chat-new', path: '/chat', shows: heading(/^What should .* do\?/) },
        { name: 'chat', path: `/chat/${insurance.conversationId}`, shows: text('Two of the three') },
        { name: 'activity', path: '/activity', shows: text('Morning summary') },
        { name: 'activity-nothing', path: '/activity?q=zebra', shows: text('No job matches') },
        { name: 'job', path: `/jobs/${insurance.id}`, shows: text('Two of the three') },
        { name: 'job-failed', path: `/jobs/${jobOf('Compare the stock').id}`, shows: text('This job failed') },
        { name: 'job-running', path: `/jobs/${jobOf('Sort the photos').id}`, shows: heading(/Sort the photos/) },
        { name: 'agents', path: '/agents', shows: text('Bruno') },
        { name: 'agent', path: `/agents/${ada.id}`, shows: (on) => on.getByLabel('Instructions') },
        { name: 'models', path: '/models', shows: text('Local server') },
        { name: 'provider', path: '/models?add=openai-compatible', shows: (on) => on.getByRole('dialog').getByLabel(/^Base URL/) },
        { name: 'settings', path: '/settings', shows: text('Appearance') },
        { name: 'not-found', path: '/nowhere', shows: text('There is no such page') },
        {
          name: 'palette',
          path: '/',
          shows: (on) => on.getByRole('option', { name: /Chat with Ada/ }),
          open: (on) =>
            on
              .getByRole('button', { name: /^(Go to|Search)/ })
              .first()
              .click(),
        },
        {
          name: 'shortcuts',
          path: '/',
          shows: (on) => on.getByRole('dialog', { name: 'Keyboard shortcuts' }),
          open: (on) => on.keyboard.press('?'),
        },
      ],
      'busy',
    )

    // The picture of the read-me file.
    await resizeWindow(deckhand, WIDE)
    await page.goto(`app://deckhand/chat/${insurance.conversationId}`)
    await expect(page.getByText('Two of the three')).toBeVisible()
    await takePicture(deckhand, 'readme')
  })
})
