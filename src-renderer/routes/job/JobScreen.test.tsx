import { screen, waitFor, within } from '@solidjs/testing-library'
import { afterEach, describe, expect, it } from 'vitest'
import type { Job, ReplyStep, Step } from '../../../src-runner/contract/jobs.ts'
import { changeLanguage } from '../../lib/language.ts'
import { createFakeRunner, createHeldStream, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeApproval, makeDecision, makeFacts, makeId, makeJob, makeSummary, quote } from '../../testing/things.ts'
import { JobScreen } from './JobScreen.tsx'

const MODEL = { providerId: 'p', model: 'sonnet' }

function reply(seq: number, text: string, fields: Partial<ReplyStep> = {}): ReplyStep {
  return {
    kind: 'reply',
    seq,
    attempt: 1,
    createdAt: 1,
    durationMs: 1500,
    text,
    toolCalls: [],
    model: MODEL,
    inputTokens: 1000,
    outputTokens: 20,
    cachedTokens: 0,
    costUsd: 0.02,
    priced: true,
    estimated: false,
    interrupted: false,
    ...fields,
  }
}

function open(job: Job, steps: Step[] = []) {
  const held = { job, steps }
  const copied: string[] = []
  const runner = createFakeRunner({
    getJob: ({ params }) => (params.jobId === held.job.id ? { job: held.job } : new Refusal('job_not_found')),
    listSteps: ({ query }) => ({ steps: held.steps.filter((step) => step.seq > query.after) }),
  })
  const desktop = {
    copyText: (text: string) => {
      copied.push(text)
      return Promise.resolve()
    },
  }
  const show = (path = `/jobs/${job.id}`) => renderScreen(JobScreen, { route: '/jobs/:jobId', path, runner, desktop })
  return { runner, held, copied, show }
}

afterEach(() => changeLanguage('system'))

describe('the page of a job', () => {
  it('shows the figures, the task, the result and each step with its cost', async () => {
    const job = makeJob({
      title: 'Sum up',
      task: 'Sum up the notes',
      result: 'All is **well**.',
      model: MODEL,
      costUsd: 0.0421,
      conversationId: makeId(),
    })
    const { show } = open(job, [
      reply(1, 'I read it.', { toolCalls: [{ callId: 'c1', name: 'read_file', args: { path: 'a.md' } }] }),
      {
        kind: 'tool_result',
        seq: 2,
        attempt: 1,
        createdAt: 2,
        durationMs: 5,
        callId: 'c1',
        name: 'read_file',
        ok: false,
        output: 'There is no such file.',
      },
      reply(3, 'All is **well**.', { costUsd: 0, priced: false, estimated: true }),
    ])
    const view = show()
    expect(await screen.findByRole('heading', { level: 1, name: 'Sum up' })).toBeInTheDocument()
    const figures = within(document.querySelector<HTMLElement>('dl[aria-label=Summary]')!)
    expect(figures.getByText('$0.04')).toBeInTheDocument()
    expect(figures.getByText('sonnet')).toBeInTheDocument()
    expect(screen.getByText('Sum up the notes')).toBeInTheDocument()
    expect(screen.getByText('well', { selector: 'strong' })).toBeInTheDocument()
    expect(await screen.findByText('I read it.')).toBeInTheDocument()
    expect(screen.getByText('unpriced')).toBeInTheDocument()
    expect(screen.getAllByText('estimated').length).toBeGreaterThan(0)
    const call = screen.getByRole('button', { name: /Reading a\.md.*failed/ })
    await view.user.click(call)
    expect(screen.getByRole('group', { name: 'Output' })).toHaveTextContent('There is no such file.')
    expect(screen.getByRole('link', { name: 'Open conversation' })).toHaveAttribute('href', `/chat/${job.conversationId}`)
  })

  it('does not repeat a task that is its title, unless a link leads to it', async () => {
    const { show } = open(makeJob({ title: 'Sum up', task: 'Sum up' }))
    const view = show()
    expect(await screen.findByRole('heading', { name: 'Sum up' })).toBeVisible()
    expect(screen.queryByRole('heading', { name: 'Task' })).not.toBeInTheDocument()
    view.unmount()
    show(`${view.path()}#started-by`)
    expect(await screen.findByRole('heading', { name: 'Task' })).toBeVisible()
  })

  it('says why a job failed and what to do; Retry opens the new job, and both link to each other', async () => {
    const job = makeJob({ status: 'failed', result: null, error: 'cost_limit', errorMessage: quote('Stopped at $2.00.') })
    const again = makeJob({ status: 'pending', retryOfJobId: job.id, result: null, startedAt: null, finishedAt: null })
    const { runner, held, show } = open(job)
    runner.answer({ retryJob: () => ({ job: again }) })
    const view = show()
    const alert = await screen.findByRole('alert')
    expect(alert).toHaveTextContent('The job reached its spending limit.')
    expect(alert).toHaveTextContent('Stopped at $2.00.')
    expect(within(alert).getByRole('link', { name: 'Raise limit' })).toHaveAttribute('href', `/agents/${job.agentId}`)
    held.job = again
    await view.user.click(within(alert).getByRole('button', { name: 'Retry' }))
    await waitFor(() => expect(view.path()).toBe(`/jobs/${again.id}`))
    expect(await screen.findByRole('link', { name: 'View original' })).toHaveAttribute('href', `/jobs/${job.id}`)
    expect(runner.callsOf('retryJob')[0]!.params).toEqual({ jobId: job.id })
  })

  it('is live while it runs, and can be stopped', async () => {
    const job = makeJob({ status: 'running', result: null, finishedAt: null, model: null, turns: 0 })
    const { runner, held, show } = open(job)
    const tail = createHeldStream()
    runner.streamFrames('streamJob', [tail])
    runner.answer({ cancelJob: () => ({ job: { ...job, cancelRequested: true } }) })
    const view = show()
    tail.send({ type: 'start', jobId: job.id, conversationId: null }, { type: 'delta', seq: 1, text: 'Half a sen' })
    expect(await screen.findByText('Half a sen')).toBeInTheDocument()
    expect(screen.getByText('Writing…')).toBeInTheDocument()
    runner.happen({
      type: 'job.progress',
      payload: { jobId: job.id, activity: 'retry_wait', detail: quote('too many requests'), until: null },
    })
    expect(await screen.findByText('Retrying: too many requests')).toBeInTheDocument()
    await view.user.click(screen.getByRole('button', { name: 'Stop' }))
    expect(screen.getByRole('button', { name: 'Stopping…' })).toBeDisabled()

    held.job = { ...job, status: 'cancelled', result: 'Half a sen', finishedAt: 1_700_000_009_000 }
    held.steps = [reply(1, 'Half a sen', { interrupted: true })]
    tail.send({ type: 'done', reply: 'Half a sen', jobId: job.id, conversationId: null, status: 'cancelled', costUsd: 0 })
    runner.happen({
      type: 'job.finished',
      payload: {
        jobId: job.id,
        agentId: job.agentId,
        conversationId: null,
        status: 'cancelled',
        title: job.title,
        error: null,
        costUsd: 0,
        scheduleId: null,
      },
    })
    expect(await screen.findByText('Partial result')).toBeInTheDocument()
    expect(screen.getAllByText('Interrupted').length).toBeGreaterThan(0)
    expect(screen.queryByRole('button', { name: /Stop/ })).not.toBeInTheDocument()
  })

  it('lists the delegated jobs with their status and cost', async () => {
    const job = makeJob()
    const child = makeSummary({ title: 'Count the ships', agentName: 'Counter', status: 'failed', costUsd: 0.25, parentJobId: job.id })
    const { runner, show } = open(job)
    runner.answer({ listJobs: ({ query }) => ({ jobs: query.parentJobId === job.id ? [child] : [], nextCursor: null }) })
    show()
    expect(await screen.findByRole('heading', { name: 'Delegated jobs' })).toBeInTheDocument()
    const link = screen.getByRole('link', { name: /Count the ships/ })
    expect(link).toHaveAttribute('href', `/jobs/${child.id}`)
    for (const part of ['Counter', 'Failed', '$0.25']) expect(within(link).getByText(part)).toBeInTheDocument()
  })

  it('shows a webhook’s task in the person’s words, and the agent’s input on request', async () => {
    const task = 'A webhook started this job.\n\n[begin] Look at 7. [end]\n\nLook at {number}.'
    const { show } = open(makeJob({ channel: 'webhook', task, plainTask: 'Look at 7.' }))
    const view = show()
    expect(await screen.findByText('Look at 7.')).toBeInTheDocument()
    expect(screen.queryByText(/A webhook started this job/)).not.toBeInTheDocument()
    const button = screen.getByRole('button', { name: 'Show agent input' })
    expect(button).toHaveAttribute('aria-expanded', 'false')
    await view.user.click(button)
    expect(screen.getByRole('group', { name: 'Agent input' })).toHaveTextContent('Look at {number}.')
    await view.user.click(screen.getByRole('button', { name: 'Hide agent input' }))
    expect(screen.queryByRole('group', { name: 'Agent input' })).not.toBeInTheDocument()
  })

  it('shows the wrapper once, with the task and not in the context', async () => {
    const context = { trigger: { name: 'Orders' }, wrapper: { template: 'Look at {number}.', mark: 'f00' } }
    open(makeJob({ channel: 'webhook', task: 'Framed', plainTask: 'Look at 7.', context })).show()
    const raw = await screen.findByRole('group', { name: 'Raw data' })
    expect(raw).toHaveTextContent('Orders')
    expect(raw).not.toHaveTextContent('f00')
  })

  it('shows the task of any other job as it is', async () => {
    const { show } = open(makeJob({ task: 'Read the letters' }))
    show()
    expect(await screen.findByText('Read the letters')).toBeInTheDocument()
    expect(screen.queryByRole('button', { name: 'Show agent input' })).not.toBeInTheDocument()
  })

  it('says that the work of a coding program and the approvals could not be loaded', async () => {
    const { runner, show } = open(makeJob({ isCodeTask: true }))
    runner.answer({ getCodeTask: () => new Refusal('internal'), listApprovals: () => new Refusal('internal') })
    show()
    const panel = (await screen.findByRole('heading', { name: 'Code changes' })).closest('section')!
    expect(await within(panel).findByRole('alert')).toBeVisible()
    await waitFor(() => expect(screen.getAllByRole('alert')).toHaveLength(2))
  })

  it('has no list of delegated jobs when there are none', async () => {
    const { runner, show } = open(makeJob({ task: 'Alone' }))
    show()
    await screen.findByText('Alone')
    await waitFor(() => expect(runner.callsOf('listJobs')).toHaveLength(1))
    expect(screen.queryByRole('heading', { name: 'Delegated jobs' })).not.toBeInTheDocument()
  })

  it('takes new steps of a running job from the stream, without a fetch', async () => {
    const job = makeJob({ status: 'running', result: null, finishedAt: null })
    const { runner, show } = open(job, [reply(1, 'First.')])
    const stream = createHeldStream()
    runner.streamFrames('streamJob', [stream])
    show()
    await screen.findByText('First.')
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    await waitFor(() => expect(runner.callsOf('getJob')).toHaveLength(2))
    const fetches = runner.callsOf('listSteps').length
    runner.happen({ type: 'job.step_recorded', payload: { jobId: job.id, conversationId: null, seq: 2, kind: 'reply', costUsd: 0.02 } })
    await waitFor(() => expect(runner.callsOf('getJob')).toHaveLength(3))
    stream.send({ type: 'step', step: reply(2, 'Second.') })
    expect(await screen.findByText('Second.')).toBeInTheDocument()
    expect(runner.callsOf('listSteps')).toHaveLength(fetches)
  })

  it('fetches a step that the stream has skipped', async () => {
    const job = makeJob({ status: 'running', result: null, finishedAt: null })
    const { runner, held, show } = open(job, [reply(1, 'First.')])
    const stream = createHeldStream()
    runner.streamFrames('streamJob', [stream])
    show()
    await screen.findByText('First.')
    held.steps = [...held.steps, reply(2, 'Second.'), reply(3, 'Third.')]
    stream.send({ type: 'step', step: reply(3, 'Third.') })
    for (const text of ['Second.', 'Third.']) expect(await screen.findByText(text)).toBeInTheDocument()
    expect(runner.callsOf('listSteps').at(-1)!.query).toEqual({ after: 1 })
  })

  it('fetches only the new step of a job without a stream', async () => {
    const job = makeJob({ status: 'awaiting_approval', result: null, finishedAt: null })
    const { runner, held, show } = open(job, [reply(1, 'First.')])
    show()
    await screen.findByText('First.')
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    held.steps = [...held.steps, reply(2, 'Second.')]
    runner.happen({ type: 'job.step_recorded', payload: { jobId: job.id, conversationId: null, seq: 2, kind: 'reply', costUsd: 0.02 } })
    expect(await screen.findByText('Second.')).toBeInTheDocument()
    expect(screen.getAllByText('First.')).toHaveLength(1)
    expect(runner.callsOf('listSteps').at(-1)!.query).toEqual({ after: 1 })
  })

  it('writes out the hidden characters of a call and its output', async () => {
    const call = { callId: 'c1', name: 'run_command', args: { command: ['echo', 'a\u202Eb'] } }
    const { show } = open(makeJob(), [
      reply(1, '', { toolCalls: [call] }),
      {
        kind: 'tool_result',
        seq: 2,
        attempt: 1,
        createdAt: 2,
        durationMs: 1,
        callId: 'c1',
        name: 'run_command',
        output: 'x\u202Ey',
        ok: true,
      },
    ])
    const view = show()
    await view.user.click(await screen.findByRole('button', { name: /a.*b/, expanded: false }))
    expect(screen.getByText('Ran echo a⟨U+202E⟩b')).toBeInTheDocument()
    expect(screen.getByRole('group', { name: 'Arguments' })).toHaveTextContent('a⟨U+202E⟩b')
    expect(screen.getByRole('group', { name: 'Output' })).toHaveTextContent('x⟨U+202E⟩y')
  })

  it('marks where a new attempt began', async () => {
    const { show } = open(makeJob({ attempt: 2 }), [reply(1, 'Before.'), reply(2, 'After.', { attempt: 2 })])
    show()
    expect(await screen.findByText('Attempt 2')).toBeInTheDocument()
    expect(screen.queryByText('Attempt 1')).not.toBeInTheDocument()
  })

  it('says which server asked the model during a call, and what that cost', async () => {
    const call = reply(1, 'I look.', { toolCalls: [{ callId: 'c1', name: 'notes__look', args: {} }] })
    const { show } = open(makeJob(), [call, reply(2, '', { interrupted: true, askedBy: 'Notes\u200B', costUsd: 0.07 })])
    show()
    expect(await screen.findByText('Notes⟨U+200B⟩ asked the model')).toBeVisible()
    expect(screen.getByText('$0.07')).toBeVisible()
    expect(screen.queryByText('Interrupted')).toBeNull()
  })

  it('copies the job as JSON with its steps, approvals, decisions and files', async () => {
    const job = makeJob()
    const { runner, copied, show } = open(job, [reply(1, 'Done.')])
    const approvals = [makeApproval({ jobId: job.id, callId: 'c1', status: 'approved', note: 'Go on.', answeredAt: 5 })]
    const facts = { callId: 'c1', tool: 'write_file', facts: makeFacts(), decision: makeDecision() }
    const decisions = [{ ...facts, taints: { untrusted: null, private: null, outside: null }, decidedAt: 1 }]
    const file = {
      path: 'notes/a.md',
      change: 'added',
      movedFrom: null,
      callIds: ['c1'],
      binary: false,
      sizeBefore: null,
      sizeAfter: 9,
    } as const
    const files = [{ ...file, undoable: true, whyNoUndo: null, undone: false }]
    runner.answer({
      listApprovals: () => ({ approvals, pending: 0, nextCursor: null }),
      listDecisions: () => ({ decisions }),
      listJobFiles: () => ({ files: files.map((one) => ({ ...one, callIds: [...one.callIds] })) }),
    })
    const view = show()
    await screen.findByText('This is the result above.')
    await screen.findByText('notes/a.md')
    await waitFor(async () => {
      await view.user.click(screen.getByRole('button', { name: 'Copy as JSON' }))
      expect(JSON.parse(copied.at(-1)!)).toEqual({ job, steps: [reply(1, 'Done.')], approvals, decisions, files })
    })
  })

  it('shows the decision and the answer for each call, and the taints of the job', async () => {
    const job = makeJob()
    const call = { callId: 'c1', name: 'write_file', args: { path: 'a.md', content: 'x' } }
    const { runner, show } = open(job, [
      reply(1, 'I write it.', { toolCalls: [call] }),
      {
        kind: 'tool_result',
        seq: 2,
        attempt: 1,
        createdAt: 2,
        durationMs: 5,
        callId: 'c1',
        name: 'write_file',
        ok: true,
        output: 'Written.',
      },
    ])
    runner.answer({
      listDecisions: () => ({
        decisions: [
          {
            callId: 'c1',
            tool: 'write_file',
            facts: makeFacts(),
            decision: makeDecision({ overruled: [{ source: 'rule', verdict: 'run', ruleId: makeId(), reason: quote('Allow notes.') }] }),
            taints: { untrusted: { seq: 0, cause: quote('A webhook started it.') }, private: null, outside: null },
            decidedAt: 1,
          },
        ],
      }),
      listApprovals: () => ({
        approvals: [makeApproval({ jobId: job.id, callId: 'c1', status: 'approved', remember: 'job', note: 'Go on.', answeredAt: 5 })],
        pending: 0,
        nextCursor: null,
      }),
    })
    const view = show()
    expect(await screen.findByText('It overwrites a file that the agent did not create.', { exact: false })).toBeInTheDocument()
    await view.user.click(screen.getByRole('button', { name: '1 overruled check' }))
    expect(screen.getByText('Allow notes.', { exact: false })).toBeInTheDocument()
    expect(await screen.findByText('Approved for this job')).toBeInTheDocument()
    expect(screen.getByText('Go on.')).toBeInTheDocument()
    const mark = screen.getByRole('link', { name: 'Untrusted text' })
    expect(mark).toHaveAttribute('href', `/jobs/${job.id}#started-by`)
    expect(mark).toHaveAttribute('title', expect.stringContaining('A webhook started it.'))
    expect(document.getElementById('step-2')).toHaveTextContent('Wrote a.md')
    await view.user.click(mark)
    await waitFor(() => expect(document.getElementById('started-by')).toHaveClass('outline-2'))
  })

  it('answers an approval on the page, and the card shows the outcome', async () => {
    const job = makeJob({ status: 'awaiting_approval', result: null, finishedAt: null })
    const approval = makeApproval({ jobId: job.id })
    const { runner, show } = open(job)
    runner.answer({
      listApprovals: () => ({ approvals: [approval], pending: 1, nextCursor: null }),
      resolveApproval: ({ body }) => ({ ok: true, jobId: job.id, status: 'pending', decision: body.decision }),
    })
    const view = show()
    const card = await screen.findByRole('article', { name: /Overwrite Documents/ })
    expect(screen.queryByText('Waiting for your approval.')).toBeNull()
    await view.user.click(within(card).getByRole('button', { name: 'For this job' }))
    expect(await within(card).findByText('Approved for this job')).toBeInTheDocument()
    expect(runner.callsOf('resolveApproval')[0]!.body).toMatchObject({ approvalId: approval.id, remember: 'job' })
  })

  it('shows the structured result: summary, data and files', async () => {
    const job = makeJob({
      output: { summary: 'Three invoices, **two** open.', data: { open: 2 }, files: ['/srv/out/list.csv'] },
      childrenCostUsd: 0.25,
    })
    open(job).show()
    expect(await screen.findByText('two', { selector: 'strong' })).toBeInTheDocument()
    expect(screen.getByRole('group', { name: 'Data' })).toHaveTextContent('{ "open": 2 }')
    expect(screen.getByText('/srv/out/list.csv')).toBeInTheDocument()
    expect(screen.getByText('+ $0.25 for delegated jobs')).toBeInTheDocument()
  })

  it('says that a job does not exist', async () => {
    open(makeJob()).show(`/jobs/${makeId()}`)
    expect(await screen.findByText('Job not found')).toBeInTheDocument()
  })
})

describe('what started a job', () => {
  const occurrenceId = makeId()
  const [triggerId, scheduleId, deliveryId] = [makeId(), makeId(), makeId()]
  const fire = {
    schedule: { id: scheduleId, name: 'Morning summary' },
    dueAt: new Date(2026, 4, 12, 9).getTime(),
    origin: 'clock' as const,
    caughtUp: true,
    lateMs: 3_600_000,
    previousRun: null,
  }

  it.each([
    [
      'a post to a webhook',
      {
        channel: 'webhook' as const,
        triggerId,
        context: { trigger: { id: triggerId, name: 'Orders', slug: 'orders' }, deliveryId, kind: 'webhook', eventName: 'order.paid' },
      },
      { name: 'Orders', href: `/automations/webhooks/${triggerId}?delivery=${deliveryId}`, says: 'order.paid' },
    ],
    [
      'a post that left placeholders empty',
      {
        channel: 'webhook' as const,
        triggerId,
        context: { trigger: { id: triggerId, name: 'Orders', slug: 'orders' }, deliveryId, missing: ['order.name', 'note'] },
      },
      { name: 'Orders', href: `/automations/webhooks/${triggerId}?delivery=${deliveryId}`, says: '2 empty placeholders' },
    ],
    [
      'a due time that was missed',
      { channel: 'schedule' as const, scheduleId, occurrenceId, context: fire },
      {
        name: 'Morning summary',
        href: `/automations/schedules/${scheduleId}?occurrence=${occurrenceId}`,
        says: /due May 12, 2026.*ran late/,
      },
    ],
    [
      'a person who pressed Run now',
      { channel: 'schedule' as const, scheduleId, occurrenceId, context: { ...fire, origin: 'run_now' } },
      { name: 'Morning summary', href: `/automations/schedules/${scheduleId}?occurrence=${occurrenceId}`, says: 'run manually' },
    ],
  ])('is %s, and leads back there', async (_, fields, { name, href, says }) => {
    const job = makeJob(fields)
    open(job).show()
    const link = await screen.findByRole('link', { name })
    expect(link).toHaveAttribute('href', href)
    expect(link.closest('dd')).toHaveTextContent(says)
  })

  it('is found by the job when nothing else is known', async () => {
    const job = makeJob({ channel: 'webhook', triggerId })
    open(job).show()
    expect(await screen.findByRole('link', { name: 'Webhook' })).toHaveAttribute('href', `/automations/webhooks/${triggerId}?job=${job.id}`)
  })
})
