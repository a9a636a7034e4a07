import { screen, within } from '@solidjs/testing-library'
import { expect, it, vi } from 'vitest'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeApproval, makeFacts, makeId, makeJob, makeModel, makeSummary } from '../../testing/things.ts'
import type { JobSummary } from '../../../src-runner/contract/jobs.ts'
import { HomeScreen } from './HomeScreen.tsx'

const agent = makeAgent({ name: 'File guide', isDefault: true, model: { providerId: 'demo', model: 'demo' } })

function runnerWith(jobs: JobSummary[]) {
  return createFakeRunner({
    listAgents: () => ({ agents: [agent], nextCursor: null }),
    listModels: () => ({ models: [makeModel()], problems: [], defaultModel: { providerId: 'demo', model: 'demo' } }),
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

it('says that nothing is needed, what was spent today, and how to begin', async () => {
  const runner = runnerWith([])
  runner.answer({ getSpend: () => ({ rows: [], totalUsd: 1.5, unpricedCalls: 2 }) })
  const { user } = renderScreen(HomeScreen, { runner })
  await screen.findByText('Nothing needs you.')
  expect(await screen.findByText('$1.50')).toBeVisible()
  expect(screen.getByText('2 calls without a known price are not counted')).toBeVisible()
  const from = runner.callsOf('getSpend')[0]!.query.from!
  expect(new Date(from).getHours()).toBe(0)
  // The example fills the form.
  await user.click(await screen.findByRole('button', { name: 'Try an example' }))
  await vi.waitFor(() =>
    expect(screen.getByRole('textbox', { name: 'Hand over a job' })).toHaveValue('Look at my files and tell me what is in there.'),
  )
})

it('leads to a first agent when there is none', async () => {
  const runner = createFakeRunner()
  renderScreen(HomeScreen, { runner })
  expect(await screen.findByRole('link', { name: 'Set up in three steps' })).toHaveAttribute('href', '/welcome')
  expect(screen.queryByRole('textbox', { name: 'Hand over a job' })).toBeNull()
})

it('hands over a job with Enter, and keeps the text when it was refused', async () => {
  const runner = runnerWith([])
  runner.answer({ submitTask: () => new Refusal('disk_full', 'full') })
  const { user } = renderScreen(HomeScreen, { runner })
  const field = await screen.findByRole('textbox', { name: 'Hand over a job' })
  await user.type(field, 'Count the files{Shift>}{Enter}{/Shift}in here{Enter}')
  await vi.waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('Free some space'))
  expect(field).toHaveValue('Count the files\nin here')
  runner.answer({ submitTask: () => ({ jobId: makeId(), status: 'pending' }) })
  await user.type(field, '{Enter}')
  await vi.waitFor(() => expect(field).toHaveValue(''))
  expect(runner.callsOf('submitTask').map((call) => call.body)).toEqual(
    Array(2).fill({ task: 'Count the files\nin here', agentId: agent.id }),
  )
})

it('shows a failed job until it was looked at, also after a reload', async () => {
  const failed = makeSummary({ status: 'failed', title: 'File the invoices', error: 'model_unavailable', errorMessage: 'gone' })
  const retried = makeSummary({ status: 'failed', title: 'Older try', error: 'internal', retriedByJobId: makeId() })
  const runner = runnerWith([failed, retried])
  const { user, unmount } = renderScreen(HomeScreen, { runner })
  const panel = (await screen.findByRole('heading', { name: 'Needs you' })).closest('section')!
  expect(within(panel).getByRole('link', { name: 'File the invoices' })).toHaveAttribute('href', `/jobs/${failed.id}`)
  expect(within(panel).getByText(/could not be reached/)).toBeVisible()
  expect(within(panel).queryByText('Older try')).toBeNull()
  await user.click(within(panel).getByRole('button', { name: 'Seen' }))
  await screen.findByText('Nothing needs you.')
  unmount()
  renderScreen(HomeScreen, { runner })
  await screen.findByText('Nothing needs you.')
})

it('follows a running job: step, cost, Stop', async () => {
  const job = makeSummary({ status: 'running', title: 'Sum up the notes', startedAt: Date.now() - 65_000, finishedAt: null, costUsd: 0.02 })
  const runner = runnerWith([job])
  runner.answer({ cancelJob: () => ({ job: makeJob({ ...job, cancelRequested: true }) }) })
  const { user } = renderScreen(HomeScreen, { runner })
  const line = (await screen.findByRole('link', { name: 'Open “Sum up the notes”' })).closest('li')!
  await vi.waitFor(() => expect(runner.streams).toHaveLength(1))
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

it('puts decisions first, two at once, and follows what others answer', async () => {
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
  await screen.findByText('3 things need you')
  await screen.findByRole('article', { name: /First/ })
  expect(screen.queryByRole('article', { name: /Third/ })).toBeNull()
  expect(screen.getByRole('link', { name: '1 more decision waits' })).toHaveAttribute('href', '/approvals')
  await vi.waitFor(() => expect(runner.streams).toHaveLength(1))
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
  expect(within(screen.getByRole('article', { name: /First/ })).getByRole('alert')).toHaveTextContent('Answered elsewhere')
  await screen.findByText('2 things need you')
})

it('says that no model is chosen when agents need one', async () => {
  const runner = runnerWith([])
  runner.answer({
    listAgents: () => ({ agents: [{ ...agent, model: null }], nextCursor: null }),
    listModels: () => ({ models: [], problems: [], defaultModel: null }),
  })
  renderScreen(HomeScreen, { runner })
  expect(await screen.findByRole('link', { name: 'Choose a model' })).toHaveAttribute('href', '/models')
  expect(screen.getByText('1 thing needs you')).toBeVisible()
})

it('shows what else needs the person, and where that is', async () => {
  const runner = runnerWith([])
  runner.answer({
    listAttention: () => ({
      items: [
        {
          ...{ kind: 'channel_logged_out', subjectId: makeId(), title: '@guide_bot was logged out', detail: 'Telegram refuses the token.' },
          ...{ path: '/channels', at: 1_700_000_000_000 },
        },
      ],
    }),
  })
  renderScreen(HomeScreen, { runner })
  expect(await screen.findByText('1 thing needs you')).toBeVisible()
  expect(screen.getByRole('link', { name: '@guide_bot was logged out' })).toHaveAttribute('href', '/channels')
  runner.answer({ listAttention: () => ({ items: [] }) })
  runner.happen({ type: 'channel.changed', payload: { channelId: makeId(), agentId: agent.id } })
  expect(await screen.findByText('Nothing needs you.')).toBeVisible()
})
