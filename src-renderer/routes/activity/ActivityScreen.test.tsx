import { quote } from '../../testing/things.ts'
import { fireEvent, screen, waitFor } from '@solidjs/testing-library'
import { describe, expect, it } from 'vitest'
import type { JobSummary } from '../../../src-runner/contract/jobs.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeSummary } from '../../testing/things.ts'
import { ActivityScreen } from './ActivityScreen.tsx'

function createWorkspace(first: JobSummary[]) {
  let jobs = first
  const agent = makeAgent({ name: 'Ada' })
  const runner = createFakeRunner({
    listAgents: () => ({ agents: [agent], nextCursor: null }),
    listJobs: ({ query }) => ({
      jobs: jobs.filter(
        (job) =>
          (query.status === undefined || query.status.includes(job.status)) && (query.q === undefined || job.title.includes(query.q)),
      ),
      nextCursor: null,
    }),
  })
  const add = (job: JobSummary) => {
    jobs = [job, ...jobs]
    runner.happen({
      type: 'job.created',
      payload: {
        jobId: job.id,
        agentId: job.agentId,
        conversationId: null,
        channel: job.channel,
        title: job.title,
        triggerId: null,
        scheduleId: null,
      },
    })
  }
  return { runner, agent, add }
}

const open = (runner: ReturnType<typeof createFakeRunner>, path = '/activity') =>
  renderScreen(ActivityScreen, { route: '/activity', path, runner })

describe('Activity', () => {
  it('explains the screen when there are no jobs', async () => {
    open(createWorkspace([]).runner)
    expect(await screen.findByText('No jobs yet')).toBeInTheDocument()
    expect(screen.getByRole('link', { name: 'Start chat' })).toHaveAttribute('href', '/chat')
  })

  it('does not claim that there are no jobs once the runner is away', async () => {
    const { runner } = createWorkspace([])
    open(runner)
    await screen.findByText('No jobs yet')
    runner.setReachable(false)
    runner.breakStreams()
    await waitFor(() => expect(screen.queryByText('No jobs yet')).toBeNull())
    expect(await screen.findByRole('button', { name: 'Try again' })).toBeVisible()
  })

  it('loads further pages by itself while a page has no match', async () => {
    const { runner } = createWorkspace([])
    const pages: Record<string, { jobs: JobSummary[]; nextCursor: string | null }> = {
      first: { jobs: [], nextCursor: 'second' },
      second: { jobs: [], nextCursor: 'third' },
      third: { jobs: [makeSummary({ title: 'Very old' })], nextCursor: null },
    }
    runner.answer({ listJobs: ({ query }) => pages[query.cursor ?? 'first']! })
    open(runner, '/activity?q=old')
    expect(await screen.findByRole('option', { name: /Very old/ })).toBeInTheDocument()
  })

  it('shows how each job ended, and opens it with the keyboard', async () => {
    const failed = makeSummary({ title: 'Broken', status: 'failed', error: 'model_auth', errorMessage: quote('The key was refused.') })
    const { runner } = createWorkspace([makeSummary({ title: 'Fine', resultPreview: 'All **well**' }), failed])
    const view = open(runner)
    expect(await screen.findByRole('option', { name: /Completed Fine.*All well/s })).toBeInTheDocument()
    expect(screen.getByRole('option', { name: /Failed Broken.*The key was refused\./s })).toBeInTheDocument()
    screen.getByRole('listbox', { name: 'Jobs, newest first' }).focus()
    await view.user.keyboard('{ArrowDown}{ArrowDown}{Enter}')
    await waitFor(() => expect(view.path()).toBe(`/jobs/${failed.id}`))
  })

  it('takes the filters from the URL and writes changes back', async () => {
    const { runner, agent } = createWorkspace([
      makeSummary({ title: 'Fine' }),
      makeSummary({ title: 'Broken', status: 'failed', resultPreview: null }),
    ])
    const view = open(runner, `/activity?status=failed&agent=${agent.id}`)
    expect(await screen.findByText('Broken')).toBeInTheDocument()
    expect(screen.queryByText('Fine')).not.toBeInTheDocument()
    expect(runner.callsOf('listJobs')[0]!.query).toMatchObject({ status: ['failed'], agentId: agent.id })
    expect(screen.getByRole('button', { name: /Status.*Failed/ })).toBeInTheDocument()

    await view.user.type(screen.getByRole('searchbox'), 'nowhere')
    expect(await screen.findByText('No matching jobs')).toBeInTheDocument()
    expect(view.path()).toBe(`/activity?status=failed&agent=${agent.id}&q=nowhere`)

    await view.user.click(screen.getAllByRole('button', { name: 'Clear filters' })[0]!)
    expect(await screen.findByText('Fine')).toBeInTheDocument()
    expect(view.path()).toBe('/activity')
    expect(screen.getByRole('searchbox')).toHaveValue('')
  })

  it('names the day that an address asks for', async () => {
    const { runner } = createWorkspace([makeSummary({ title: 'Fine' })])
    open(runner, '/activity?time=2026-11-20')
    expect(await screen.findByRole('button', { name: /Time.*Nov 20, 2026/ })).toBeInTheDocument()
    expect(runner.callsOf('listJobs')[0]!.query).toMatchObject({
      from: new Date(2026, 10, 20).getTime(),
      to: new Date(2026, 10, 21).getTime(),
    })
  })

  it('shows new jobs at the top without moving a reader further down', async () => {
    const { runner, add } = createWorkspace(Array.from({ length: 40 }, (_, n) => makeSummary({ title: `Job ${n}`, createdAt: 1000 - n })))
    open(runner)
    const list = await screen.findByRole('listbox', { name: 'Jobs, newest first' })
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    add(makeSummary({ title: 'Seen at once', createdAt: 2000 }))
    expect(await screen.findByText('Seen at once')).toBeInTheDocument()

    list.scrollTop = 500
    fireEvent.scroll(list)
    add(makeSummary({ title: 'Waits above', createdAt: 3000 }))
    add(makeSummary({ title: 'Waits too', createdAt: 3001 }))
    const pill = await screen.findByRole('button', { name: '2 new jobs' })
    expect(screen.queryByText('Waits above')).not.toBeInTheDocument()
    fireEvent.click(pill)
    expect(list.scrollTop).toBe(0)
    fireEvent.scroll(list)
    expect(await screen.findByText('Waits above')).toBeInTheDocument()
    expect(screen.queryByRole('button', { name: /new job/ })).not.toBeInTheDocument()
  })
})
