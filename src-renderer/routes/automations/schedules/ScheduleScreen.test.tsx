import { messageText } from '../../../lib/message-text.ts'
import { quote } from '../../../testing/things.ts'
import { screen, waitFor, within } from '@solidjs/testing-library'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { JobStatus } from '../../../../src-runner/contract/jobs.ts'
import { type Occurrence, OccurrenceState, type Schedule } from '../../../../src-runner/contract/schedules.ts'
import { createFakeRunner, Refusal } from '../../../testing/fake-runner.ts'
import { renderScreen } from '../../../testing/render.tsx'
import { makeId, makeJob, makeOccurrence, makeSchedule } from '../../../testing/things.ts'
import { ScheduleScreen } from './ScheduleScreen.tsx'

function open(fields: Partial<Schedule> = {}, occurrences: Occurrence[] = [], query = '') {
  const held = { schedule: makeSchedule({ name: 'Summary', ...fields }), occurrences, liveStatus: 'running' as JobStatus, workingMs: 0 }
  const change = (changes: Partial<Schedule>) => {
    held.schedule = { ...held.schedule, ...changes }
    runner.happen({ type: 'schedule.changed', payload: { scheduleId: held.schedule.id } })
    return { schedule: held.schedule }
  }
  const runner = createFakeRunner({
    getSchedule: ({ params }) => (params.scheduleId === held.schedule.id ? { schedule: held.schedule } : new Refusal('schedule_not_found')),
    listOccurrences: () => ({ occurrences: [...held.occurrences], nextCursor: null }),
    pauseSchedule: () => change({ status: 'paused', nextDueAt: null }),
    resumeSchedule: () => change({ status: 'active' }),
    updateSchedule: ({ body }) => change(body),
    deleteSchedule: () => ({ ok: true }),
    getJob: ({ params }) => ({ job: makeJob({ id: params.jobId, status: held.liveStatus, workingMs: held.workingMs }) }),
    runScheduleNow: () => {
      const occurrence = makeOccurrence({
        origin: 'run_now',
        jobStatus: 'running',
        reason: quote('You asked for it.'),
        decidedAt: Date.now(),
      })
      held.occurrences.unshift(occurrence)
      change({ liveJobId: occurrence.jobId, lastStatus: 'running', lastRun: occurrence })
      return { jobId: occurrence.jobId!, occurrence }
    },
  })
  const path = `/automations/schedules/${held.schedule.id}${query}`
  return { ...renderScreen(ScheduleScreen, { route: '/automations/schedules/:scheduleId', path, runner }), held }
}

const runHistory = () => screen.findByRole('list', { name: 'Run history' })

describe('one schedule', () => {
  it('shows its facts', async () => {
    open({ cron: '*/10 * * * *', isWatcher: true, catchUpHours: 0, notifyOnSuccess: true, notifyVia: 'telegram' })
    const facts = (await screen.findByText('Every 10 minutes')).closest('dl')!
    for (const fact of ['*/10 * * * * · Europe/Berlin', '$0.50 of $5.00', '$0.20 of it by this schedule', 'Skipped', 'On, via Telegram']) {
      expect(facts).toHaveTextContent(fact)
    }
    expect(screen.getByText('Frequent')).toBeInTheDocument()
  })

  it('runs now, shows the run in the run history, and cannot be run twice', async () => {
    const { user } = open()
    expect(await screen.findByText('No runs yet')).toBeInTheDocument()
    await user.click(screen.getByRole('button', { name: 'Run now' }))
    const row = within(await runHistory()).getByRole('listitem')
    expect(row).toHaveTextContent('Manual')
    expect(row).toHaveTextContent('You asked for it.')
    expect(within(row).getByRole('link', { name: 'Running' })).toBeInTheDocument()
    expect(await screen.findByText(/A run is in progress/)).toBeInTheDocument()
    expect(screen.getByRole('button', { name: 'Run now' })).toBeDisabled()
  })

  it.each([
    ['has been at work for long', 3 * 3_600_000, /active for 3h/],
    ['began a week ago, and the computer slept', 60_000, /A run is in progress/],
  ])('says of a run that %s how it stands', async (_what, workingMs, sentence) => {
    const began = Date.now() - 7 * 86_400_000
    const lastRun = makeOccurrence({ jobStatus: 'running', dueAt: began, decidedAt: began })
    const { held } = open({ liveJobId: lastRun.jobId, lastStatus: 'running', lastRun })
    held.workingMs = workingMs
    expect(await screen.findByText(sentence)).toBeInTheDocument()
  })

  it('shows what is spent today without an event, because at midnight it begins again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { held } = open({ agentSpentTodayUsd: 1.2, dailyBudgetUsd: 5 })
    await screen.findByText('$1.20 of $5.00')
    held.schedule = { ...held.schedule, agentSpentTodayUsd: 0 }
    // A request that is under way, such as the one when the stream opens, counts as the next one.
    await vi.waitFor(() => {
      vi.advanceTimersByTime(5 * 60_000)
      screen.getByText('$0.00 of $5.00')
    })
  })

  it('says why it could not be run', async () => {
    const { user, runner } = open()
    runner.answer({ runScheduleNow: () => new Refusal('schedule_is_running', 'The runner’s own sentence, in English.') })
    await user.click(await screen.findByRole('button', { name: 'Run now' }))
    expect(await screen.findByText('A run of this schedule is still active. Stop it, or wait until it ends.')).toBeInTheDocument()
  })

  it('says that the budget is used up, and when it resumes', async () => {
    open({ status: 'budget_exhausted', agentSpentTodayUsd: 5.04, dailyBudgetUsd: 5, timezone: 'Asia/Tokyo' })
    expect(await screen.findByText(/The agent has spent \$5\.04 today\. This schedule’s limit is \$5\.00/)).toHaveTextContent(
      /Resumes (in .+|now), at the start of the day in Asia\/Tokyo/,
    )
    expect(screen.getByRole('link', { name: 'Change limit' })).toHaveAttribute('href', expect.stringMatching(/\/edit$/))
  })

  it('says that a run waits for an approval, or has been active for long', async () => {
    const jobId = makeId()
    const { held, runner } = open({ liveJobId: jobId, lastStatus: 'awaiting_approval' })
    held.liveStatus = 'awaiting_approval'
    expect(await screen.findByText(/needs your approval/)).toBeInTheDocument()
    // Answered: the schedule has no news of its own, the job has.
    held.liveStatus = 'running'
    runner.happen({ type: 'job.requeued', payload: { jobId, agentId: jobId, conversationId: null, reason: 'woken' } })
    expect(await screen.findByText(/A run is in progress/)).toBeInTheDocument()
    expect(screen.getByRole('link', { name: 'Open run' })).toHaveAttribute('href', `/jobs/${jobId}`)
    held.workingMs = 3 * 3_600_000 + 90_000
    runner.happen({ type: 'job.step_recorded', payload: { jobId, conversationId: null, seq: 1, kind: 'reply', costUsd: 0 } })
    expect(await screen.findByText(/active for 3h 01m/)).toBeInTheDocument()
  })

  it('reads the run history again when a run waits for an approval, and when it continues', async () => {
    const jobId = makeId()
    const { held, runner } = open({ liveJobId: jobId, lastStatus: 'running' }, [makeOccurrence({ jobId, jobStatus: 'running' })])
    await runHistory()
    const ids = { jobId, agentId: makeId(), conversationId: null, scheduleId: held.schedule.id }
    for (const event of [
      { type: 'job.waiting', payload: { ...ids, status: 'awaiting_approval' } },
      { type: 'job.requeued', payload: { ...ids, reason: 'woken' } },
    ] as const) {
      const before = runner.callsOf('listOccurrences').length
      runner.happen(event)
      await waitFor(() => expect(runner.callsOf('listOccurrences').length).toBeGreaterThan(before))
    }
  })

  it('is paused and resumed', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Pause' }))
    expect(await screen.findByText(/runs are skipped and not made up for/)).toBeInTheDocument()
    await user.click(await screen.findByRole('button', { name: 'Resume' }))
    expect(await screen.findByRole('button', { name: 'Pause' })).toBeInTheDocument()
  })

  it('asks by name before it is deleted', async () => {
    const { user, path, runner, held } = open()
    await user.click(await screen.findByRole('button', { name: 'More' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Delete' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Delete Summary?' })
    await user.click(within(dialog).getByRole('button', { name: 'Delete schedule' }))
    await waitFor(() => expect(path()).toBe('/automations/schedules'))
    expect(runner.callsOf('deleteSchedule')[0]!.params).toEqual({ scheduleId: held.schedule.id })
  })

  it('shows the saved notes, and asks before it clears them', async () => {
    const { user, runner } = open({ isWatcher: true, scheduleCursor: 'last seen: #41' })
    expect(await screen.findByRole('group', { name: 'Notes' })).toHaveTextContent('last seen: #41')
    await user.click(screen.getByRole('button', { name: 'Clear…' }))
    await user.click(await screen.findByRole('button', { name: 'Clear notes' }))
    expect(await screen.findByText('No notes.')).toBeInTheDocument()
    expect(runner.callsOf('updateSchedule')[0]!.body).toEqual({ scheduleCursor: null })
    expect(screen.queryByRole('button', { name: 'Clear…' })).not.toBeInTheDocument()
  })
})

describe('its run history', () => {
  it('has a word and the reason for every state', async () => {
    const rows = OccurrenceState.options.map((state) =>
      makeOccurrence({
        state,
        reason: quote(`Because of ${state}.`),
        ...(!['ran', 'caught_up'].includes(state) && { jobId: null, jobStatus: null }),
      }),
    )
    open({}, rows)
    const items = within(await runHistory()).getAllByRole('listitem')
    expect(items).toHaveLength(rows.length)
    rows.forEach((row, at) => expect(items[at]).toHaveTextContent(messageText(row.reason)))
    expect(new Set(items.map((item) => item.querySelector('svg')!.innerHTML)).size).toBe(rows.length)
  })

  it('shows the cost and the no-op result of a run, and links to its job', async () => {
    const run = makeOccurrence({ noOp: true, costUsd: 0.0042 })
    open({}, [run])
    const item = within(await runHistory()).getByRole('listitem')
    expect(item).toHaveTextContent('Nothing new')
    expect(item).toHaveTextContent('$0.0042')
    expect(within(item).getByRole('link', { name: 'Completed' })).toHaveAttribute('href', `/jobs/${run.jobId}`)
  })

  it('shows an unpriced run as unpriced, never as free', async () => {
    const { runner } = open({}, [makeOccurrence({ costUsd: 0, priced: false })])
    const ran = { state: 'ran' as const, jobStatus: 'completed' as const, noOp: false, times: 1, reason: quote('It was due.'), lastAt: 1 }
    runner.answer({ sumUpSchedules: () => ({ all: [ran], costUsd: 0, priced: false, schedules: [], count: 0 }) })
    expect(within(await runHistory()).getByRole('listitem')).toHaveTextContent('unpriced')
    const week = (await screen.findByRole('heading', { name: 'Last 7 days' })).parentElement!
    expect(week).toHaveTextContent('unpriced')
    expect(screen.queryByText('$0.00')).not.toBeInTheDocument()
  })

  it('sums up repeated outcomes', async () => {
    const at = Date.parse('2026-05-12T07:00:00Z')
    open({}, [makeOccurrence({ state: 'missed', jobId: null, jobStatus: null, times: 92, dueAt: at, untilAt: at + 23 * 3_600_000 })])
    const item = within(await runHistory()).getByRole('listitem')
    expect(item).toHaveTextContent('92 runs')
    expect(item).toHaveTextContent(/May 12, 9:00.AM.–.Wed, May 13, 8:00.AM/)
  })

  it('folds runs missed for the same reason, and unfolds them', async () => {
    const missed = [5, 4, 3, 2, 1].map((hour) =>
      makeOccurrence({
        state: 'missed',
        reason: quote('Asleep.'),
        jobId: null,
        jobStatus: null,
        dueAt: 1_700_000_000_000 + hour * 3_600_000,
      }),
    )
    const { user } = open({}, [makeOccurrence({ state: 'caught_up' }), ...missed])
    const items = within(await runHistory()).getAllByRole('listitem')
    expect(items).toHaveLength(2)
    expect(items[1]).toHaveTextContent(/Missed\s*5 runs.*–.*Asleep\./)
    expect(screen.getByRole('img', { name: /^Last 6 runs: .*5 × Missed/ })).toBeVisible()
    await user.click(screen.getByRole('button', { name: 'Show all 5 runs' }))
    expect(within(await runHistory()).getAllByRole('listitem')).toHaveLength(7)
    await user.click(screen.getByRole('button', { name: 'Group runs' }))
    expect(within(await runHistory()).getAllByRole('listitem')).toHaveLength(2)
  })

  it('unfolds an entry when the URL names one of its runs', async () => {
    const missed = [3, 2, 1].map((hour) =>
      makeOccurrence({
        state: 'missed',
        reason: quote('Asleep.'),
        jobId: null,
        jobStatus: null,
        dueAt: 1_700_000_000_000 + hour * 3_600_000,
      }),
    )
    open({}, missed, `?occurrence=${missed[1]!.id}`)
    const items = within(await runHistory()).getAllByRole('listitem')
    expect(items.map((item) => item.getAttribute('aria-current'))).toEqual([null, null, 'true', null])
  })

  it('loads pages until the last entry is complete', async () => {
    const missed = Array.from({ length: 5 }, () =>
      makeOccurrence({ state: 'missed', reason: quote('Asleep.'), jobId: null, jobStatus: null }),
    )
    const { runner } = open()
    runner.answer({
      listOccurrences: ({ query }) =>
        query.cursor === undefined
          ? { occurrences: missed.slice(0, 3), nextCursor: 'next' }
          : { occurrences: [...missed.slice(3), makeOccurrence()], nextCursor: 'more' },
    })
    expect(await screen.findByText('5 runs')).toBeVisible()
    expect(runner.callsOf('listOccurrences').map(({ query }) => query.cursor)).toEqual([undefined, 'next'])
    // What is further back waits until it is asked for.
    expect(screen.getAllByRole('button', { name: 'More' })).toHaveLength(2)
  })

  it('shows the newest lines first, and more on request', async () => {
    const { user } = open(
      {},
      Array.from({ length: 60 }, () => makeOccurrence()),
    )
    expect(within(await runHistory()).getAllByRole('listitem')).toHaveLength(25)
    const more = () => screen.getAllByRole('button', { name: 'More' }).at(-1)!
    await user.click(more())
    expect(within(await runHistory()).getAllByRole('listitem')).toHaveLength(50)
    await user.click(more())
    expect(within(await runHistory()).getAllByRole('listitem')).toHaveLength(60)
    // The menu of the schedule alone is left.
    expect(screen.getAllByRole('button', { name: 'More' })).toHaveLength(1)
  })

  it('explains the glyphs of its strip, each once', async () => {
    const missed = { state: 'missed', jobId: null, jobStatus: null } as const
    open({}, [makeOccurrence(), makeOccurrence(), makeOccurrence(missed), makeOccurrence({ state: 'caught_up' })])
    const legend = await screen.findByRole('list', { name: 'Legend' })
    const words = within(legend).getAllByRole('listitem')
    expect(words.map((word) => word.textContent).toSorted()).toEqual(['Missed', 'Ran', 'Ran late'])
  })

  it('shows the outcomes and the cost of the last week', async () => {
    const { runner, held } = open({}, [makeOccurrence()])
    runner.answer({
      sumUpSchedules: () => ({
        all: [
          { state: 'ran', jobStatus: 'completed', noOp: true, times: 3, reason: quote('On time.'), lastAt: 1 },
          { state: 'ran', jobStatus: 'completed', noOp: false, times: 2, reason: quote('On time.'), lastAt: 2 },
          { state: 'missed', jobStatus: null, noOp: false, times: 54, reason: quote('Asleep.'), lastAt: 3 },
          { state: 'caught_up', jobStatus: 'failed', noOp: false, times: 1, reason: quote('Late.'), lastAt: 4 },
        ],
        costUsd: 0.42,
        priced: true,
        schedules: [],
        count: 1,
      }),
    })
    const week = (await screen.findByRole('heading', { name: 'Last 7 days' })).parentElement!
    expect(
      within(week)
        .getAllByRole('listitem')
        .map((item) => item.textContent),
    ).toEqual(['5 ran', '1 failed', '54 missed'])
    expect(week).toHaveTextContent('$0.42')
    const [asked] = runner.callsOf('sumUpSchedules')
    expect(asked!.query.scheduleId).toBe(held.schedule.id)
    expect(Date.now() - asked!.query.from).toBeGreaterThanOrEqual(7 * 86_400_000)
  })

  it('marks the run that the URL names', async () => {
    const [one, other] = [makeOccurrence({ reason: quote('First.') }), makeOccurrence({ reason: quote('Second.') })]
    open({}, [one, other], `?occurrence=${other.id}`)
    const items = within(await runHistory()).getAllByRole('listitem')
    expect(items.map((item) => item.getAttribute('aria-current'))).toEqual([null, 'true'])
  })

  it('follows new runs', async () => {
    const view = open({}, [makeOccurrence()])
    expect(within(await runHistory()).getAllByRole('listitem')).toHaveLength(1)
    view.held.occurrences.unshift(makeOccurrence({ state: 'skipped_overlap', jobId: null, jobStatus: null }))
    view.runner.happen({ type: 'schedule.skipped', payload: { scheduleId: view.held.schedule.id, state: 'skipped_overlap' } })
    expect(await within(await runHistory()).findByText('Skipped: still running')).toBeInTheDocument()
    // What the signs of the strip mean stands below it.
    expect(within(screen.getByRole('list', { name: 'Legend' })).getAllByRole('listitem')).toHaveLength(2)
  })
})
