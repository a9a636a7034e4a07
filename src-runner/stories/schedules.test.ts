import { messageMatching } from '../testing/message-matching.ts'
import { afterEach, describe, expect, it, test } from 'vitest'
import type { Agent, CreateAgent } from '../contract/agents.ts'
import type { Job } from '../contract/jobs.ts'
import type { CreateSchedule, Occurrence, Schedule } from '../contract/schedules.ts'
import { createRunnerClient } from '../testing/runner-client.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from '../testing/create-test-runner.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'
import { createScheduleClient } from '../testing/schedule-client.ts'
import { askPerson } from '../agent/tools/ask-person/ask-person.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const at = (text: string) => Date.parse(text)
const START = at('2026-11-20T09:30:00Z')

/** One call of 1,000 input tokens costs a dollar. */
const PRICE = { inputUsdPerMillion: 1000, outputUsdPerMillion: 1 }
const USAGE = { input: 1000, output: 1 }

describe('a schedule', () => {
  let runner: TestRunner
  let clock: HandClock
  let agent: Agent
  afterEach(() => runner.stop())

  async function open(options: TestRunnerOptions = {}, fields: Partial<CreateAgent> = {}): Promise<void> {
    clock = createHandClock(START)
    // Few tools, because the reservation for a call grows with their descriptions.
    runner = await createTestRunner({ clock, tools: [askPerson], modelServer: { fallback: { text: ['News.'], usage: USAGE } }, ...options })
    agent = await runner.addAgent({ limits: { maxCostUsd: 100 }, ...fields })
    await runner.client.ok('setModelPrice', { body: { model: agent.model!, price: PRICE } })
  }
  async function create(fields: Partial<CreateSchedule> = {}): Promise<Schedule> {
    const body = { name: 'News', agentId: agent.id, cron: '0 * * * *', timezone: 'UTC', task: 'Read the news.', ...fields }
    return (await runner.client.ok('createSchedule', { body })).schedule
  }
  const of = ({ id }: Schedule) => ({ params: { scheduleId: id } })
  const { read, runHistory, until } = createScheduleClient(() => runner)
  const states = async (schedule: Schedule) =>
    (await runHistory(schedule)).map(({ dueAt, state }) => `${new Date(dueAt).toISOString().slice(11, 16)} ${state}`)
  const tick = () => runner.client.ok('runTick')
  const jobOf = async (jobId: string): Promise<Job> => (await runner.client.ok('getJob', { params: { jobId } })).job
  const goTo = (text: string) => clock.advance(at(text) - clock.now())
  const settled = (schedule: Schedule, lastStatus: Schedule['lastStatus']) =>
    until(
      () => read(schedule),
      (now) => now.lastStatus === lastStatus && (lastStatus === 'awaiting_approval' || now.liveJobId === null),
    )

  it('runs by itself at its due time, and records its outcome and cost', async () => {
    await open()
    const schedule = await create()
    expect(schedule).toMatchObject({ status: 'active', lastStatus: null, nextDueAt: at('2026-11-20T10:00:00Z'), lastRun: null })
    goTo('2026-11-20T10:00:00Z')
    const after = await settled(schedule, 'success')
    expect(after).toMatchObject({ nextDueAt: at('2026-11-20T11:00:00Z'), liveJobId: null, spentTodayUsd: 1.000001 })
    expect(after.lastRun).toMatchObject({
      state: 'ran',
      reason: expect.objectContaining({ code: 'due_on_time' }),
      jobStatus: 'completed',
      costUsd: 1.000001,
    })
    expect(await jobOf(after.lastRun!.jobId!)).toMatchObject({
      channel: 'schedule',
      scheduleId: schedule.id,
      occurrenceId: after.lastRun!.id,
      status: 'completed',
      title: 'News',
      task: 'Read the news.',
      result: 'News.',
    })
    goTo('2026-11-20T11:00:00Z')
    await until(
      () => states(schedule),
      (rows) => rows.length === 2,
    )
    expect(await states(schedule)).toEqual(['10:00 ran', '11:00 ran'])
  })

  it('runs as soon as the run before it has ended, and skips due times in between', async () => {
    await open({
      config: { authMode: 'bearer-token' },
      resolveUser: async () => ({ userId: 'bo', name: 'Bo', isOwner: false }),
    })
    const schedule = await create({ cron: '* * * * *' })
    const hold = runner.modelServer.holdBefore(0)
    goTo('2026-11-20T09:31:00Z')
    await until(
      () => read(schedule),
      ({ lastStatus }) => lastStatus === 'running',
    )
    goTo('2026-11-20T09:32:00Z')
    await until(
      () => states(schedule),
      (rows) => rows.includes('09:32 due'),
    )
    goTo('2026-11-20T09:33:00Z')
    await until(
      () => states(schedule),
      (rows) => rows.includes('09:33 due'),
    )
    expect(await states(schedule)).toEqual(['09:31 ran', '09:32 skipped_overlap', '09:33 due'])
    expect(await tick()).toEqual({ ok: true, fired: 0, skipped: 1, exhausted: 0 })
    const ofAnotherWorkspace = createRunnerClient(runner.url, 'session-of-bo')
    expect(await ofAnotherWorkspace.ok('runTick')).toEqual({ ok: true, fired: 0, skipped: 0, exhausted: 0 })
    hold.release()
    await until(
      () => states(schedule),
      (rows) => rows.includes('09:33 ran'),
    )
    await settled(schedule, 'success')
    expect((await runner.client.ok('listJobs', { query: { channel: 'schedule' } })).jobs).toHaveLength(2)
  })

  it('counts a run that waits for an answer as active', async () => {
    await open()
    const schedule = await create()
    runner.modelServer.play({ toolCalls: [{ id: 'call', name: 'ask_person', args: { question: 'Which news?' } }], usage: USAGE })
    goTo('2026-11-20T10:00:00Z')
    const waiting = await settled(schedule, 'awaiting_approval')
    goTo('2026-11-20T11:00:00Z')
    await until(
      () => states(schedule),
      (rows) => rows.length === 2,
    )
    expect((await runHistory(schedule))[1]).toMatchObject({
      state: 'due',
      reason: expect.objectContaining({ code: 'due_held_by_question' }),
    })
    const { approvals } = await runner.client.ok('listApprovals', { query: { status: 'pending' } })
    await runner.client.ok('resolveApproval', { body: { approvalId: approvals[0]!.id, decision: 'approve', answer: 'The good ones.' } })
    await until(
      () => states(schedule),
      (rows) => rows.includes('11:00 ran'),
    )
    expect((await jobOf(waiting.liveJobId!)).status).toBe('completed')
  })

  it('with a spent budget waits for the next local day, notifies once, and continues by itself', async () => {
    await open()
    const schedule = await create({ dailyBudgetUsd: 2 })
    for (const time of ['10:00', '11:00']) {
      goTo(`2026-11-20T${time}:00Z`)
      await until(
        () => states(schedule),
        (rows) => rows.includes(`${time} ran`),
      )
      await settled(schedule, 'success')
    }
    for (const time of ['12:00', '13:00']) {
      goTo(`2026-11-20T${time}:00Z`)
      await until(
        () => states(schedule),
        (rows) => rows.includes(`${time} skipped_budget`),
      )
    }
    const exhausted = await read(schedule)
    expect(exhausted).toMatchObject({ status: 'budget_exhausted', lastStatus: 'budget_exhausted', agentSpentTodayUsd: 2.000002 })
    const told = () => runner.notifications.filter(({ kind }) => kind === 'budget_exhausted')
    expect(told()).toHaveLength(1)
    goTo('2026-11-21T00:00:00Z')
    await until(
      () => read(schedule),
      ({ status, lastStatus }) => status === 'active' && lastStatus === 'success',
    )
    expect(told()).toHaveLength(1)
    const missed = (await runHistory(schedule)).filter(({ state }) => state === 'missed')
    expect(missed.every(({ dueAt }) => dueAt > at('2026-11-20T13:00:00Z'))).toBe(true)
  })

  it('continues at once with a higher budget', async () => {
    await open()
    const schedule = await create({ dailyBudgetUsd: 0.5 })
    await runner.client.ok('runScheduleNow', of(schedule))
    await settled(schedule, 'success')
    goTo('2026-11-20T10:00:00Z')
    await settled(schedule, 'budget_exhausted')
    const { schedule: raised } = await runner.client.ok('updateSchedule', { ...of(schedule), body: { dailyBudgetUsd: 2 } })
    expect(raised).toMatchObject({ status: 'active', nextDueAt: at('2026-11-20T11:00:00Z') })
    goTo('2026-11-20T11:00:00Z')
    await until(
      () => states(schedule),
      (rows) => rows.includes('11:00 ran'),
    )
  })

  test.each([
    ['the machine says that it woke', () => runner.runner.woke()],
    ['nobody says so, within half a minute', () => clock.advance(30 * SECOND)],
    ['somebody asks for it', () => void tick()],
  ])('catches up once after a sleep: %s', async (_how, wake) => {
    await open()
    const schedule = await create({ cron: '*/15 * * * *' })
    clock.jump(3 * HOUR)
    wake()
    await until(
      () => states(schedule),
      (rows) => rows.length > 0,
    )
    expect((await states(schedule)).filter((row) => !row.endsWith('missed'))).toEqual(['12:30 ran'])
    clock.jump(3 * HOUR + 5 * MINUTE)
    await settled(schedule, 'success')
    wake()
    await until(
      () => states(schedule),
      (rows) => rows.includes('15:30 caught_up'),
    )
    expect(await states(schedule)).toHaveLength(24)
    await settled(schedule, 'success')
    expect((await runner.client.ok('listJobs', { query: { channel: 'schedule' } })).jobs).toHaveLength(2)
  })

  it('catches up after the app was off, and loses nothing in a crash', async () => {
    await open()
    const [schedule, never] = [await create(), await create({ name: 'Never', catchUpHours: 0 })]
    clock.advance(10 * SECOND)
    clock.jump(4 * HOUR)
    await runner.restart({ crash: true })
    await until(
      () => states(schedule),
      (rows) => rows.includes('13:00 caught_up'),
    )
    expect(await states(schedule)).toEqual(['10:00 missed', '11:00 missed', '12:00 missed', '13:00 caught_up'])
    expect(
      await until(
        () => states(never),
        (rows) => rows.length === 4,
      ),
    ).toEqual(['10', '11', '12', '13'].map((hour) => `${hour}:00 missed`))
    await settled(schedule, 'success')
    await runner.restart()
    expect(await tick()).toMatchObject({ fired: 0 })
    expect(await states(schedule)).toHaveLength(4)
  })

  it('runs in safe mode only if a person starts it', async () => {
    await open()
    const schedule = await create()
    await runner.restart({ config: { safeMode: true } })
    goTo('2026-11-20T11:00:00Z')
    expect(await tick()).toEqual({ ok: true, fired: 0, skipped: 0, exhausted: 0 })
    expect(await states(schedule)).toEqual([])
    const { occurrence } = await runner.client.ok('runScheduleNow', of(schedule))
    expect(occurrence).toMatchObject({ state: 'ran', origin: 'run_now' })
    await settled(schedule, 'success')
    clock.advance(10 * MINUTE)
    await runner.restart({ config: { safeMode: false } })
    await until(
      () => states(schedule),
      (rows) => rows.includes('11:00 caught_up'),
    )
  })

  it('waits with one run while all agents are paused', async () => {
    await open()
    const schedule = await create()
    runner.runner.setPauseAll(true)
    for (const [time, state] of [
      ['10:00', 'ran'],
      ['11:00', 'due'],
      ['12:00', 'due'],
    ] as const) {
      goTo(`2026-11-20T${time}:00Z`)
      await until(
        () => states(schedule),
        (rows) => rows.includes(`${time} ${state}`),
      )
    }
    expect(runner.modelServer.received).toEqual([])
    runner.runner.setPauseAll(false)
    await until(
      () => states(schedule),
      (rows) => rows.includes('12:00 ran'),
    )
    expect(await states(schedule)).toEqual(['10:00 ran', '11:00 skipped_overlap', '12:00 ran'])
    await settled(schedule, 'success')
  })

  it('can be run now once at a time, and only if it exists', async () => {
    await open()
    const schedule = await create()
    const hold = runner.modelServer.holdBefore(0)
    const { jobId } = await runner.client.ok('runScheduleNow', of(schedule))
    expect(await runner.client.ask('runScheduleNow', of(schedule))).toMatchObject({ status: 409, body: { error: 'schedule_is_running' } })
    hold.release()
    await settled(schedule, 'success')
    expect((await jobOf(jobId)).context).toMatchObject({ origin: 'run_now', previousRun: null })
    await runner.client.ok('deleteSchedule', of(schedule))
    for (const name of ['runScheduleNow', 'getSchedule', 'pauseSchedule', 'resumeSchedule', 'listOccurrences', 'deleteSchedule'] as const) {
      expect(await runner.client.ask(name, of(schedule))).toMatchObject({ status: 404, body: { error: 'schedule_not_found' } })
    }
    expect((await jobOf(jobId)).status).toBe('completed')
  })

  it('pauses and resumes without catching up', async () => {
    await open()
    const schedule = await create()
    expect((await runner.client.ok('pauseSchedule', of(schedule))).schedule).toMatchObject({ status: 'paused', nextDueAt: null })
    goTo('2026-11-20T12:00:10Z')
    await until(
      () => states(schedule),
      (rows) => rows.length === 3,
    )
    const { schedule: resumed } = await runner.client.ok('resumeSchedule', of(schedule))
    expect(resumed).toMatchObject({ status: 'active', nextDueAt: at('2026-11-20T13:00:00Z') })
    expect(await tick()).toMatchObject({ fired: 0 })
    expect(await states(schedule)).toEqual(['10:00 paused', '11:00 paused', '12:00 paused'])
  })

  it('is deleted with its agent, and its runs are stopped', async () => {
    await open()
    await runner.addAgent({ name: 'Another' })
    const schedule = await create({ cron: '* * * * *' })
    const hold = runner.modelServer.holdBefore(0)
    goTo('2026-11-20T09:31:00Z')
    const { liveJobId } = await until(
      () => read(schedule),
      (now) => now.liveJobId !== null,
    )
    goTo('2026-11-20T09:32:00Z')
    await until(
      () => states(schedule),
      (rows) => rows.includes('09:32 due'),
    )
    await runner.client.ok('deleteAgent', { params: { agentId: agent.id } })
    hold.release()
    expect((await runner.ended(liveJobId!)).status).toBe('cancelled')
    expect((await runner.client.ok('listSchedules', { query: { limit: 50 } })).schedules).toEqual([])
    expect(await tick()).toEqual({ ok: true, fired: 0, skipped: 0, exhausted: 0 })
    expect((await runner.client.ok('listJobs', { query: { channel: 'schedule' } })).jobs).toHaveLength(1)
  })

  it('runs when the disk has room again', async () => {
    await open()
    const schedule = await create({ task: 'Read. '.repeat(10_000) })
    const makeRoom = runner.fillDisk()
    goTo('2026-11-20T10:00:00Z')
    expect(await runner.client.ask('runTick')).toMatchObject({ status: 503, body: { error: 'disk_full' } })
    makeRoom()
    clock.advance(30 * SECOND)
    await until(
      () => states(schedule),
      (rows) => rows.includes('10:00 ran'),
    )
    await settled(schedule, 'success')
  })

  test.each([
    [{ cron: '0 0 9 * * *' }, 'cron', /five/],
    [{ cron: '@daily' }, 'cron', /0 0 \* \* \*/],
    [{ cron: '61 * * * *' }, 'cron', /minute/],
    [{ cron: '0 0 30 2 *' }, 'cron', /never/],
    [{ timezone: 'Mars/Olympus' }, 'timezone', /Europe\/Berlin/],
    [{ dailyBudgetUsd: 0.49 }, 'dailyBudgetUsd', /./],
    [{ dailyBudgetUsd: 100.01 }, 'dailyBudgetUsd', /./],
    [{ catchUpHours: -1 }, 'catchUpHours', /./],
    [{ task: ' ' }, 'task', /./],
  ])('is rejected with %j', async (fields, path, message) => {
    await open()
    const good = { name: 'News', agentId: agent.id, cron: '0 9 * * *', timezone: 'UTC', task: 'Read.' }
    const refused = await runner.client.ask('createSchedule', { body: { ...good, ...fields } })
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_request', issues: [{ path }] } })
    expect((refused.body as { issues: { message: string }[] }).issues[0]!.message).toMatch(message)
    const schedule = await create()
    expect(await runner.client.ask('updateSchedule', { ...of(schedule), body: fields })).toMatchObject({ status: 400 })
    expect(await read(schedule)).toEqual(schedule)
  })

  it('is rejected for an unknown agent', async () => {
    await open()
    const schedule = await create()
    const agentId = schedule.id
    const good = { name: 'News', agentId, cron: '0 9 * * *', timezone: 'UTC', task: 'Read.' }
    expect(await runner.client.ask('createSchedule', { body: good })).toMatchObject({ status: 404, body: { error: 'agent_not_found' } })
    expect(await runner.client.ask('updateSchedule', { ...of(schedule), body: { agentId } })).toMatchObject({ status: 404 })
  })

  it('has a preview with its next due times or the problem', async () => {
    await open()
    const preview = (cron: string, timezone: string, count?: number) =>
      runner.client.ok('previewCron', { query: { cron, timezone, count } })
    expect(await preview('0 9 * * 1-5', 'Europe/Berlin', 3)).toEqual({
      valid: true,
      problem: null,
      isWatcher: false,
      next: [at('2026-11-23T08:00:00Z'), at('2026-11-24T08:00:00Z'), at('2026-11-25T08:00:00Z')],
    })
    expect(await preview('*/15 * * * *', 'UTC')).toMatchObject({ valid: true, isWatcher: true, next: { length: 5 } })
    for (const [cron, timezone] of [
      ['', 'UTC'],
      ['0 9 * *', 'UTC'],
      ['@hourly', 'UTC'],
      ['0 9 * * *', ''],
      ['x y z a b', '\u0000'],
    ] as const) {
      const answer = await preview(cron, timezone)
      expect(answer).toMatchObject({ valid: false, next: [], isWatcher: false })
      expect(answer.problem).toEqual(messageMatching(/\w{3}/))
    }
  })

  it('is listed once over all pages', async () => {
    await open()
    const other = await runner.addAgent({ name: 'Another' })
    const made = [await create({ name: 'a' }), await create({ name: 'b', agentId: other.id }), await create({ name: 'c' })]
    const list = async (query: object) => runner.client.ok('listSchedules', { query: { limit: 2, ...query } })
    const first = await list({})
    expect(first.schedules.map(({ id }) => id)).toEqual([made[2]!.id, made[1]!.id])
    const second = await list({ cursor: first.nextCursor })
    expect(second).toMatchObject({ schedules: [{ id: made[0]!.id }], nextCursor: null })
    expect((await list({ agentId: other.id })).schedules.map(({ name }) => name)).toEqual(['b'])
    expect(await runner.client.ask('listSchedules', { query: { cursor: 'x' } })).toMatchObject({ status: 400 })
  })

  it('has a run history in pages, newest first', async () => {
    await open()
    const schedule = await create()
    await runner.client.ok('pauseSchedule', of(schedule))
    goTo('2026-11-20T14:01:00Z')
    await until(
      () => states(schedule),
      (rows) => rows.length === 5,
    )
    const hours: number[] = []
    for (let cursor: string | null = null; ;) {
      const query = { limit: 2, ...(cursor === null ? {} : { cursor }) }
      const page: { occurrences: Occurrence[]; nextCursor: string | null } = await runner.client.ok('listOccurrences', {
        ...of(schedule),
        query,
      })
      hours.push(...page.occurrences.map(({ dueAt }) => new Date(dueAt).getUTCHours()))
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    expect(hours).toEqual([14, 13, 12, 11, 10])
  })

  it('is among the upcoming runs, with what blocks them', async () => {
    await open()
    const [hourly, watcher] = [await create({ name: 'Hourly', dailyBudgetUsd: 2 }), await create({ name: 'Watcher', cron: '*/10 * * * *' })]
    await runner.client.ok('pauseSchedule', of(await create({ name: 'Paused' })))
    const upcoming = async (hours: number) => (await runner.client.ok('listUpcomingRuns', { query: { hours } })).runs
    const head = { scheduleId: hourly.id, name: 'Hourly', agentName: agent.name, times: 1, blockedBy: null }
    expect(await upcoming(2)).toEqual([
      {
        scheduleId: watcher.id,
        name: 'Watcher',
        agentName: agent.name,
        times: 12,
        blockedBy: null,
        dueAt: at('2026-11-20T09:40:00Z'),
        untilAt: at('2026-11-20T11:30:00Z'),
      },
      { ...head, dueAt: at('2026-11-20T10:00:00Z'), untilAt: at('2026-11-20T10:00:00Z') },
      { ...head, dueAt: at('2026-11-20T11:00:00Z'), untilAt: at('2026-11-20T11:00:00Z') },
    ])
    const hold = runner.modelServer.holdBefore(0)
    const { jobId } = await runner.client.ok('runScheduleNow', of(hourly))
    const blocks = async () => (await upcoming(2)).filter(({ name }) => name === 'Hourly').map(({ blockedBy }) => blockedBy)
    expect(await blocks()).toEqual(['overlap', null])
    runner.runner.setPauseAll(true)
    expect(await blocks()).toEqual(['pauseAll', 'pauseAll'])
    runner.runner.setPauseAll(false)
    hold.release()
    await runner.ended(jobId)
    await runner.client.ok('runScheduleNow', of(hourly))
    await settled(hourly, 'success')
    const days = (await upcoming(20)).filter(({ name }) => name === 'Hourly')
    expect(days.find(({ blockedBy }) => blockedBy === null)!.dueAt).toBe(at('2026-11-21T00:00:00Z'))
    expect(days.filter(({ blockedBy }) => blockedBy === 'budget')).toHaveLength(14)
  })

  it('that is a watcher is blocked only until the run before ends, or until the day of the limit is over', async () => {
    await open()
    const watcher = await create({ cron: '*/10 * * * *', dailyBudgetUsd: 2 })
    const entries = async (hours: number) =>
      (await runner.client.ok('listUpcomingRuns', { query: { hours } })).runs.map(({ dueAt, times, blockedBy }) => [
        dueAt,
        times,
        blockedBy,
      ])
    const hold = runner.modelServer.holdBefore(0)
    await runner.client.ok('runScheduleNow', of(watcher))
    expect(await entries(2)).toEqual([
      [at('2026-11-20T09:40:00Z'), 1, 'overlap'],
      [at('2026-11-20T09:50:00Z'), 11, null],
    ])
    hold.release()
    await settled(watcher, 'success')
    await runner.client.ok('runScheduleNow', of(watcher))
    await settled(watcher, 'success')
    expect(await entries(20)).toEqual([
      [at('2026-11-20T09:40:00Z'), 86, 'budget'],
      [at('2026-11-21T00:00:00Z'), 34, null],
    ])
  })
})
