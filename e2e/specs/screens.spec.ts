import type { Locator, Page } from '@playwright/test'
import type { ModelServer } from '../../src-runner/testing/model-servers/model-server.ts'
import { type Deckhand, expect, test } from '../fixtures/deckhand.ts'
import { createRealFolder } from '../fixtures/real-folder.ts'
import { lookAt } from '../fixtures/look-at.ts'
import { asPhone, NARROW, resizeWindow, takePicture, WIDE } from '../fixtures/screen-shots.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const heading = (name: string | RegExp) => (page: Page) => page.getByRole('heading', { name })
const text = (wanted: string | RegExp) => (page: Page) => page.getByRole('main').getByText(wanted).first()

/** Each text of a page's header is on one line. */
async function expectOneLineHeader(page: Page): Promise<void> {
  for (const words of await page.locator('main header').first().locator('h1, p').all()) {
    const lines = await words.evaluate((element) => element.clientHeight / Number.parseFloat(getComputedStyle(element).lineHeight))
    expect.soft(lines, `lines of "${await words.innerText()}"`).toBe(1)
  }
}

/** An approval that arrives in a long chat is scrolled into view, and nothing covers it. */
async function expectWholeCardInChat(deckhand: Deckhand, models: ModelServer, folder: string): Promise<void> {
  const { client, page } = deckhand
  const { agent } = await client.ok('createAgent', { body: { name: 'Emil', folders: [folder] } })
  const paragraphs = (count: number) => Array.from({ length: count }, (_, at) => `Paragraph ${at + 1} about the fence.\n\n`)
  models.play(
    { text: paragraphs(60) },
    {
      text: paragraphs(5),
      toolCalls: [{ id: 'call_1', name: 'write_file', args: { path: `${folder}/notes.md`, content: 'Nothing is left of it.\n' } }],
    },
  )
  await resizeWindow(deckhand, WIDE)
  await page.goto(`app://deckhand/chat?agent=${agent.id}`)
  const say = async (message: string) => {
    await page.getByRole('textbox', { name: 'Message' }).fill(message)
    await page.keyboard.press('Enter')
  }
  await say('What about the fence?')
  await expect(page.getByText('Paragraph 60 about')).toBeVisible()
  await say('Write it down.')

  const card = page.locator('[data-decision=open]')
  const talk = page.getByRole('group', { name: 'Chat', exact: true })
  const boxOf = async (of: Locator) => (await of.boundingBox())!
  const expectWhole = async () => {
    await expect(card).toHaveCount(1)
    const inside = async () => {
      const [inner, outer] = [await boxOf(card), await boxOf(talk)]
      return inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height
    }
    await expect.poll(inside, { message: 'the card is in sight as a whole' }).toBe(true)
  }
  await expectWhole()
  await takePicture(deckhand, 'waiting-chat-card')
  await resizeWindow(deckhand, NARROW)
  await expectWhole()
  await asPhone(deckhand, async () => {
    await expectWhole()
    await takePicture(deckhand, 'waiting-chat-card-phone')
  })
  await resizeWindow(deckhand, WIDE)
  await expectWhole()

  // Further up, the button to the end does not cover the chat.
  const { x, y, height } = await boxOf(talk)
  await page.mouse.move(x + 50, y + 50)
  await page.mouse.wheel(0, -height / 4)
  const jump = page.getByRole('button', { name: 'Jump to latest' })
  await expect(jump).toBeVisible()
  expect((await boxOf(jump)).y, 'the button is below the talk').toBeGreaterThanOrEqual(y + height)
  await jump.click()
  await expectWhole()

  // Reading below an open approval, the chat does not scroll.
  await card.getByRole('button', { name: 'Details' }).click()
  const scrolled = () => talk.evaluate((element) => element.scrollTop)
  await talk.evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
  const before = await scrolled()
  await resizeWindow(deckhand, { ...WIDE, height: WIDE.height - 60 })
  await expect(card).toBeVisible()
  expect(await scrolled()).toBeGreaterThanOrEqual(before)
  await resizeWindow(deckhand, WIDE)
}

test('every screen of a fresh installation', async ({ deckhand }) => {
  const { client } = deckhand
  await lookAt(deckhand, [{ name: 'welcome-model', path: '/', shows: heading('Choose a model') }], 'empty')
  await client.ok('updateSettings', { body: { defaultModel: { providerId: 'demo', model: 'demo' } } })
  await lookAt(
    deckhand,
    [
      { name: 'welcome-agent', path: '/welcome?step=agent', shows: heading('Create your first agent') },
      { name: 'chat', path: '/chat', shows: text('Create an agent to start a chat') },
      { name: 'activity', path: '/activity', shows: text('No jobs yet') },
      { name: 'agents', path: '/agents', shows: text('No agents yet') },
    ],
    'empty',
  )
  await client.ok('createAgent', { body: { name: 'File guide' } })
  await lookAt(deckhand, [{ name: 'welcome-job', path: '/welcome?step=job', shows: heading('Run a first job with File guide') }], 'empty')
  await client.ok('updateSettings', { body: { firstStart: 'done' } })
  await lookAt(
    deckhand,
    [
      { name: 'home', path: '/', shows: text('No jobs yet') },
      { name: 'models', path: '/models', shows: heading('Models & keys') },
      { name: 'usage', path: '/usage', shows: heading('Nothing used in the last 30 days') },
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
        { name: 'activity-nothing', path: '/activity?q=zebra', shows: text('No matching jobs') },
        { name: 'job', path: `/jobs/${insurance.id}`, shows: text('Two of the three') },
        { name: 'job-failed', path: `/jobs/${jobOf('Compare the stock').id}`, shows: text('This job failed') },
        { name: 'job-running', path: `/jobs/${jobOf('Sort the photos').id}`, shows: heading(/Sort the photos/) },
        { name: 'agents', path: '/agents', shows: text('Bruno') },
        { name: 'agent', path: `/agents/${ada.id}`, shows: (on) => on.getByLabel('Instructions') },
        { name: 'models', path: '/models', shows: text('Local server') },
        { name: 'usage', path: '/usage', shows: heading('Spending limits') },
        { name: 'usage-models', path: '/usage?time=quarter&by=model', shows: heading('Spending limits') },
        { name: 'provider', path: '/models?add=openai-compatible', shows: (on) => on.getByRole('dialog').getByLabel(/^Base URL/) },
        { name: 'settings', path: '/settings', shows: (on) => on.getByRole('heading', { name: 'Settings' }) },
        { name: 'settings-general', path: '/settings/general', shows: text('Appearance') },
        { name: 'settings-webhooks', path: '/settings/webhooks', shows: (on) => on.getByLabel('Public address') },
        { name: 'settings-people', path: '/settings/people', shows: text('No accounts yet') },
        { name: 'settings-computer', path: '/settings/computer', shows: text('Data folder') },
        {
          name: 'settings-found',
          path: '/settings',
          shows: (on) => on.getByRole('link', { name: /Quiet hours/ }),
          open: (on) => on.getByRole('searchbox').fill('hours'),
        },
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
        { name: 'not-found', path: '/nowhere', shows: text('Page not found') },
      ],
      'busy',
    )

    // The picture in README.md.
    await resizeWindow(deckhand, WIDE)
    await page.goto(`app://deckhand/chat/${insurance.conversationId}`)
    await expect(page.getByText('Two of the three')).toBeVisible()
    await takePicture(deckhand, 'readme')
  })
})

test.describe('with decisions to make', () => {
  test.use({ scenario: 'waiting-approvals' })

  const approvalCard = (name: RegExp) => (on: Page) => on.getByRole('article', { name })

  test('every screen with approvals, pending and answered', async ({ deckhand, models }) => {
    const { client } = deckhand
    const folder = createRealFolder({
      'plan.md': '# Plan\n\nPaint the fence blue.\nCut the hedge.\nOil the gate.\n',
      'old-name.md': 'Nothing in here has to change.\n',
    })
    const painter = await setUpAgent(client, models, { name: 'Dora', folders: [folder.path], autonomy: 'on_its_own' })
    await client.ok('createMemory', { body: { agentId: painter.id, text: 'The fence is painted every second spring.' } })
    await client.ok('createMemory', { body: { agentId: null, text: 'Letters are signed with both names.' } })
    models.play(
      {
        text: ['Green it is.'],
        toolCalls: [
          {
            id: 'call_1',
            name: 'write_file',
            args: {
              path: `${folder.path}/plan.md`,
              content: '# Plan\n\nPaint the fence green.\nCut the hedge.\nOil the gate.\nBuy paint.\n',
            },
          },
          { id: 'call_2', name: 'move_file', args: { from: `${folder.path}/old-name.md`, to: `${folder.path}/notes.md` } },
          { id: 'call_3', name: 'run_command', args: { command: ['wc', '-l', 'plan.md'], folder: folder.path } },
        ],
      },
      { text: ['The plan says green now, and paint is to be bought.'] },
    )
    const { jobId: painting } = await client.ok('submitTask', { body: { task: 'Bring the plan up to date.', agentId: painter.id } })
    // Without a sandbox the program waits for an approval.
    const untilPainted = async () => {
      const waiting = await client.ok('listApprovals', { query: { status: 'pending', jobId: painting } })
      for (const { id } of waiting.approvals) await client.ok('resolveApproval', { body: { approvalId: id, decision: 'approve' } })
      return (await client.ok('getJob', { params: { jobId: painting } })).job.status
    }
    await expect.poll(untilPainted).toBe('completed')

    const { approvals } = await client.ok('listApprovals', {})
    const about = (wanted: (approval: (typeof approvals)[number]) => boolean) => approvals.find(wanted)!
    const writing = about(({ tool }) => tool === 'write_file')
    const fetching = about(({ tool }) => tool === 'web_fetch')
    const asking = about(({ kind }) => kind === 'question')
    const broken = about(({ kind }) => kind === 'unknown_outcome')
    const money = about(({ kind }) => kind === 'budget')
    const program = about(({ kind, tool, jobId }) => kind === 'tool' && tool === 'run_command' && jobId !== painting)
    const letters = about(({ tool }) => tool === 'move_file')

    const choose = async (on: Page, tool: string) => {
      await on.locator('form').filter({ hasText: 'Assume the job' }).getByRole('button', { name: /^Tool/ }).click()
      await on.getByRole('option', { name: tool, exact: true }).click()
    }
    await lookAt(
      deckhand,
      [
        { name: 'home', path: '/', shows: text('parcels.example') },
        { name: 'approvals', path: '/approvals', shows: approvalCard(/Paris/), onPhone: expectOneLineHeader },
        { name: 'approval-write', path: `/approvals/${writing.id}`, shows: approvalCard(/Overwrite/) },
        {
          name: 'approval-reject',
          path: `/approvals/${writing.id}`,
          shows: (on) => on.getByRole('textbox', { name: /Add a note/ }),
          open: (on) =>
            on
              .getByRole('article')
              .getByRole('button', { name: /^Reject/ })
              .click(),
        },
        {
          name: 'approval-always',
          path: `/approvals/${writing.id}`,
          shows: (on) => on.getByRole('button', { name: 'Create rule and approve' }),
          open: (on) => on.getByRole('button', { name: 'Always…' }).click(),
        },
        { name: 'approval-two-of-three', path: `/approvals/${fetching.id}`, shows: approvalCard(/parcels/) },
        { name: 'approval-program', path: `/approvals/${program.id}`, shows: approvalCard(/check\.py/) },
        { name: 'approval-unknown', path: `/approvals/${broken.id}`, shows: approvalCard(/^Unknown outcome/) },
        { name: 'approval-budget', path: `/approvals/${money.id}`, shows: approvalCard(/spending limit/i) },
        {
          name: 'approvals-answered',
          path: '/approvals?show=answered',
          shows: text('Keep it.'),
          open: (on) => on.getByRole('link', { name: /scan-0042/ }).click(),
        },
        { name: 'rules', path: '/rules', shows: text('git status') },
        {
          name: 'rules-add',
          path: '/rules',
          shows: (on) => on.getByRole('group', { name: 'Add rule' }),
          open: (on) => on.getByRole('button', { name: 'Add rule' }).click(),
        },
        {
          name: 'rules-simulated',
          path: '/rules',
          shows: text('Asks you first'),
          open: async (on) => {
            await choose(on, 'web_fetch')
            await on.getByRole('textbox', { name: 'Address' }).fill('https://example.com/page')
            await on.getByText('has read private data', { exact: true }).click()
            await on.getByText('has read untrusted text', { exact: true }).click()
            await on.getByRole('button', { name: 'Test', exact: true }).click()
            await on.getByText('Asks you first').scrollIntoViewIfNeeded()
          },
        },
        { name: 'job-waiting', path: `/jobs/${fetching.jobId}`, shows: approvalCard(/parcels/) },
        { name: 'job-decisions', path: `/jobs/${letters.jobId}`, shows: text('Approved and rule created') },
        {
          name: 'job-files',
          path: `/jobs/${painting}`,
          shows: (on) => on.getByRole('group', { name: /^Changes to .*plan\.md$/ }),
          open: (on) => on.getByRole('button', { name: /^Modified .*plan\.md$/ }).click(),
        },
        {
          name: 'job-undo',
          path: `/jobs/${painting}`,
          shows: (on) => on.getByRole('alertdialog'),
          open: (on) => on.getByRole('button', { name: /^Undo/ }).first().click(),
        },
        { name: 'chat-question', path: `/chat/${asking.conversationId}`, shows: approvalCard(/Paris/) },
        {
          name: 'agent-memory',
          path: `/agents/${painter.id}`,
          shows: text('every second spring'),
          open: (on) => on.getByText('every second spring').scrollIntoViewIfNeeded(),
        },
        {
          name: 'settings-tools',
          path: '/settings/tools',
          shows: text('Program sandbox'),
        },
        {
          name: 'settings-web-search',
          path: '/settings/tools',
          shows: (on) => on.getByRole('dialog'),
          open: (on) => on.getByRole('button', { name: 'Set up' }).click(),
        },
      ],
      'waiting',
    )
    await expectWholeCardInChat(deckhand, models, folder.path)
    await client.ok('updateSettings', { body: { pauseAll: true } })
    await lookAt(deckhand, [{ name: 'pausedAll', path: '/', shows: (on) => on.getByText('All agents are paused.') }], 'waiting')
    folder.remove()
  })
})

test.describe('with webhooks and schedules', () => {
  test.use({ scenario: 'automations' })

  test('every screen of automations', async ({ deckhand }) => {
    const { client } = deckhand
    await client.ok('updateSettings', { body: { firstStart: 'done' } })
    const { triggers } = await client.ok('listTriggers', {})
    const { schedules } = await client.ok('listSchedules', {})
    const trigger = (name: string) => triggers.find((one) => one.name === name)!
    const schedule = (name: string) => schedules.find((one) => one.name === name)!
    const fired = (await client.ok('listJobs', { query: { channel: 'webhook' } })).jobs[0]!
    const caughtUp = (
      await client.ok('listOccurrences', { params: { scheduleId: schedule('Morning summary').id }, query: { limit: 200 } })
    ).occurrences.find(({ state }) => state === 'caught_up')!
    const { deliveries } = await client.ok('listDeliveries', { params: { triggerId: trigger('New orders').id } })
    const accepted = deliveries.find(({ outcome }) => outcome === 'accepted')!

    await lookAt(
      deckhand,
      [
        { name: 'webhooks', path: '/automations', shows: text('Contact form') },
        { name: 'webhook', path: `/automations/webhooks/${trigger('New orders').id}`, shows: text('Rate limited') },
        { name: 'webhook-paused', path: `/automations/webhooks/${trigger('Contact form').id}`, shows: text('Paused') },
        {
          name: 'delivery',
          path: `/automations/webhooks/${trigger('New orders').id}?delivery=${accepted.id}`,
          shows: (on) => on.getByRole('region', { name: 'Task' }),
        },
        {
          name: 'webhook-new',
          path: '/automations/webhooks/new?preset=github_issue',
          shows: (on) => on.getByRole('button', { name: 'Show agent input' }),
        },
        {
          name: 'webhook-address',
          path: '/automations/webhooks/new?preset=shopify_order',
          shows: (on) => on.getByRole('region', { name: 'Webhook address' }),
          open: async (on) => {
            await on.getByRole('button', { name: 'Create webhook' }).click()
            // Leaving without copying would ask.
            await on.getByRole('button', { name: 'Copy address' }).click()
          },
        },
        { name: 'schedules', path: '/automations/schedules', shows: heading('Next 24 hours') },
        { name: 'schedule', path: `/automations/schedules/${schedule('Compare the stock').id}`, shows: text('needs your approval') },
        {
          name: 'schedule-exhausted',
          path: `/automations/schedules/${schedule('Check the prices').id}`,
          shows: text('have cost'),
        },
        {
          name: 'schedule-watcher',
          path: `/automations/schedules/${schedule('Watch the parcel').id}`,
          shows: (on) => on.getByRole('heading', { name: 'Saved notes' }),
          open: (on) => on.getByText('last seen in Lyon').scrollIntoViewIfNeeded(),
        },
        {
          name: 'schedule-marked',
          path: `/automations/schedules/${schedule('Morning summary').id}?occurrence=${caughtUp.id}`,
          shows: text('Ran late'),
        },
        { name: 'schedule-new', path: '/automations/schedules/new?example=1', shows: text('Next runs') },
        {
          name: 'schedule-edit',
          path: `/automations/schedules/${schedule('Watch the parcel').id}/edit`,
          shows: (on) => on.getByRole('textbox', { name: 'Cron' }),
        },
        { name: 'job-of-webhook', path: `/jobs/${fired.id}`, shows: (on) => on.getByRole('link', { name: /New orders|Review pushes/ }) },
        { name: 'job-of-schedule', path: `/jobs/${caughtUp.jobId}`, shows: (on) => on.getByRole('link', { name: 'Morning summary' }) },
      ],
      'automations',
    )
  })

  test('screens after a week away', async ({ deckhand }) => {
    const WEEK_MS = 7 * 86_400_000
    await deckhand.client.ok('updateSettings', { body: { firstStart: 'done' } })
    await deckhand.page.goto('app://deckhand/')
    await expect(deckhand.page.getByRole('heading', { name: 'Home' })).toBeVisible()
    await deckhand.quit()
    await deckhand.start({ DECKHAND_TEST_CLOCK_AHEAD_MS: String(WEEK_MS) })
    await deckhand.page.clock.setFixedTime(Date.now() + WEEK_MS)
    const { schedules } = await deckhand.client.ok('listSchedules', {})
    const stock = schedules.find(({ name }) => name === 'Compare the stock')!
    await lookAt(
      deckhand,
      [
        { name: 'home', path: '/', shows: (on) => on.getByRole('region', { name: 'While you were away' }) },
        { name: 'schedules', path: '/automations/schedules', shows: heading('Next 24 hours') },
        { name: 'schedule', path: `/automations/schedules/${stock.id}`, shows: heading('Last 7 days') },
      ],
      'week-away',
    )
  })

  test('screens without webhooks and schedules', async ({ deckhand }) => {
    const { client } = deckhand
    await client.ok('updateSettings', { body: { firstStart: 'done' } })
    for (const { id } of (await client.ok('listTriggers', {})).triggers) await client.ok('deleteTrigger', { params: { triggerId: id } })
    for (const { id } of (await client.ok('listSchedules', {})).schedules) await client.ok('deleteSchedule', { params: { scheduleId: id } })
    await lookAt(
      deckhand,
      [
        { name: 'webhooks', path: '/automations', shows: text('No webhooks yet') },
        { name: 'schedules', path: '/automations/schedules', shows: text('No schedules yet') },
      ],
      'automations-empty',
    )
  })
})
