import { quote } from '../../testing/things.ts'
import { screen, waitFor, within } from '@solidjs/testing-library'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import {
  makeAgent,
  makeApproval,
  makeCodeTask,
  makeFacts,
  makeId,
  makeJob,
  makeModel,
  makeOccurrence,
  makeSummary,
} from '../../testing/things.ts'
import type { JobSummary } from '../../../src-runner/contract/jobs.ts'
import type { OccurrenceSum } from '../../../src-runner/contract/schedules.ts'
import { markBack, notePresence } from '../../lib/presence.ts'
import { markSeen } from '../../lib/seen.ts'
import { HomeScreen } from './HomeScreen.tsx'

const agent = makeAgent({ name: 'File guide', isDefault: true, model: { providerId: 'demo', model: 'demo' } })

function runnerWith(jobs: JobSummary[]) {
  return createFakeRunner({
    listAgents: () => ({ agents: [agent], nextCursor: null }),
    listModels: () => ({ models: [makeModel()], problems: [], defaultModel: { providerId: 'demo', model: 'demo' }, nextCursor: null }),
    listJobs: ({ query }) => ({
      jobs: jobs.filter((job) => query.status === undefined || query.status.includes(job.status)),
      nextCursor: null,
    }),
    getJob: ({ params }) => {
      const summary = jobs.find((job) => job.id === params.jobId)
      return summary === undefined ? new Refusal('job_not_found') : { job: makeJob(summary) }
    },
  })
}

it('says that nothing needs attention, what today cost, and how to start', async () => {
  const runner = runnerWith([])
  runner.answer({ getSpend: () => ({ rows: [], totalUsd: 1.5, unpricedCalls: 2 }) })
  const { user } = renderScreen(HomeScreen, { runner })
  await screen.findByText('You’re all caught up.')
  expect(await screen.findByText('$1.50')).toBeVisible()
  expect(screen.getByText('2 calls without a known price are not counted')).toBeVisible()
  const from = runner.callsOf('getSpend')[0]!.query.from!
  expect(new Date(from).getHours()).toBe(0)
  // The example fills the form.
  await user.click(await screen.findByRole('button', { name: 'Try an example' }))
  await waitFor(() => expect(screen.getByRole('textbox', { name: 'New job' })).toHaveValue('Look at my files and tell me what is in them.'))
})

it('links to the first agent when there is none', async () => {
  const runner = createFakeRunner()
  renderScreen(HomeScreen, { runner })
  expect(await screen.findByRole('link', { name: 'Set up in three steps' })).toHaveAttribute('href', '/welcome')
  expect(screen.queryByRole('textbox', { name: 'New job' })).toBeNull()
})

it('runs a job with Enter, and keeps the text when it was refused', async () => {
  const runner = runnerWith([])
  runner.answer({ submitTask: () => new Refusal('disk_full', 'full') })
  const { user } = renderScreen(HomeScreen, { runner })
  const field = await screen.findByRole('textbox', { name: 'New job' })
  await user.type(field, 'Count the files{Shift>}{Enter}{/Shift}in here{Enter}')
  await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('Free some space'))
  expect(field).toHaveValue('Count the files\nin here')
  runner.answer({ submitTask: () => ({ jobId: makeId(), status: 'pending' }) })
  await user.type(field, '{Enter}')
  await waitFor(() => expect(field).toHaveValue(''))
  expect(runner.callsOf('submitTask').map((call) => call.body)).toEqual(
    Array(2).fill({ task: 'Count the files\nin here', agentId: agent.id }),
  )
})

it('empties the field when a job is sent, and puts a refused task back above what was typed meanwhile', async () => {
  const runner = runnerWith([])
  const sending = Promise.withResolvers<Refusal>()
  runner.answer({ submitTask: () => sending.promise })
  const first = renderScreen(HomeScreen, { runner })
  await first.user.type(await screen.findByRole('textbox', { name: 'New job' }), 'Count the files{Enter}')
  await waitFor(() => expect(runner.callsOf('submitTask')).toHaveLength(1))
  first.unmount()
  const { user } = renderScreen(HomeScreen, { runner })
  const field = await screen.findByRole('textbox', { name: 'New job' })
  expect(field).toHaveValue('')
  await user.type(field, 'And the folders')
  sending.resolve(new Refusal('disk_full', 'full'))
  await waitFor(() => expect(field).toHaveValue('Count the files\n\nAnd the folders'))
})

it('takes a job before the runner answers, and sends it once when it does', async () => {
  localStorage.setItem('deckhand.had-agents', '1')
  const runner = runnerWith([])
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  runner.answer({
    listAgents: async () => {
      await started
      return { agents: [agent], nextCursor: null }
    },
    submitTask: () => ({ jobId: makeId(), status: 'pending' }),
  })
  const { user } = renderScreen(HomeScreen, { runner })
  const field = screen.getByRole('textbox', { name: 'New job' })
  await user.type(field, 'Count the files{Enter}')
  expect(field).toHaveValue('Count the files')
  expect(runner.callsOf('submitTask')).toHaveLength(0)
  start()
  await waitFor(() => expect(field).toHaveValue(''))
  expect(runner.callsOf('submitTask').map((call) => call.body)).toEqual([{ task: 'Count the files', agentId: agent.id }])
  // The same field: who is typing keeps the cursor.
  expect(field).toHaveFocus()
})

it('offers no field once the last agent is gone', async () => {
  localStorage.setItem('deckhand.had-agents', '1')
  renderScreen(HomeScreen, { runner: createFakeRunner() })
  expect(await screen.findByRole('link', { name: 'Set up in three steps' })).toBeVisible()
  expect(screen.queryByRole('textbox', { name: 'New job' })).toBeNull()
  expect(localStorage.getItem('deckhand.had-agents')).toBeNull()
})

it('shows a failed job until it was seen, also after a reload', async () => {
  const failed = makeSummary({ status: 'failed', title: 'File the invoices', error: 'model_unavailable', errorMessage: quote('gone') })
  const retried = makeSummary({ status: 'failed', title: 'Older try', error: 'internal', retriedByJobId: makeId() })
  const runner = runnerWith([failed, retried])
  const { user, unmount } = renderScreen(HomeScreen, { runner })
  const panel = (await screen.findByRole('heading', { name: 'Needs attention' })).closest('section')!
  expect(within(panel).getByRole('link', { name: 'File the invoices' })).toHaveAttribute('href', `/jobs/${failed.id}`)
  expect(within(panel).getByText(/could not be reached/)).toBeVisible()
  expect(within(panel).queryByText('Older try')).toBeNull()
  await user.click(within(panel).getByRole('button', { name: 'Dismiss' }))
  await screen.findByText('You’re all caught up.')
  unmount()
  renderScreen(HomeScreen, { runner })
  await screen.findByText('You’re all caught up.')
})

it('shows what a coding program left for a review, until it was seen', async () => {
  const ready = makeCodeTask({ title: 'Fix the cart' })
  const others = [
    makeCodeTask({ result: 'applied' }),
    makeCodeTask({ result: 'none' }),
    makeCodeTask({ jobStatus: 'running', result: 'ready' }),
  ]
  const runner = runnerWith([])
  runner.answer({
    listCodeTasks: () => ({
      codeTasks: [ready, ...others].map(({ files: _files, commands: _commands, ...summary }) => summary),
      nextCursor: null,
    }),
  })
  const { user } = renderScreen(HomeScreen, { runner })
  expect(await screen.findByText('1 item needs your attention')).toBeVisible()
  const line = screen.getByRole('link', { name: 'Fix the cart' }).closest('li')!
  expect(line).toHaveTextContent('Claude Code changed 2 files in shop. Nothing is applied yet.')
  expect(within(line).getByRole('link', { name: 'Review' })).toHaveAttribute('href', `/jobs/${ready.jobId}`)
  await user.click(within(line).getByRole('button', { name: 'Dismiss' }))
  expect(await screen.findByText('You’re all caught up.')).toBeVisible()
})

it('shows repeated failures of a schedule as one, and dismisses them together', async () => {
  const scheduleId = makeId()
  const failed = [3, 2, 1].map((at) =>
    makeSummary({ status: 'failed', title: 'Compare the stock', error: 'internal', channel: 'schedule', scheduleId, createdAt: at }),
  )
  const runner = runnerWith([...failed, makeSummary({ status: 'failed', title: 'File the invoices', error: 'internal' })])
  const { user } = renderScreen(HomeScreen, { runner })
  expect(await screen.findByText('2 items need your attention')).toBeVisible()
  const line = screen.getByRole('link', { name: 'Compare the stock' }).closest('li')!
  expect(line).toHaveTextContent('failed 3 times')
  expect(within(line).getByRole('link', { name: 'Compare the stock' })).toHaveAttribute('href', `/automations/schedules/${scheduleId}`)
  await user.click(within(line).getByRole('button', { name: 'Dismiss' }))
  expect(await screen.findByText('1 item needs your attention')).toBeVisible()
})

it('dismisses hundreds of failures together', async () => {
  const scheduleId = makeId()
  const failed = Array.from({ length: 600 }, () => makeSummary({ status: 'failed', error: 'internal', scheduleId })).toReversed()
  const runner = runnerWith([])
  runner.answer({
    listJobs: ({ query }) => {
      if (!query.status?.includes('failed')) return { jobs: [], nextCursor: null }
      const from = Number(query.cursor ?? 0)
      const to = from + query.limit
      return { jobs: failed.slice(from, to), nextCursor: to < failed.length ? String(to) : null }
    },
  })
  const { user } = renderScreen(HomeScreen, { runner })
  const line = (await screen.findByText('failed 600 times')).closest('li')!
  await user.click(within(line).getByRole('button', { name: 'Dismiss' }))
  expect(await screen.findByText('You’re all caught up.')).toBeVisible()
  expect(screen.queryByRole('heading', { name: 'Needs attention' })).toBeNull()
})

it('follows a running job: step, cost, Stop', async () => {
  // An hour ago it began, and waited nearly all of it.
  const job = makeSummary({
    status: 'running',
    title: 'Sum up the notes',
    finishedAt: null,
    costUsd: 0.02,
    startedAt: Date.now() - 3_600_000,
    workingMs: 60_000,
    workingSince: Date.now() - 5_000,
  })
  const runner = runnerWith([job])
  runner.answer({ cancelJob: () => ({ job: makeJob({ ...job, cancelRequested: true }) }) })
  const { user } = renderScreen(HomeScreen, { runner })
  const line = (await screen.findByRole('link', { name: 'Open “Sum up the notes”' })).closest('li')!
  await waitFor(() => expect(runner.streams).toHaveLength(1))
  runner.happen({ type: 'job.progress', payload: { jobId: job.id, activity: 'tool', detail: 'read_file', until: null } })
  await within(line).findByText('File guide · Using read_file')
  expect(within(line).getByText(/^1m 0\ds$/)).toBeVisible()
  job.costUsd = 0.35
  runner.happen({ type: 'job.step_recorded', payload: { jobId: job.id, conversationId: null, seq: 2, kind: 'reply', costUsd: 0.35 } })
  await within(line).findByText('$0.35')
  await user.click(within(line).getByRole('button', { name: 'Stop “Sum up the notes”' }))
  await within(line).findByText('File guide · Stopping…')
  expect(runner.callsOf('cancelJob')[0]!.params.jobId).toBe(job.id)
})

it('puts two approvals first and follows answers from elsewhere', async () => {
  const approvals = ['First', 'Second', 'Third'].map((summary, at) => makeApproval({ expiresAt: 10 + at, facts: makeFacts({ summary }) }))
  const runner = runnerWith([])
  runner.answer({
    listApprovals: () => {
      const pending = approvals.filter((one) => one.status === 'pending')
      return { approvals: pending, pending: pending.length, nextCursor: null }
    },
    getApproval: ({ params }) => ({ approval: approvals.find((one) => one.id === params.approvalId)! }),
  })
  renderScreen(HomeScreen, { runner })
  await screen.findByText('3 items need your attention')
  await screen.findByRole('article', { name: /First/ })
  expect(screen.queryByRole('article', { name: /Third/ })).toBeNull()
  expect(screen.getByRole('link', { name: '1 more approval' })).toHaveAttribute('href', '/approvals')
  await waitFor(() => expect(runner.streams).toHaveLength(1))
  const [first] = approvals
  Object.assign(first!, { status: 'approved', remember: 'once', answeredAt: 5 })
  runner.happen({
    type: 'approval.answered',
    payload: {
      approvalId: first!.id,
      jobId: first!.jobId,
      agentId: first!.agentId,
      conversationId: null,
      kind: 'tool',
      decision: 'approve',
    },
  })
  await screen.findByRole('article', { name: /Third/ })
  expect(within(screen.getByRole('article', { name: /First/ })).getByRole('alert')).toHaveTextContent('Already answered elsewhere')
  await screen.findByText('2 items need your attention')
})

it('keeps few answered approvals, and says how many more wait', async () => {
  const approvals = [1, 2, 3, 4, 5].map((at) => makeApproval({ expiresAt: 10 + at, facts: makeFacts({ summary: `Number ${at}` }) }))
  let pending = approvals.slice(0, 2)
  const runner = runnerWith([])
  runner.answer({
    listApprovals: () => ({ approvals: pending, pending: pending.length, nextCursor: null }),
    getApproval: ({ params }) => ({ approval: approvals.find((one) => one.id === params.approvalId)! }),
  })
  renderScreen(HomeScreen, { runner })
  await screen.findByRole('article', { name: /Number 2/ })
  await waitFor(() => expect(runner.streams).toHaveLength(1))
  const answer = (...numbers: number[]) => {
    pending = approvals.filter((one, at) => !numbers.includes(at + 1) && one.status === 'pending')
    for (const at of numbers) Object.assign(approvals[at - 1]!, { status: 'approved', remember: 'once', answeredAt: 5 })
    const { id: approvalId, jobId, agentId } = approvals[0]!
    runner.happen({
      type: 'approval.answered',
      payload: { approvalId, jobId, agentId, conversationId: null, kind: 'tool', decision: 'approve' },
    })
  }
  answer(1, 2)
  expect(await screen.findByRole('link', { name: '1 more approval' })).toHaveAttribute('href', '/approvals')
  answer(4)
  await screen.findByRole('article', { name: /Number 5/ })
  expect(screen.getAllByRole('article').map((card) => card.getAttribute('aria-label') ?? card.textContent)).toEqual([
    expect.stringContaining('Number 2'),
    expect.stringContaining('Number 3'),
    expect.stringContaining('Number 4'),
    expect.stringContaining('Number 5'),
  ])
})

it('fetches further failures when the newest were seen', async () => {
  const seen = Array.from({ length: 20 }, (_, at) => makeSummary({ status: 'failed', title: `Seen ${at}`, error: 'internal' }))
  const unseen = makeSummary({ status: 'failed', title: 'Never seen', error: 'internal' })
  markSeen(seen.map(({ id }) => id))
  const runner = runnerWith([])
  const page = Promise.withResolvers<void>()
  runner.answer({
    listJobs: async ({ query }) => {
      if (query.status?.length !== 1 || query.status[0] !== 'failed') return { jobs: [], nextCursor: null }
      if (query.cursor === undefined) return { jobs: seen, nextCursor: 'next' }
      await page.promise
      return { jobs: [unseen], nextCursor: null }
    },
  })
  renderScreen(HomeScreen, { runner })
  await waitFor(() => expect(runner.callsOf('listJobs').some(({ query }) => query.cursor === 'next')).toBe(true))
  await screen.findByRole('button', { name: 'Try an example' })
  expect(screen.queryByText('You’re all caught up.')).toBeNull()
  page.resolve()
  expect(await screen.findByRole('link', { name: 'Never seen' })).toBeVisible()
  expect(screen.getByText('1 item needs your attention')).toBeVisible()
})

it('says that no model is chosen when agents need one', async () => {
  const runner = runnerWith([])
  runner.answer({
    listAgents: () => ({ agents: [{ ...agent, model: null }], nextCursor: null }),
    listModels: () => ({ models: [], problems: [], defaultModel: null, nextCursor: null }),
  })
  renderScreen(HomeScreen, { runner })
  expect(await screen.findByRole('link', { name: 'Choose model' })).toHaveAttribute('href', '/models')
  expect(screen.getByText('1 item needs your attention')).toBeVisible()
})

it('links to what else needs attention', async () => {
  const runner = runnerWith([])
  runner.answer({
    listAttention: () => ({
      items: [
        {
          kind: 'channel_logged_out',
          subjectId: makeId(),
          title: quote('@guide_bot was logged out'),
          detail: quote('Telegram refuses the token.'),
          path: '/channels',
          at: 1_700_000_000_000,
        },
      ],
    }),
  })
  renderScreen(HomeScreen, { runner })
  expect(await screen.findByText('1 item needs your attention')).toBeVisible()
  expect(screen.getByRole('link', { name: '@guide_bot was logged out' })).toHaveAttribute('href', '/channels')
  runner.answer({ listAttention: () => ({ items: [] }) })
  runner.happen({ type: 'channel.changed', payload: { channelId: makeId(), agentId: agent.id } })
  expect(await screen.findByText('You’re all caught up.')).toBeVisible()
})

describe('after a week away', () => {
  const WEEK = 7 * 86_400_000
  const news = makeId()
  const missed = {
    ...({
      state: 'missed',
      jobStatus: null,
      noOp: false,
      times: 54,
      reason: quote('Only the newest is made up for.'),
      lastAt: 3,
    } as const),
  }
  const caughtUp = {
    state: 'caught_up',
    jobStatus: 'completed',
    noOp: false,
    times: 1,
    reason: quote('It makes up for it.'),
    lastAt: 4,
  } as const
  const summaryOf = (sums: OccurrenceSum[], priced = true) => ({
    all: sums,
    costUsd: 0.4,
    priced,
    schedules: [{ scheduleId: news, name: 'News', agentName: 'Ada', status: 'active' as const, sums, costUsd: 0.4, priced }],
    count: 1,
  })
  const away = () => screen.findByRole('region', { name: 'While you were away' })
  // Touched a week ago, and not since.
  beforeEach(() => notePresence(Date.now() - WEEK))
  afterEach(() => markBack(Date.now()))

  it('shows runs, missed runs with the reason, and the cost, until dismissed', async () => {
    const runner = runnerWith([])
    runner.answer({ sumUpSchedules: () => summaryOf([missed, caughtUp]) })
    const { user } = renderScreen(HomeScreen, { runner })
    const panel = await away()
    const [asked] = runner.callsOf('sumUpSchedules')
    expect(Math.abs(Date.now() - WEEK - asked!.query.from)).toBeLessThan(60_000)
    expect(within(panel).getByRole('link', { name: 'News' })).toHaveAttribute('href', `/automations/schedules/${news}`)
    expect(within(panel).getAllByText('54 missed')).toHaveLength(2)
    expect(within(panel).getAllByText('1 ran late')).toHaveLength(2)
    expect(within(panel).getByText('Only the newest is made up for.')).toBeVisible()
    expect(within(panel).getByText('$0.40 in total')).toBeVisible()
    // One has made up for it: there is nothing to run.
    expect(within(panel).queryByRole('button', { name: /^Run/ })).toBeNull()
    await user.click(within(panel).getByRole('button', { name: 'Dismiss' }))
    await waitFor(() => expect(screen.queryByRole('region', { name: 'While you were away' })).toBeNull())
  })

  it('says that a cost without all prices is not the whole cost', async () => {
    const runner = runnerWith([])
    runner.answer({ sumUpSchedules: () => summaryOf([caughtUp], false) })
    renderScreen(HomeScreen, { runner })
    const panel = await away()
    expect(within(panel).getByText('$0.40 in total, plus unpriced')).toBeVisible()
    expect(within(panel).getByTitle(/without a known price/)).toHaveTextContent('+ unpriced')
  })

  it('does not ask for attention for a missed run that was caught up', async () => {
    const runner = runnerWith([])
    const attention = (subjectId: string, title: string) => ({
      kind: 'schedule_missed' as const,
      subjectId,
      title: quote(title),
      detail: quote('Asleep.'),
      path: `/automations/schedules/${subjectId}`,
      at: 4,
    })
    runner.answer({
      listAttention: () => ({ items: [attention(news, 'News missed 54 runs'), attention(makeId(), 'Olds missed a run')] }),
      sumUpSchedules: () => summaryOf([missed, caughtUp]),
    })
    renderScreen(HomeScreen, { runner })
    expect(await screen.findByText('1 item needs your attention')).toBeVisible()
    expect(screen.getByText('Olds missed a run')).toBeVisible()
    expect(screen.queryByText('News missed 54 runs')).toBeNull()
  })

  it('offers to run a missed run that was not caught up', async () => {
    const runner = runnerWith([])
    runner.answer({
      sumUpSchedules: () => summaryOf([missed]),
      runScheduleNow: () => {
        const occurrence = makeOccurrence({ origin: 'run_now' })
        return { jobId: occurrence.jobId!, occurrence }
      },
    })
    const { user } = renderScreen(HomeScreen, { runner })
    await user.click(within(await away()).getByRole('button', { name: 'Run “News” now' }))
    expect(await screen.findByText('“News” started')).toBeVisible()
    expect(runner.callsOf('runScheduleNow')[0]!.params).toEqual({ scheduleId: news })
  })

  it('counts the jobs of webhooks', async () => {
    const posted = makeSummary({ channel: 'webhook', costUsd: 0.02 })
    const runner = runnerWith([posted, makeSummary({ channel: 'webhook', status: 'failed', costUsd: 0.01 })])
    renderScreen(HomeScreen, { runner })
    const line = (await screen.findByRole('link', { name: 'Webhooks' })).closest('li')!
    expect(line).toHaveTextContent('2 jobs')
    expect(line).toHaveTextContent('1 failed')
    expect(line).toHaveTextContent('$0.03')
  })

  it('says that the figures of webhooks are a minimum when there are more jobs', async () => {
    const posted = [
      makeSummary({ channel: 'webhook', costUsd: 0.02 }),
      makeSummary({ channel: 'webhook', status: 'failed', costUsd: 0.01 }),
    ]
    const runner = runnerWith([])
    runner.answer({
      listJobs: ({ query }) => (query.channel === 'webhook' ? { jobs: posted, nextCursor: 'next' } : { jobs: [], nextCursor: null }),
    })
    renderScreen(HomeScreen, { runner })
    const line = (await screen.findByRole('link', { name: 'Webhooks' })).closest('li')!
    expect(line).toHaveTextContent('more than 2 jobs')
    expect(within(line).getByText('at least 1 failed')).toBeVisible()
    expect(within(line).getByText('at least $0.03')).toBeVisible()
    expect(within(await away()).getByText('at least $0.03 in total')).toBeVisible()
  })

  it('shows nothing when nothing was due', async () => {
    const runner = runnerWith([])
    renderScreen(HomeScreen, { runner })
    await waitFor(() => expect(runner.callsOf('sumUpSchedules')).toHaveLength(1))
    await screen.findByText('You’re all caught up.')
    expect(screen.queryByRole('region', { name: 'While you were away' })).toBeNull()
  })
})

it('fetches no summary for somebody who was not away', async () => {
  notePresence(Date.now() - 3_600_000)
  notePresence(Date.now())
  const runner = runnerWith([])
  renderScreen(HomeScreen, { runner })
  await screen.findByText('You’re all caught up.')
  expect(runner.callsOf('sumUpSchedules')).toEqual([])
})

it('claims neither "all caught up" nor "no jobs" when loading failed', async () => {
  const runner = runnerWith([])
  runner.answer({ listJobs: () => new Refusal('database_unavailable'), listAttention: () => new Refusal('database_unavailable') })
  renderScreen(HomeScreen, { runner })
  expect(await screen.findByText('Could not check what needs your attention.')).toBeVisible()
  expect(screen.queryByText('You’re all caught up.')).toBeNull()
  expect(screen.queryByText('No jobs yet')).toBeNull()
  expect(await screen.findByRole('button', { name: 'Try again' })).toBeVisible()
})

it('hides "all caught up" when the runner is away', async () => {
  const runner = runnerWith([])
  renderScreen(HomeScreen, { runner })
  await screen.findByText('You’re all caught up.')
  expect(await screen.findByRole('button', { name: 'Try an example' })).toBeVisible()
  runner.setReachable(false)
  runner.breakStreams()
  await waitFor(() => expect(screen.queryByText('You’re all caught up.')).toBeNull())
  expect(screen.queryByRole('button', { name: 'Try an example' })).toBeNull()
})

it('says only once that jobs continue after a crash, also after a reload', async () => {
  const runner = runnerWith([])
  runner.answer({ listAttention: () => ({ items: [], recovery: { at: 1_700_000_000_000, jobs: 2 } }) })
  const first = renderScreen(HomeScreen, { runner })
  expect(await screen.findByText(/2 running jobs kept/)).toBeVisible()
  // A reload disposes of nothing.
  first.container.remove()
  renderScreen(HomeScreen, { runner })
  await screen.findByText('You’re all caught up.')
  expect(screen.queryByText(/2 running jobs kept/)).toBeNull()
})
