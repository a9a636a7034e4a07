import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Occurrence, Schedule, UpcomingRun } from '../../../../src-runner/contract/schedules.ts'
import { changeLanguage } from '../../../lib/language.ts'
import { createFakeRunner } from '../../../testing/fake-runner.ts'
import { renderScreen } from '../../../testing/render.tsx'
import { makeId, makeJob, makeOccurrence, makeSchedule } from '../../../testing/things.ts'
import { AutomationsScreen } from '../AutomationsScreen.tsx'

function open(schedules: Schedule[], { occurrences = [], runs = [] }: { occurrences?: Occurrence[]; runs?: UpcomingRun[] } = {}) {
  const runner = createFakeRunner({
    listSchedules: () => ({ schedules, nextCursor: null }),
    listOccurrences: () => ({ occurrences, nextCursor: null }),
    listUpcomingRuns: () => ({ runs }),
    getJob: ({ params }) => ({
      job: makeJob({
        id: params.jobId,
        status:
          schedules.find((one) => one.liveJobId === params.jobId)?.lastStatus === 'awaiting_approval' ? 'awaiting_approval' : 'running',
      }),
    }),
  })
  return renderScreen(AutomationsScreen, { route: '/automations/:tab?', path: '/automations/schedules', runner })
}

const row = async (name: string) => (await screen.findByText(name)).closest('li')!

it('shows the rhythm, the state and the budget of each schedule', async () => {
  open([
    makeSchedule({
      name: 'Summary',
      cron: '0 9 * * 1-5',
      agentSpentTodayUsd: 1.2,
      dailyBudgetUsd: 5,
      nextDueAt: Date.now() + 2.5 * 3_600_000,
    }),
    makeSchedule({ name: 'Costly', status: 'budget_exhausted', agentSpentTodayUsd: 5.04 }),
    makeSchedule({ name: 'Asleep', status: 'paused', nextDueAt: null }),
    makeSchedule({ name: 'Busy', liveJobId: makeId(), lastStatus: 'running' }),
    makeSchedule({ name: 'Held', liveJobId: makeId(), lastStatus: 'awaiting_approval' }),
  ])
  expect(await row('Summary')).toHaveTextContent(/Weekdays at 9:00.AM · Europe\/Berlin/)
  expect(await row('Summary')).toHaveTextContent('in 2 hr.')
  expect(within(await row('Summary')).getByRole('meter', { name: 'Daily spending limit' })).toHaveAttribute(
    'aria-valuetext',
    '$1.20 of $5.00',
  )
  expect(await row('Costly')).toHaveTextContent('Spending limit reached')
  expect(await row('Asleep')).toHaveTextContent('Paused')
  expect(await row('Busy')).toHaveTextContent('Running')
  expect(await row('Held')).toHaveTextContent('Needs approval')
})

it('shows a schedule in a time zone that the page does not know', async () => {
  open([makeSchedule({ name: 'Rover', timezone: 'Mars/Base', agentSpentTodayUsd: 5, dailyBudgetUsd: 5, nextDueAt: Date.now() })])
  expect(await row('Rover')).toHaveTextContent('Mars/Base')
})

it('describes an unusual expression in the language of the person', async () => {
  open([makeSchedule({ name: 'Odd', cron: '0 9-17/2 * 6 *' })])
  expect(await screen.findByText(/every 2 hours, between 09:00 AM and 05:00 PM, only in June/i)).toBeInTheDocument()
  changeLanguage('de')
  expect(await screen.findByText(/alle 2 Stunden.*nur im Juni/i)).toBeInTheDocument()
  changeLanguage('en')
})

it('shows the last runs as glyphs with a label', async () => {
  open([makeSchedule({ name: 'Summary' })], {
    occurrences: [
      makeOccurrence({ state: 'ran', jobStatus: 'running' }),
      makeOccurrence({ state: 'ran', noOp: true }),
      makeOccurrence({ state: 'caught_up' }),
      makeOccurrence({ state: 'missed', jobId: null, jobStatus: null, times: 12, untilAt: 1_700_000_900_000 }),
      makeOccurrence({ state: 'skipped_budget', jobId: null, jobStatus: null }),
      makeOccurrence({ state: 'ran', jobStatus: 'failed' }),
    ],
  })
  const strip = await screen.findByRole('img', { name: /^Last 17 runs/ })
  for (const part of [
    '1 × Ran: Running',
    '1 × Ran: Nothing new',
    '1 × Ran late',
    '12 × Missed',
    '1 × Skipped: spending limit',
    '1 × Ran: Failed',
  ]) {
    expect(strip.getAttribute('aria-label')).toContain(part)
  }
  // Told apart without colour: no two of them have the same drawing.
  const drawings = [...strip.querySelectorAll('svg')].map((svg) => svg.innerHTML)
  expect(new Set(drawings).size).toBe(6)
})

it('promises no run for today once the limit of the day is reached', async () => {
  const at = (minutes: number) => Date.now() + minutes * 60_000
  const spent = { agentSpentTodayUsd: 5, dailyBudgetUsd: 5, timezone: 'UTC' }
  open([
    makeSchedule({ name: 'Spent', ...spent, nextDueAt: Date.now() }),
    makeSchedule({ name: 'Tomorrow', ...spent, nextDueAt: at(24 * 60) }),
    makeSchedule({ name: 'Frugal', agentSpentTodayUsd: 1, dailyBudgetUsd: 5, nextDueAt: at(14) }),
  ])
  expect(await row('Spent')).toHaveTextContent('Spending limit reached today')
  expect(await row('Tomorrow')).not.toHaveTextContent('Spending limit')
  expect(await row('Frugal')).toHaveTextContent(/in 1[34] min/)
})

it('shows what is spent today without an event, because at midnight it begins again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const schedule = makeSchedule({ name: 'Summary', agentSpentTodayUsd: 1.2, dailyBudgetUsd: 5 })
  const { runner } = open([schedule])
  await screen.findByText('$1.20 of $5.00')
  runner.answer({ listSchedules: () => ({ schedules: [{ ...schedule, agentSpentTodayUsd: 0 }], nextCursor: null }) })
  // A request that is under way, such as the one when the stream opens, counts as the next one.
  await vi.waitFor(() => {
    vi.advanceTimersByTime(5 * 60_000)
    screen.getByText('$0.00 of $5.00')
  })
})

it('lists the runs within a day, and what would block them', async () => {
  const now = Date.now()
  const [first, second] = [makeSchedule({ name: 'Summary' }), makeSchedule({ name: 'Watch' })]
  open([first, second], {
    runs: [
      {
        scheduleId: first.id,
        name: 'Summary',
        agentName: 'Ada',
        dueAt: now + 300_000,
        untilAt: now + 300_000,
        times: 1,
        blockedBy: 'budget',
      },
      {
        scheduleId: second.id,
        name: 'Watch',
        agentName: 'Bob',
        dueAt: now + 600_000,
        untilAt: now + 80_000_000,
        times: 92,
        blockedBy: null,
      },
    ],
  })
  const panel = (await screen.findByRole('heading', { name: 'Next 24 hours' })).closest('section')!
  const items = await within(panel).findAllByRole('listitem')
  expect(items[0]).toHaveTextContent('Summary')
  expect(items[0]).toHaveTextContent('spending limit reached')
  expect(items[1]).toHaveTextContent(/92 runs until/)
})

it('explains schedules when there are none', async () => {
  open([])
  expect(await screen.findByText('No schedules yet')).toBeInTheDocument()
  expect(screen.getByRole('link', { name: 'Use an example' })).toHaveAttribute('href', '/automations/schedules/new?example=1')
})

it('shows a part of many schedules, and finds any by its name', async () => {
  const all = Array.from({ length: 60 }, (_, n) => makeSchedule({ name: `Watch ${n}`, agentName: n === 59 ? 'Bruno' : 'Ada' }))
  const { user, runner, path } = open([])
  runner.answer({
    listSchedules: ({ query }) =>
      query.cursor === undefined ? { schedules: all.slice(0, 40), nextCursor: 'next' } : { schedules: all.slice(40), nextCursor: null },
  })
  const rows = async () => within(await screen.findByRole('list', { name: 'Schedules' })).queryAllByRole('listitem')
  await waitFor(async () => expect(await rows()).toHaveLength(25))
  await user.click(screen.getByRole('button', { name: 'More' }))
  await waitFor(async () => expect(await rows()).toHaveLength(50))
  await user.type(screen.getByRole('searchbox', { name: 'Search schedules' }), 'bru')
  await waitFor(async () => expect((await rows()).map((row) => row.textContent)).toEqual([expect.stringContaining('Watch 59')]))
  expect(path()).toBe('/automations/schedules?q=bru')
  await user.type(screen.getByRole('searchbox'), 'x')
  expect(await screen.findByText('No results for “brux”')).toBeVisible()
})

it('has no search for a few schedules', async () => {
  open([makeSchedule({ name: 'Summary' })])
  await row('Summary')
  expect(screen.queryByRole('searchbox')).toBeNull()
})
