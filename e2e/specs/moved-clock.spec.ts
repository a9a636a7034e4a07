import type { Occurrence } from '../../src-runner/contract/schedules.ts'
import type { RunnerClient } from '../../src-runner/testing/runner-client.ts'
import { expect, test } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS

/** A time zone in which it is morning now, so that midnight is far. */
function zoneOfTheMorning(): string {
  const east = Math.max(-12, Math.min(14, 10 - new Date().getUTCHours()))
  // These names count westwards: Etc/GMT-5 is five hours ahead of UTC.
  return `Etc/GMT${east >= 0 ? '-' : '+'}${Math.abs(east)}`
}

/** Every hour, half an hour from now: a run that is due at the start counts as on time. */
const farFromNow = () => `${(new Date().getUTCMinutes() + 30) % 60} * * * *`

test('a schedule over its budget stops, notifies once, and continues the next day', async ({ deckhand, models }) => {
  const { client } = deckhand
  const agent = await setUpAgent(client, models)
  const { providerId } = (await client.ok('getSettings')).settings.defaultModel!
  await client.ok('setModelPrice', {
    body: { model: { providerId, model: 'small' }, price: { inputUsdPerMillion: 100, outputUsdPerMillion: 0 } },
  })
  const { schedule } = await client.ok('createSchedule', {
    body: {
      name: 'Shop watch',
      agentId: agent.id,
      cron: farFromNow(),
      timezone: zoneOfTheMorning(),
      task: 'Look at the shop.',
      dailyBudgetUsd: 0.5,
    },
  })
  const params = { scheduleId: schedule.id }
  const now = async () => (await deckhand.client.ok('getSchedule', { params })).schedule
  models.play({ text: ['All quiet.'], usage: { input: 6000, output: 0 } })
  await client.ok('runScheduleNow', { params })
  await expect.poll(async () => (await now()).lastStatus).toBe('success')
  expect((await now()).agentSpentTodayUsd).toBeCloseTo(0.6)

  const startAhead = async (ms: number) => {
    await deckhand.quit()
    await deckhand.start({ DECKHAND_TEST_CLOCK_AHEAD_MS: String(ms) })
    await deckhand.page.goto(`app://deckhand/automations/schedules/${schedule.id}`)
  }
  const main = () => deckhand.page.getByRole('main')

  await startAhead(HOUR_MS)
  await expect(main()).toContainText('Spending limit reached')
  expect(await now()).toMatchObject({ status: 'budget_exhausted', lastStatus: 'budget_exhausted' })
  expect((await deckhand.hooks()).notifications.filter((title) => title.includes('Shop watch'))).toHaveLength(1)
  await deckhand.page.goto('app://deckhand/')
  await expect(main()).toContainText('Shop watch')
  // There is one notification a day, not one for each run.
  await startAhead(2 * HOUR_MS)
  await expect(main()).toContainText('Spending limit reached')
  expect((await deckhand.hooks()).notifications.filter((title) => title.includes('Shop watch'))).toEqual([])

  models.play({ text: ['Two new orders.'], usage: { input: 10, output: 0 } })
  await startAhead(24 * HOUR_MS)
  await expect.poll(async () => (await now()).lastStatus).toBe('success')
  expect((await now()).status).toBe('active')
  await expect(main()).not.toContainText('Spending limit reached')
  const { occurrences } = await deckhand.client.ok('listOccurrences', { params })
  expect(occurrences[0]).toMatchObject({ state: 'caught_up', jobStatus: 'completed' })
  expect(occurrences.filter(({ state }) => state === 'skipped_budget')).toHaveLength(2)
  expect(occurrences.filter(({ state }) => state === 'missed').length).toBeGreaterThan(10)
})

test('after a week away Home sums up the runs, and the run history has every one', async ({ deckhand, models }) => {
  const { client } = deckhand
  const agent = await setUpAgent(client, models)
  const { schedule } = await client.ok('createSchedule', {
    body: { name: 'Morning round', agentId: agent.id, cron: farFromNow(), timezone: 'Europe/Berlin', task: 'Look around.' },
  })
  models.play({ text: ['All is well.'] })
  await deckhand.quit()
  await deckhand.start({ DECKHAND_TEST_CLOCK_AHEAD_MS: String(WEEK_MS) })
  const { page } = deckhand
  // The page has its own clock.
  await page.clock.setFixedTime(Date.now() + WEEK_MS)
  await page.goto('app://deckhand/')
  const away = page.getByRole('region', { name: 'While you were away' })
  const line = away.getByRole('listitem').filter({ hasText: 'Morning round' })
  await expect(line).toContainText('1 ran late')
  await expect(line).toContainText(/16\d missed/)
  await expect(line).toContainText('Deckhand was not running or the computer was asleep')
  await line.getByRole('link', { name: 'Morning round' }).click()
  const runHistory = page.getByRole('list', { name: 'Run history' })
  await expect(runHistory.getByRole('listitem').first()).toContainText('Ran late')
  // Hundreds of runs with the same reason are one line.
  await expect(runHistory.getByRole('listitem').filter({ hasText: 'Missed' })).toHaveCount(1)
  await page.goto('app://deckhand/')
  await away.getByRole('button', { name: 'Dismiss' }).click()
  await expect(away).toBeHidden()
  await page.reload()
  await expect(page.getByText('You’re all caught up.')).toBeVisible()
  await expect(away).toBeHidden()
  const all = await everyOccurrence(deckhand.client, schedule.id)
  const hours = all.filter(({ origin }) => origin === 'clock')
  // A week of hours, each once.
  expect(new Set(hours.map(({ dueAt }) => dueAt)).size).toBe(hours.length)
  expect([167, 168, 169]).toContain(hours.length)
  expect(hours.filter(({ state }) => state === 'caught_up')).toHaveLength(1)
  expect(hours.filter(({ state }) => state === 'missed')).toHaveLength(hours.length - 1)
  expect(hours.every(({ reason }) => reason.code.startsWith('due_'))).toBe(true)
  await expect
    .poll(async () => (await deckhand.client.ok('listJobs', { query: { channel: 'schedule' } })).jobs.map(({ status }) => status))
    .toEqual(['completed'])
})

async function everyOccurrence(client: RunnerClient, scheduleId: string): Promise<Occurrence[]> {
  const all: Occurrence[] = []
  for (let cursor: string | undefined; ;) {
    const page = await client.ok('listOccurrences', { params: { scheduleId }, query: { limit: 200, cursor } })
    all.push(...page.occurrences)
    if (page.nextCursor === null) return all
    cursor = page.nextCursor
  }
}
