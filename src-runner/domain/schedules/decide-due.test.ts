import type { Message } from '../../contract/messages.ts'
import { behindPauseAll, lateBy, REASONS } from './run-reasons.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import type { AttemptOutcome } from '../jobs/settle-job.ts'
import type { Occurrence, Schedule } from '../../contract/schedules.ts'
import { openScheduleRig, type ScheduleRig } from '../../testing/schedule-rig.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const at = (text: string) => Date.parse(text)
const START = at('2026-11-20T09:30:00Z')

let rig: ScheduleRig
beforeEach(() => {
  rig = openScheduleRig(START)
})
afterEach(() => rig.close())

/** Moves time without a check in between. */
const goTo = (text: string) => rig.clock.advance(at(text) - rig.clock.now())
const states = (schedule: Schedule) =>
  rig.runHistory(schedule).map(({ dueAt, state }) => `${new Date(dueAt).toISOString().slice(5, 16)} ${state}`)
const last = (schedule: Schedule): Occurrence => rig.runHistory(schedule).at(-1)!
const fired = (schedule: Schedule): string => {
  expect(rig.look()).toBe(1)
  return rig.live(schedule)[0]!
}

describe('a due time', () => {
  it('is the first one after the creation', () => {
    const schedule = rig.create({ cron: '30 9 * * *' })
    expect(schedule.nextDueAt).toBe(at('2026-11-21T09:30:00Z'))
    expect(rig.look()).toBe(0)
    expect(rig.runHistory(schedule)).toEqual([])
  })

  it('makes one job and one row of the run history, however often it is checked', () => {
    const schedule = rig.create()
    goTo('2026-11-20T09:59:59Z')
    expect(rig.look()).toBe(0)
    goTo('2026-11-20T10:00:00Z')
    expect(rig.look()).toBe(1)
    expect(rig.look()).toBe(0)
    const [occurrence, ...more] = rig.runHistory(schedule)
    expect(more).toEqual([])
    expect(occurrence).toMatchObject({
      scheduleId: schedule.id,
      dueAt: at('2026-11-20T10:00:00Z'),
      origin: 'clock',
      state: 'ran',
      reason: REASONS.onTime,
      times: 1,
      untilAt: null,
      jobStatus: 'pending',
      noOp: false,
      costUsd: 0,
      priced: true,
      decidedAt: at('2026-11-20T10:00:00Z'),
    })
    expect(rig.read(schedule)).toMatchObject({
      status: 'active',
      lastStatus: 'running',
      nextDueAt: at('2026-11-20T11:00:00Z'),
      liveJobId: occurrence!.jobId,
      lastRun: occurrence,
    })
    expect(rig.jobs.getJob(rig.domain.db, occurrence!.jobId!)).toMatchObject({
      agentId: rig.agentId,
      channel: 'schedule',
      scheduleId: schedule.id,
      occurrenceId: occurrence!.id,
      title: 'News',
      task: 'Read the news.',
      conversationId: null,
      context: {
        schedule: { id: schedule.id, name: 'News' },
        dueAt: occurrence!.dueAt,
        timezone: 'UTC',
        origin: 'clock',
        caughtUp: false,
        lateMs: 0,
        previousRun: null,
      },
    })
  })

  it('passes the previous run to its job', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    rig.end(fired(schedule), { kind: 'completed', text: 'Nothing happened.' })
    goTo('2026-11-20T11:00:00Z')
    const job = rig.jobs.getJob(rig.domain.db, fired(schedule))
    expect(job.context).toMatchObject({
      previousRun: { at: at('2026-11-20T10:00:00Z'), status: 'completed', result: 'Nothing happened.' },
    })
  })

  test.each([
    [4, 'ran', REASONS.onTime],
    [40, 'ran', lateBy(40_000)],
    [90, 'ran', lateBy(90_000)],
    [91, 'caught_up', REASONS.caughtUp],
  ])('that is decided %i seconds late is %s', (seconds, state, reason) => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    rig.clock.advance(seconds * SECOND)
    expect(rig.look()).toBe(1)
    expect(last(schedule)).toMatchObject({ state, reason })
  })

  it('that is a little late runs also without catching up', () => {
    const schedule = rig.create({ catchUpHours: 0 })
    goTo('2026-11-20T10:01:00Z')
    fired(schedule)
    expect(states(schedule)).toEqual(['11-20T10:00 ran'])
  })
})

describe('the last status', () => {
  test.each<[AttemptOutcome, Schedule['lastStatus']]>([
    [{ kind: 'completed', text: 'Done.' }, 'success'],
    [{ kind: 'failed', error: 'model_unavailable', message: quote('It does not answer.') }, 'failed'],
    [{ kind: 'cancelled' }, 'cancelled'],
  ])('%j', (outcome, lastStatus) => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    rig.end(fired(schedule), outcome)
    expect(rig.read(schedule)).toMatchObject({ lastStatus, status: 'active', liveJobId: null })
  })

  it('shows that a run waits for an answer, and that it continues', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    rig.end(jobId, { kind: 'waiting', status: 'awaiting_approval' })
    expect(rig.read(schedule)).toMatchObject({ lastStatus: 'awaiting_approval', liveJobId: jobId })
    rig.write((tx) => rig.jobs.wake(tx, jobId))
    expect(rig.read(schedule).lastStatus).toBe('running')
    rig.end(jobId)
    expect(rig.read(schedule).lastStatus).toBe('success')
  })

  it('shows that the owner could not be notified', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    rig.end(fired(schedule))
    rig.write((tx) => rig.schedules.markNotifyUnreachable(tx, schedule.id))
    expect(rig.read(schedule).lastStatus).toBe('notify_unreachable')
    goTo('2026-11-20T11:00:00Z')
    fired(schedule)
    expect(rig.read(schedule).lastStatus).toBe('running')
  })
})

describe('a due time that comes during a run', () => {
  const WAYS: [string, (jobId: string) => void, Message][] = [
    ['waits for its turn', () => {}, createMessage('due_held')],
    ['runs', (jobId) => void rig.write((tx) => rig.jobs.claim(tx, jobId, 9)), createMessage('due_held')],
    [
      'waits for an answer',
      (jobId) => rig.end(jobId, { kind: 'waiting', status: 'awaiting_approval' }),
      createMessage('due_held_by_question'),
    ],
    ['waits for a delegated job', (jobId) => rig.end(jobId, { kind: 'waiting', status: 'awaiting_child' }), createMessage('due_held')],
  ]
  test.each(WAYS)('waits while the run %s, and runs at the first check after it', (_what, bring, reason) => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    bring(jobId)
    goTo('2026-11-20T11:00:00Z')
    expect(rig.look()).toBe(0)
    expect(last(schedule)).toMatchObject({ dueAt: at('2026-11-20T11:00:00Z'), state: 'due', reason, jobId: null, decidedAt: null })
    expect(rig.read(schedule)).toMatchObject({ status: 'active', nextDueAt: at('2026-11-20T12:00:00Z') })
    goTo('2026-11-20T11:40:00Z')
    expect(rig.look()).toBe(0)
    rig.write((tx) => void rig.jobs.cancel(tx, jobId))
    rig.write((tx) => void rig.jobs.forceCancel(tx, jobId))
    expect(rig.look()).toBe(1)
    expect(states(schedule)).toEqual(['11-20T10:00 ran', '11-20T11:00 ran'])
    expect(last(schedule)).toMatchObject({
      reason: REASONS.waited,
      decidedAt: at('2026-11-20T11:40:00Z'),
    })
    expect(rig.jobs.getJob(rig.domain.db, last(schedule).jobId!).context).toMatchObject({ lateMs: 40 * MINUTE, caughtUp: false })
  })

  it.each([
    ['is said to be stuck after more than two hours of work', 121 * MINUTE, 'due_held_by_stuck' as const],
    ['is not said to be stuck for a week that the machine slept', 30 * MINUTE, 'due_held' as const],
  ])('is not decided during a run which %s', (_what, workedMs, held) => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    const { claim } = rig.write((tx) => rig.jobs.claim(tx, jobId, 1000))!
    rig.clock.advance(workedMs)
    rig.write((tx) => rig.jobs.heartbeat(tx, [claim]))
    rig.clock.jump(7 * 24 * HOUR)
    expect(rig.look()).toBe(0)
    expect(rig.runHistory(schedule).at(-1)).toMatchObject({
      state: 'due',
      reason: createMessage(held),
    })
  })

  it('is skipped when the next one comes, which then waits', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    for (const time of ['11:00', '12:00', '13:00']) {
      goTo(`2026-11-20T${time}:00Z`)
      expect(rig.look()).toBe(0)
    }
    expect(states(schedule)).toEqual(['11-20T10:00 ran', '11-20T11:00 skipped_overlap', '11-20T12:00 skipped_overlap', '11-20T13:00 due'])
    const reasons = rig.runHistory(schedule).map(({ reason }) => reason)
    expect(reasons[1]).toEqual(createMessage('due_skipped'))
    expect(reasons[3]).toEqual(createMessage('due_held'))
    rig.end(jobId)
    fired(schedule)
    expect(states(schedule).at(-1)).toBe('11-20T13:00 ran')
    expect(rig.live(schedule)).toHaveLength(1)
  })

  it('also waits for a retry of the run before it', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    rig.end(jobId, { kind: 'failed', error: 'model_unavailable', message: quote('It does not answer.') })
    const retry = rig.write((tx) => rig.jobs.retry(tx, jobId))
    goTo('2026-11-20T11:00:00Z')
    expect(rig.look()).toBe(0)
    expect(states(schedule).at(-1)).toBe('11-20T11:00 due')
    rig.end(retry.id)
    expect(rig.read(schedule).lastStatus).toBe('success')
    expect(rig.look()).toBe(1)
  })

  it('runs after a crash of the process when the run before it has ended', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    rig.reboot()
    expect(rig.look()).toBe(0)
    rig.end(jobId)
    expect(rig.look()).toBe(1)
    expect(states(schedule)).toEqual(['11-20T10:00 ran', '11-20T11:00 ran'])
  })

  it('says that pause all holds the run before it', () => {
    rig.setPauseAll(true)
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    fired(schedule)
    expect(last(schedule)).toMatchObject({
      state: 'ran',
      reason: behindPauseAll(REASONS.onTime),
    })
    goTo('2026-11-20T11:00:00Z')
    expect(rig.look()).toBe(0)
    expect(last(schedule).reason).toEqual(createMessage('due_held_by_pause_all'))
  })
})

describe('a spent budget', () => {
  it('skips the due time, notifies the owner once, and ends with the next local day', () => {
    const schedule = rig.create({ dailyBudgetUsd: 2, timezone: 'Europe/Berlin' })
    rig.spend(2_000_000)
    goTo('2026-11-20T10:00:00Z')
    expect(rig.look()).toBe(0)
    expect(last(schedule)).toMatchObject({
      state: 'skipped_budget',
      jobId: null,
      decidedAt: at('2026-11-20T10:00:00Z'),
      reason: expect.objectContaining({ code: 'due_over_budget' }),
    })
    expect(rig.read(schedule)).toMatchObject({ status: 'budget_exhausted', lastStatus: 'budget_exhausted', agentSpentTodayUsd: 2 })
    const resumeAt = at('2026-11-20T23:00:00Z')
    const notification = { scheduleId: schedule.id, agentId: rig.agentId, name: 'News', notifyVia: 'auto', dailyBudgetUsd: 2, spentUsd: 2 }
    expect(rig.told).toEqual([{ ...notification, resumeAt, timezone: 'Europe/Berlin' }])
    goTo('2026-11-20T11:00:00Z')
    expect(rig.look()).toBe(0)
    expect(states(schedule)).toEqual(['11-20T10:00 skipped_budget', '11-20T11:00 skipped_budget'])
    expect(rig.told).toHaveLength(1)
    goTo('2026-11-20T22:59:59Z')
    rig.look()
    expect(rig.read(schedule).status).toBe('budget_exhausted')
    // A due time at exactly that moment runs.
    goTo('2026-11-20T23:00:00Z')
    expect(rig.schedules.nextAt(rig.domain.db)).toBe(resumeAt)
    expect(rig.look()).toBe(1)
    expect(rig.read(schedule)).toMatchObject({ status: 'active', agentSpentTodayUsd: 0 })
  })

  it('ends when the day begins, with or without a due time', () => {
    const schedule = rig.create({ cron: '0 10 * * *', dailyBudgetUsd: 2 })
    rig.spend(3_000_000)
    goTo('2026-11-20T10:00:00Z')
    rig.look()
    expect(rig.schedules.nextAt(rig.domain.db)).toBe(at('2026-11-21T00:00:00Z'))
    goTo('2026-11-21T00:00:00Z')
    expect(rig.look()).toBe(0)
    expect(rig.read(schedule)).toMatchObject({ status: 'active', lastStatus: 'budget_exhausted' })
  })

  it('notifies the owner once a day', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    rig.spend(1_000_000)
    goTo('2026-11-20T10:00:00Z')
    rig.look()
    rig.write((tx) => rig.schedules.update(tx, schedule.id, { dailyBudgetUsd: 2 }))
    rig.spend(1_000_000)
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    expect(rig.read(schedule).status).toBe('budget_exhausted')
    expect(rig.told).toHaveLength(1)
    goTo('2026-11-21T00:00:00Z')
    rig.spend(2_000_000)
    rig.look()
    expect(rig.told).toHaveLength(2)
  })

  it('counts all jobs of the agent and of no other agent', () => {
    const other = rig.domain.addAgent('Bob').id
    const [mine, others] = [rig.create({ dailyBudgetUsd: 1 }), rig.create({ dailyBudgetUsd: 1, agentId: other })]
    rig.spend(999_999)
    goTo('2026-11-20T10:00:00Z')
    expect(rig.look()).toBe(2)
    rig.end(rig.live(mine)[0]!, { kind: 'completed', text: '' }, 1)
    rig.end(rig.live(others)[0]!, { kind: 'completed', text: '' }, 1)
    goTo('2026-11-20T11:00:00Z')
    expect(rig.look()).toBe(1)
    expect(states(mine).at(-1)).toBe('11-20T11:00 skipped_budget')
    expect(states(others).at(-1)).toBe('11-20T11:00 ran')
    expect(rig.read(mine)).toMatchObject({ agentSpentTodayUsd: 1, spentTodayUsd: 0.000001 })
  })

  it('is compared with the spending of the agent that the schedule has now, of which its runs by another agent are no part', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    goTo('2026-11-20T10:00:00Z')
    rig.end(fired(schedule), { kind: 'completed', text: '' }, 500_000)
    expect(rig.read(schedule)).toMatchObject({ agentSpentTodayUsd: 0.5, spentTodayUsd: 0.5 })
    goTo('2026-11-20T11:00:00Z')
    const live = fired(schedule)
    const other = rig.domain.addAgent('Bob').id
    rig.write((tx) => rig.schedules.update(tx, schedule.id, { agentId: other }))
    rig.end(live, { kind: 'completed', text: '' }, 200_000)
    goTo('2026-11-20T12:00:00Z')
    rig.end(fired(schedule), { kind: 'completed', text: '' }, 100_000)
    expect(rig.read(schedule)).toMatchObject({ agentSpentTodayUsd: 0.1, spentTodayUsd: 0.1 })
  })

  it('does not count yesterday, also on days of 23 and 25 hours', () => {
    rig.close()
    for (const [day, spentAt, nextDay] of [
      ['2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
      ['2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ] as const) {
      rig = openScheduleRig(at(spentAt) - HOUR)
      const schedule = rig.create({ dailyBudgetUsd: 1, timezone: 'Europe/Berlin', cron: '30 * * * *' })
      rig.spend(5_000_000)
      goTo(`${spentAt.slice(0, 13)}:30:00Z`)
      expect(rig.look(), day).toBe(1)
      rig.end(rig.live(schedule)[0]!)
      rig.spend(1_000_000)
      goTo(`${day}T12:30:00Z`)
      expect(rig.look(), day).toBe(0)
      expect(rig.told[0]!.resumeAt, day).toBe(at(nextDay))
      goTo(nextDay)
      rig.look()
      expect(rig.read(schedule).status, day).toBe('active')
      if (day === '2026-03-29') rig.close()
    }
  })

  it('waits for the first moment of a day without midnight', () => {
    rig.close()
    // In Cairo the clock goes from 23:59:59 on 23 April to 01:00.
    rig = openScheduleRig(at('2026-04-23T12:00:00Z'))
    const schedule = rig.create({ dailyBudgetUsd: 1, timezone: 'Africa/Cairo' })
    rig.spend(1_000_000)
    goTo('2026-04-23T13:00:00Z')
    rig.look()
    expect(rig.told[0]!.resumeAt).toBe(at('2026-04-23T22:00:00Z'))
    goTo('2026-04-23T22:00:00Z')
    expect(rig.look()).toBe(1)
    expect(rig.read(schedule)).toMatchObject({ status: 'active', agentSpentTodayUsd: 0 })
  })

  it('lets the schedule continue at once when it is raised', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    rig.spend(2_000_000)
    goTo('2026-11-20T10:00:00Z')
    rig.look()
    expect(rig.write((tx) => rig.schedules.update(tx, schedule.id, { dailyBudgetUsd: 2 })).status).toBe('budget_exhausted')
    expect(rig.write((tx) => rig.schedules.update(tx, schedule.id, { dailyBudgetUsd: 2.01 })).status).toBe('active')
    goTo('2026-11-20T11:00:00Z')
    fired(schedule)
    expect(states(schedule)).toEqual(['11-20T10:00 skipped_budget', '11-20T11:00 ran'])
  })

  it('skips a waiting due time if the run before it has spent the rest', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    rig.end(jobId, { kind: 'completed', text: '' }, 1_000_000)
    expect(rig.look()).toBe(0)
    expect(states(schedule)).toEqual(['11-20T10:00 ran', '11-20T11:00 skipped_budget'])
    expect(rig.read(schedule)).toMatchObject({ status: 'budget_exhausted', lastStatus: 'budget_exhausted' })
  })

  it('stays visible when an earlier run ends, whether or not its owner could be notified', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    rig.spend(1_000_000)
    goTo('2026-11-20T11:00:00Z')
    expect(rig.look()).toBe(0)
    rig.end(jobId)
    expect(rig.read(schedule)).toMatchObject({ status: 'budget_exhausted', lastStatus: 'budget_exhausted' })
    rig.write((tx) => rig.schedules.markNotifyUnreachable(tx, schedule.id))
    expect(rig.read(schedule).lastStatus).toBe('budget_exhausted')
  })
})

describe('missed due times', () => {
  it('run once, for the newest one', () => {
    const schedule = rig.create()
    goTo('2026-11-20T14:20:00Z')
    fired(schedule)
    expect(states(schedule)).toEqual([...['10', '11', '12', '13'].map((hour) => `11-20T${hour}:00 missed`), '11-20T14:00 caught_up'])
    expect(rig.runHistory(schedule)[0]!.reason).toEqual(REASONS.missed)
    expect(rig.jobs.getJob(rig.domain.db, last(schedule).jobId!).context).toMatchObject({ caughtUp: true, lateMs: 20 * MINUTE })
    expect(rig.read(schedule).nextDueAt).toBe(at('2026-11-20T15:00:00Z'))
  })

  test.each([
    [24, '2026-11-21T10:00:00Z', 'caught_up'],
    [24, '2026-11-21T10:00:01Z', 'missed'],
    [1, '2026-11-20T11:00:00Z', 'caught_up'],
    [1, '2026-11-20T11:30:00Z', 'missed'],
    [0.5, '2026-11-20T10:30:00Z', 'caught_up'],
    [0, '2026-11-20T10:02:00Z', 'missed'],
  ])('within %d hours of catching up: decided at %s, the newest is %s', (catchUpHours, now, state) => {
    const schedule = rig.create({ cron: '0 10 20 * *', catchUpHours })
    goTo(now)
    expect(rig.look()).toBe(state === 'caught_up' ? 1 : 0)
    expect(states(schedule)).toEqual([`11-20T10:00 ${state}`])
    expect(last(schedule).reason.code).toBe(
      state === 'caught_up' ? 'due_caught_up' : catchUpHours === 0 ? 'due_no_catch_up' : 'due_too_long_ago',
    )
  })

  it('have a row each up to a thousand, and share one row beyond', () => {
    const [few, many] = [rig.create({ cron: '*/30 * * * *' }), rig.create({ cron: '* * * * *' })]
    rig.clock.advance(7 * DAY)
    expect(rig.look()).toBe(2)
    expect(rig.runHistory(few).filter(({ state, times }) => state === 'missed' && times === 1)).toHaveLength(335)
    const rows = rig.runHistory(many)
    expect(rows.map(({ state, times }) => [state, times])).toEqual([
      ['missed', 7 * 24 * 60 - 1],
      ['ran', 1],
    ])
    expect(rows[0]).toMatchObject({ dueAt: START + MINUTE, untilAt: START + 7 * DAY - MINUTE })
  })

  it('wait for an active run, and are recorded as caught up', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    goTo('2026-11-20T13:30:00Z')
    expect(rig.look()).toBe(0)
    expect(states(schedule)).toEqual(['11-20T10:00 ran', '11-20T11:00 skipped_overlap', '11-20T12:00 missed', '11-20T13:00 due'])
    rig.end(jobId)
    expect(rig.look()).toBe(1)
    expect(states(schedule).at(-1)).toBe('11-20T13:00 caught_up')
  })

  it('are skipped with a spent budget', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    rig.spend(1_000_000)
    goTo('2026-11-20T12:30:00Z')
    expect(rig.look()).toBe(0)
    expect(states(schedule)).toEqual(['11-20T10:00 missed', '11-20T11:00 missed', '11-20T12:00 skipped_budget'])
  })

  it('in safe mode are caught up with after it', () => {
    const schedule = rig.create()
    rig.reboot({ safeMode: true })
    goTo('2026-11-20T12:30:00Z')
    rig.reboot()
    expect(rig.look()).toBe(1)
    expect(states(schedule)).toEqual(['11-20T10:00 missed', '11-20T11:00 missed', '11-20T12:00 caught_up'])
  })
})

describe('a paused schedule', () => {
  it('records its due times and never runs them', () => {
    const schedule = rig.create()
    expect(rig.write((tx) => rig.schedules.pause(tx, schedule.id))).toMatchObject({ status: 'paused', nextDueAt: null })
    goTo('2026-11-20T10:00:00Z')
    expect(rig.look()).toBe(0)
    goTo('2026-11-20T12:10:00Z')
    const resumed = rig.write((tx) => rig.schedules.resume(tx, schedule.id))
    expect(resumed).toMatchObject({ status: 'active', nextDueAt: at('2026-11-20T13:00:00Z') })
    expect(rig.look()).toBe(0)
    expect(states(schedule)).toEqual(['11-20T10:00 paused', '11-20T11:00 paused', '11-20T12:00 paused'])
    expect(last(schedule).reason).toEqual(REASONS.paused)
    goTo('2026-11-20T13:00:00Z')
    expect(rig.look()).toBe(1)
  })

  it('skips a waiting due time, and lets a run continue', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    rig.write((tx) => rig.schedules.pause(tx, schedule.id))
    expect(states(schedule)).toEqual(['11-20T10:00 ran', '11-20T11:00 paused'])
    rig.end(jobId)
    expect(rig.look()).toBe(0)
    expect(rig.read(schedule)).toMatchObject({ status: 'paused', lastStatus: 'success' })
  })

  it('skips a waiting due time of other times, which apply from the change on', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    rig.write((tx) => rig.schedules.update(tx, schedule.id, { cron: '0 8 1 * *' }))
    expect(states(schedule)).toEqual(['11-20T10:00 ran', '11-20T11:00 skipped_overlap'])
    rig.end(jobId)
    expect(rig.look()).toBe(0)
    expect(last(schedule).reason).toEqual(REASONS.planChanged)
  })

  it('runs a due time that came just before the pause', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:01Z')
    rig.write((tx) => rig.schedules.pause(tx, schedule.id))
    expect(states(schedule)).toEqual(['11-20T10:00 ran'])
    expect(rig.live(schedule)).toHaveLength(1)
  })

  it('has one row for more than a thousand due times', () => {
    const schedule = rig.create({ cron: '* * * * *' })
    rig.write((tx) => rig.schedules.pause(tx, schedule.id))
    rig.clock.advance(1001 * MINUTE)
    rig.look()
    rig.clock.advance(MINUTE)
    rig.look()
    expect(rig.runHistory(schedule)).toMatchObject([
      { state: 'paused', times: 1001, dueAt: START + MINUTE, untilAt: START + 1001 * MINUTE },
      { state: 'paused', times: 1, dueAt: START + 1002 * MINUTE },
    ])
  })

  it('becomes active with a spent budget, and does not notify twice', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    rig.spend(1_000_000)
    goTo('2026-11-20T10:00:00Z')
    rig.look()
    rig.write((tx) => rig.schedules.pause(tx, schedule.id))
    rig.write((tx) => rig.schedules.resume(tx, schedule.id))
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    expect(rig.read(schedule).status).toBe('budget_exhausted')
    expect(rig.told).toHaveLength(1)
  })
})

describe('a change', () => {
  it('of cron or time zone counts from now on, after old due times are decided', () => {
    const schedule = rig.create({ catchUpHours: 0 })
    goTo('2026-11-20T11:20:00Z')
    const changed = rig.write((tx) => rig.schedules.update(tx, schedule.id, { cron: '15 * * * *' }))
    expect(changed.nextDueAt).toBe(at('2026-11-20T12:15:00Z'))
    expect(states(schedule)).toEqual(['11-20T10:00 missed', '11-20T11:00 missed'])
    const moved = rig.write((tx) => rig.schedules.update(tx, schedule.id, { timezone: 'Asia/Kathmandu' }))
    expect(moved.nextDueAt).toBe(at('2026-11-20T11:30:00Z'))
  })

  it('of other fields keeps the next due time', () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    const other = rig.domain.addAgent('Bob').id
    const changes = { name: 'Olds', task: 'Read old news.', agentId: other, catchUpHours: 1, notifyOnSuccess: true, scheduleCursor: 'seen' }
    expect(rig.write((tx) => rig.schedules.update(tx, schedule.id, { ...changes, cron: '0 10 * * *' }))).toMatchObject({
      ...changes,
      agentName: 'Bob',
      nextDueAt: schedule.nextDueAt,
    })
  })

  it('does not affect an active run or the run history', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    const jobId = fired(schedule)
    rig.write((tx) => rig.schedules.update(tx, schedule.id, { task: 'Something else.', cron: '*/5 * * * *' }))
    expect(rig.jobs.getJob(rig.domain.db, jobId).task).toBe('Read the news.')
    goTo('2026-11-20T10:05:00Z')
    expect(rig.look()).toBe(0)
    expect(states(schedule)).toEqual(['11-20T10:00 ran', '11-20T10:05 due'])
  })

  it('of the time zone moves the day of a spent budget', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    rig.spend(1_000_000)
    goTo('2026-11-20T10:00:00Z')
    rig.look()
    // There the next day begins in an hour, and the spend of this morning counts for the present one.
    expect(rig.write((tx) => rig.schedules.update(tx, schedule.id, { timezone: 'Pacific/Auckland' })).status).toBe('budget_exhausted')
    expect(rig.schedules.nextAt(rig.domain.db)).toBe(at('2026-11-20T11:00:00Z'))
    // There the spend was yesterday.
    expect(rig.write((tx) => rig.schedules.update(tx, schedule.id, { timezone: 'Pacific/Kiritimati' })).status).toBe('active')
  })
})

describe('a run that a person starts', () => {
  it('starts at once, whatever the budget, and is in the run history', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    rig.spend(5_000_000)
    const { jobId, occurrence } = rig.write((tx) => rig.schedules.runNow(tx, schedule.id))
    expect(occurrence).toMatchObject({
      state: 'ran',
      origin: 'run_now',
      dueAt: START,
      jobId,
      jobStatus: 'pending',
      reason: REASONS.startedByPerson,
    })
    expect(rig.read(schedule)).toMatchObject({ status: 'active', lastStatus: 'running', lastRun: { id: occurrence.id }, liveJobId: jobId })
    expect(rig.read(schedule).nextDueAt).toBe(schedule.nextDueAt)
  })

  it('is rejected during a run, and makes the next due time wait', () => {
    const schedule = rig.create()
    const { jobId } = rig.write((tx) => rig.schedules.runNow(tx, schedule.id))
    expect(() => rig.write((tx) => rig.schedules.runNow(tx, schedule.id))).toThrow('still active')
    goTo('2026-11-20T10:00:00Z')
    expect(rig.look()).toBe(0)
    expect(states(schedule).at(-1)).toBe('11-20T10:00 due')
    rig.end(jobId)
    expect(rig.look()).toBe(1)
  })

  it('can be started twice in the same millisecond', () => {
    const schedule = rig.create()
    for (const _again of [1, 2]) rig.end(rig.write((tx) => rig.schedules.runNow(tx, schedule.id)).jobId)
    expect(rig.runHistory(schedule).map(({ origin }) => origin)).toEqual(['run_now', 'run_now'])
  })
})
