import { afterEach, describe, expect, it, test } from 'vitest'
import type { Agent } from '../contract/agents.ts'
import type { CreateSchedule, Schedule } from '../contract/schedules.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'
import { createScheduleClient } from '../testing/schedule-client.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY
const at = (text: string) => Date.parse(text)

const PRICE = { inputUsdPerMillion: 1000, outputUsdPerMillion: 1 }
/** One call costs a dollar. */
const USAGE = { input: 1000, output: 1 }
const COST = 1.000001

describe('schedules on a machine whose clock is wrong', () => {
  let runner: TestRunner
  let clock: HandClock
  let agent: Agent
  afterEach(() => runner.stop())

  async function open(): Promise<void> {
    clock = createHandClock(at('2026-11-20T09:30:00Z'))
    runner = await createTestRunner({ clock, tools: [], modelServer: { fallback: { text: ['News.'], usage: USAGE } } })
    agent = await runner.addAgent({ limits: { maxCostUsd: 100 } })
    await runner.client.ok('setModelPrice', { body: { model: agent.model!, price: PRICE } })
  }
  async function create(fields: Partial<CreateSchedule> = {}): Promise<Schedule> {
    const body = { name: 'News', agentId: agent.id, cron: '0 10 * * *', timezone: 'UTC', task: 'Read the news.', ...fields }
    return (await runner.client.ok('createSchedule', { body })).schedule
  }
  const { read, runHistory, until } = createScheduleClient(() => runner)
  const states = async (schedule: Schedule) =>
    (await runHistory(schedule)).map(({ dueAt, state }) => `${new Date(dueAt).toISOString().slice(2, 16)} ${state}`)
  const runs = async () => (await runner.client.ok('listJobs', { query: { channel: 'schedule' } })).jobs.length
  const goTo = (text: string) => clock.advance(at(text) - clock.now())
  /** Moves to a due time and waits until its run has ended. */
  async function runAt(schedule: Schedule, text: string): Promise<void> {
    goTo(text)
    await until(
      () => read(schedule),
      ({ lastRun, liveJobId }) => lastRun?.dueAt === at(text) && liveJobId === null,
    )
  }

  test.each([
    ['within half a minute, by itself', async () => clock.advance(30_000)],
    ['when the machine says that it woke', async () => runner.runner.woke()],
    ['when somebody asks for a look', async () => void runner.client.ok('runTick')],
    ['when the app is started again', () => runner.restart({ crash: true })],
  ])('continue at once after a clock a year ahead is set right: %s', async (_how, notification) => {
    await open()
    const [daily, hourly] = [await create(), await create({ name: 'Hourly', cron: '0 * * * *' })]
    clock.jump(YEAR)
    await runner.restart()
    for (const schedule of [daily, hourly]) {
      await until(
        () => read(schedule),
        ({ lastStatus, nextDueAt }) => lastStatus === 'success' && nextDueAt! > at('2027-11-01T00:00:00Z'),
      )
    }
    clock.jump(-YEAR)
    await notification()
    for (const schedule of [daily, hourly]) {
      await until(
        () => read(schedule),
        ({ nextDueAt }) => nextDueAt === at('2026-11-20T10:00:00Z'),
      )
    }
    // Future due times are listed only if they are runs.
    expect((await states(daily)).every((row) => row.endsWith('caught_up') || row.endsWith('ran'))).toBe(true)
    for (const day of ['20', '21']) await runAt(daily, `2026-11-${day}T10:00:00Z`)
    expect((await states(daily)).slice(0, 2)).toEqual(['20', '21'].map((day) => `26-11-${day}T10:00 ran`))
    expect((await states(hourly)).slice(0, 2)).toEqual(['26-11-20T10:00 ran', '26-11-20T11:00 missed'])
  })

  it('run nothing twice when the clock is set back by two hours', async () => {
    await open()
    const schedule = await create({ cron: '0 * * * *' })
    for (const hour of ['10', '11']) await runAt(schedule, `2026-11-20T${hour}:00:00Z`)
    clock.jump(-2 * HOUR)
    clock.advance(30_000)
    for (const hour of ['10', '11']) {
      goTo(`2026-11-20T${hour}:00:00Z`)
      expect(await runner.client.ok('runTick')).toMatchObject({ fired: 0 })
    }
    await runAt(schedule, '2026-11-20T12:00:00Z')
    expect(await states(schedule)).toEqual(['10', '11', '12'].map((hour) => `26-11-20T${hour}:00 ran`))
    expect(await runs()).toBe(3)
  })

  it('count spend by a clock that was ahead for today, and not for tomorrow', async () => {
    await open()
    const schedule = await create({ cron: '0 * * * *', dailyBudgetUsd: 1 })
    clock.jump(YEAR)
    clock.advance(30_000)
    await until(
      () => read(schedule),
      ({ lastStatus }) => lastStatus === 'success',
    )
    clock.advance(HOUR)
    await until(
      () => read(schedule),
      ({ status }) => status === 'budget_exhausted',
    )
    clock.jump(-YEAR)
    clock.advance(30_000)
    await until(
      () => read(schedule),
      ({ nextDueAt }) => nextDueAt === at('2026-11-20T11:00:00Z'),
    )
    expect(await read(schedule)).toMatchObject({ status: 'budget_exhausted', agentSpentTodayUsd: COST })
    expect((await runner.client.ok('getSpend', { query: { by: 'day', timezone: 'UTC' } })).rows.map(({ key }) => key)).toEqual([
      '2026-11-20',
    ])
    await runAt(schedule, '2026-11-21T00:00:00Z')
    expect(await read(schedule)).toMatchObject({ agentSpentTodayUsd: COST, lastStatus: 'success' })
  })

  it('send no notification for missed runs in the future', async () => {
    await open()
    await create({ catchUpHours: 0 })
    const missed = async () => (await runner.client.ok('listAttention')).items.filter(({ kind }) => kind === 'schedule_missed')
    clock.jump(YEAR)
    clock.advance(30_000)
    await until(missed, (items) => items.length === 1)
    clock.jump(-YEAR)
    clock.advance(30_000)
    await until(missed, (items) => items.length === 0)
  })

  it('wait while the clock shows an impossible year, and miss nothing', async () => {
    await open()
    const schedule = await create()
    await runAt(schedule, '2026-11-20T10:00:00Z')
    clock.jump(at('2001-01-01T00:00:00Z') - clock.now())
    await runner.restart({ crash: true })
    clock.advance(MINUTE)
    expect(await runner.client.ok('runTick')).toMatchObject({ fired: 0 })
    clock.jump(at('2026-11-21T09:59:00Z') - clock.now())
    await runAt(schedule, '2026-11-21T10:00:00Z')
    expect(await states(schedule)).toEqual(['26-11-20T10:00 ran', '26-11-21T10:00 ran'])
  })
})
