import { expect, test } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const HOUR_MS = 3_600_000

/** A zone in which it is the morning now, so that neither midnight is near. */
function zoneOfTheMorning(): string {
  const east = Math.max(-12, Math.min(14, 10 - new Date().getUTCHours()))
  // By the standard these names count westwards: Etc/GMT-5 is five hours ahead.
  return `Etc/GMT${east >= 0 ? '-' : '+'}${Math.abs(east)}`
}

test('a schedule that has used up its budget stops, says so once, and goes on by itself the next day', async ({ deckhand, models }) => {
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
      cron: '0 * * * *',
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
  await expect(main()).toContainText('Budget used up')
  expect(await now()).toMatchObject({ status: 'budget_exhausted', lastStatus: 'budget_exhausted' })
  expect((await deckhand.hooks()).notices.filter((title) => title.includes('Shop watch'))).toHaveLength(1)
  await deckhand.page.goto('app://deckhand/')
  await expect(main()).toContainText('Shop watch')
  // Told once a day, and not again by the next due time.
  await startAhead(2 * HOUR_MS)
  await expect(main()).toContainText('Budget used up')
  expect((await deckhand.hooks()).notices.filter((title) => title.includes('Shop watch'))).toEqual([])

  models.play({ text: ['Two new orders.'], usage: { input: 10, output: 0 } })
  await startAhead(24 * HOUR_MS)
  await expect.poll(async () => (await now()).lastStatus).toBe('success')
  expect((await now()).status).toBe('active')
  await expect(main()).not.toContainText('Budget used up')
  const { occurrences } = await deckhand.client.ok('listOccurrences', { params })
  expect(occurrences[0]).toMatchObject({ state: 'caught_up', jobStatus: 'completed' })
  expect(occurrences.filter(({ state }) => state === 'skipped_budget')).toHaveLength(2)
  expect(occurrences.filter(({ state }) => state === 'missed').length).toBeGreaterThan(10)
})
