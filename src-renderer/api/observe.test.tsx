import { screen, waitFor } from '@solidjs/testing-library'
import { For } from 'solid-js'
import { describe, expect, it } from 'vitest'
import { createFakeRunner, Refusal } from '../testing/fake-runner.ts'
import { renderScreen } from '../testing/render.tsx'
import { makeAgent, makeJob, makeSummary } from '../testing/things.ts'
import { useCancelJob } from './mutations.ts'
import { useAgents, useJob, useJobs, useProgress, useRules } from './queries.ts'

function JobTitles() {
  const jobs = useJobs(() => ({ status: ['failed', 'completed'] }))
  return (
    <>
      <For each={jobs.items}>{(job) => <p>{job.title}</p>}</For>
      <button type="button" disabled={!jobs.hasMore} onClick={() => jobs.more()}>
        more
      </button>
    </>
  )
}

function AgentNames() {
  const agents = useAgents()
  return (
    <ul>
      <For each={agents.data?.agents}>{(agent) => <li>{agent.name}</li>}</For>
    </ul>
  )
}

describe('queries', () => {
  it('are refreshed by events', async () => {
    const agent = makeAgent({ name: 'Before' })
    const runner = createFakeRunner({ listAgents: () => ({ agents: [agent], nextCursor: null }) })
    renderScreen(AgentNames, { runner })
    const row = await screen.findByText('Before')
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    runner.answer({ listAgents: () => ({ agents: [{ ...agent, name: 'After' }], nextCursor: null }) })
    runner.happen({ type: 'agent.changed', payload: { agentId: agent.id } })
    await screen.findByText('After')
    // The row is the same element: it changed in place.
    expect(row).toHaveTextContent('After')
  })

  it('are not refetched by unrelated events', async () => {
    const runner = createFakeRunner({ listAgents: () => ({ agents: [makeAgent({ name: 'Quiet' })], nextCursor: null }) })
    renderScreen(AgentNames, { runner })
    await screen.findByText('Quiet')
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    await waitFor(() => expect(runner.callsOf('listAgents')).toHaveLength(2))
    runner.happen({ type: 'conversation.created', payload: { conversationId: makeAgent().id, agentId: makeAgent().id } })
    runner.happen({ type: 'settings.changed', payload: { keys: ['concurrency'] } })
    runner.happen({ type: 'agent.created', payload: { agentId: makeAgent().id } })
    await waitFor(() => expect(runner.callsOf('listAgents')).toHaveLength(3))
  })

  it('are refetched when an event arrives during the first fetch', async () => {
    let first: ((name: string) => void) | undefined
    const runner = createFakeRunner({
      listAgents: () => new Promise((resolve) => (first = (name) => resolve({ agents: [makeAgent({ name })], nextCursor: null }))),
    })
    renderScreen(AgentNames, { runner })
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    await waitFor(() => expect(first).toBeDefined())
    const answerFirst = first!
    runner.happen({ type: 'agent.changed', payload: { agentId: makeAgent().id } })
    runner.answer({ listAgents: () => ({ agents: [makeAgent({ name: 'Newer' })], nextCursor: null }) })
    answerFirst('Older')
    await screen.findByText('Newer')
  })

  it('show an answer that took longer than the next event', async () => {
    const agent = makeAgent({ name: 'Before' })
    const answers: ((name: string) => void)[] = []
    const runner = createFakeRunner({ listAgents: () => ({ agents: [agent], nextCursor: null }) })
    const AgentsAndRules = () => {
      useRules(() => null)
      return <AgentNames />
    }
    renderScreen(AgentsAndRules, { runner })
    await screen.findByText('Before')
    await waitFor(() => expect(runner.callsOf('listAgents')).toHaveLength(2))
    runner.answer({
      listAgents: () => new Promise((resolve) => answers.push((name) => resolve({ agents: [{ ...agent, name }], nextCursor: null }))),
    })
    runner.happen({ type: 'agent.changed', payload: { agentId: agent.id } })
    await waitFor(() => expect(answers).toHaveLength(1))
    const before = runner.callsOf('listRules').length
    // Concerns both lists: when the rules are fetched, the agents would have been.
    runner.happen({ type: 'agent.deleted', payload: { agentId: makeAgent().id } })
    await waitFor(() => expect(runner.callsOf('listRules').length).toBeGreaterThan(before))
    answers[0]!('Meanwhile')
    await screen.findByText('Meanwhile')
    await waitFor(() => expect(answers).toHaveLength(2))
    answers[1]!('After')
    await screen.findByText('After')
  })

  it('are refetched after a reconnect', async () => {
    const runner = createFakeRunner({ listAgents: () => ({ agents: [makeAgent({ name: 'Old' })], nextCursor: null }) })
    renderScreen(AgentNames, { runner })
    await screen.findByText('Old')
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    runner.answer({ listAgents: () => ({ agents: [makeAgent({ name: 'New' })], nextCursor: null }) })
    runner.breakStreams()
    await screen.findByText('New')
  })

  it('report an error and retry', async () => {
    let isBroken = true
    const runner = createFakeRunner({
      listAgents: () => (isBroken ? new Refusal('internal') : { agents: [makeAgent({ name: 'Back' })], nextCursor: null }),
    })
    const Part = () => {
      const agents = useAgents()
      return (
        <button type="button" onClick={() => agents.retry()}>
          {agents.error ? 'broken' : agents.isPending ? 'pending' : agents.data!.agents[0]!.name}
        </button>
      )
    }
    const { user } = renderScreen(Part, { runner })
    await screen.findByText('broken')
    isBroken = false
    await user.click(screen.getByRole('button'))
    await screen.findByText('Back')
  })

  it('load the next page and keep the earlier ones', async () => {
    const runner = createFakeRunner({
      listJobs: ({ query }) =>
        query.cursor === 'two'
          ? { jobs: [makeSummary({ title: 'Second' })], nextCursor: null }
          : { jobs: [makeSummary({ title: 'First' })], nextCursor: 'two' },
    })
    const { user } = renderScreen(JobTitles, { runner })
    await screen.findByText('First')
    await user.click(screen.getByRole('button', { name: 'more' }))
    await screen.findByText('Second')
    expect(screen.getByText('First')).toBeInTheDocument()
    expect(screen.getByRole('button', { name: 'more' })).toBeDisabled()
  })

  it('load the next page although the list is being refetched, and refetch it then', async () => {
    const first = makeSummary({ title: 'Before' })
    const second = makeSummary({ title: 'Second' })
    const held = Promise.withResolvers<void>()
    let isHeld = false
    const runner = createFakeRunner({
      listJobs: async ({ query }) => {
        if (query.cursor === 'two') return { jobs: [second], nextCursor: null }
        if (isHeld) await held.promise
        return { jobs: [first], nextCursor: 'two' }
      },
    })
    const { user } = renderScreen(JobTitles, { runner })
    await screen.findByText('Before')
    await waitFor(() => expect(runner.callsOf('listJobs')).toHaveLength(2))
    isHeld = true
    first.title = 'After'
    runner.happen({ type: 'job.started', payload: { jobId: first.id, agentId: first.agentId, conversationId: null, attempt: 1 } })
    await waitFor(() => expect(runner.callsOf('listJobs')).toHaveLength(3))
    await user.click(screen.getByRole('button', { name: 'more' }))
    await screen.findByText('Second')
    held.resolve()
    await screen.findByText('After')
    expect(screen.getByText('Second')).toBeInTheDocument()
  })

  describe('of a job that is to be stopped', () => {
    async function openStopping() {
      const job = makeJob({ status: 'running' })
      const refusal = Promise.withResolvers<Refusal>()
      const runner = createFakeRunner({ getJob: () => ({ job }), cancelJob: () => refusal.promise })
      const Part = () => {
        const held = useJob(() => job.id)
        const cancel = useCancelJob()
        return (
          <button type="button" onClick={() => void cancel.run({ params: { jobId: job.id } }).catch(() => undefined)}>
            {held.data?.job.status} {held.data?.job.cancelRequested ? 'stopping' : 'stop'}
          </button>
        )
      }
      const { user } = renderScreen(Part, { runner })
      await waitFor(() => expect(runner.callsOf('getJob').length).toBeGreaterThan(1))
      await user.click(await screen.findByText('running stop'))
      await screen.findByText('running stopping')
      return { job, runner, refuse: () => refusal.resolve(new Refusal('job_already_finished')) }
    }

    it('show it as stopping at once, and read it again when that was refused', async () => {
      const { job, runner, refuse } = await openStopping()
      runner.answer({ getJob: () => ({ job: { ...job, status: 'completed' } }) })
      refuse()
      await screen.findByText('completed stop')
    })

    it('show it as running again when neither stopping nor reading it works', async () => {
      const { runner, refuse } = await openStopping()
      runner.answer({ getJob: () => new Refusal('internal') })
      refuse()
      await screen.findByText('running stop')
    })
  })

  it('know the progress of a running job until it ends', async () => {
    const job = makeJob({ status: 'running' })
    const Part = () => {
      const progress = useProgress(() => job.id)
      return <p>{JSON.stringify(progress()?.detail ?? 'nothing')}</p>
    }
    const { runner } = renderScreen(Part)
    await screen.findByText('"nothing"')
    await waitFor(() => expect(runner.streams).toHaveLength(1))
    runner.happen({ type: 'job.progress', payload: { jobId: job.id, activity: 'tool', detail: 'read_file', until: null } })
    await screen.findByText('"read_file"')
    runner.happen({
      type: 'job.finished',
      payload: {
        jobId: job.id,
        agentId: job.agentId,
        conversationId: null,
        status: 'completed',
        title: '',
        error: null,
        costUsd: 0,
        scheduleId: null,
      },
    })
    await screen.findByText('"nothing"')
  })
})
