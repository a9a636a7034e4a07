import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS, type Settings } from '../../../src-runner/contract/settings.ts'
import { createFakeRunner, createHeldStream, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeApproval, makeId, makeJob, makeModel, makeProvider } from '../../testing/things.ts'
import { WelcomeScreen } from './WelcomeScreen.tsx'

/** A workspace that remembers its settings, as the runner does. */
function freshRunner(settings: Partial<Settings> = {}) {
  let held: Settings = { ...DEFAULT_SETTINGS, ...settings }
  const runner = createFakeRunner({
    getSettings: () => ({ settings: held }),
    updateSettings: ({ body }) => {
      held = { ...held, ...body }
      queueMicrotask(() => runner.happen({ type: 'settings.changed', payload: { keys: Object.keys(body) } }))
      return { settings: held }
    },
  })
  return Object.assign(runner, { settings: () => held })
}

const open = (runner: ReturnType<typeof freshRunner>, path = '/welcome') => renderScreen(WelcomeScreen, { runner, route: '/welcome', path })

it('leads from the demo model to an agent and a finished first job', async () => {
  const runner = freshRunner()
  const agent = makeAgent({ name: 'File guide', folders: ['/home/mira/notes'] })
  const job = makeJob({
    agentId: agent.id,
    status: 'running',
    task: 'Look at my folder and tell me what is in there.',
    finishedAt: null,
    result: null,
    conversationId: makeId(),
  })
  runner.answer({
    createAgent: () => ({ agent }),
    listAgents: () => ({ agents: [agent], nextCursor: null }),
    getJob: () => ({ job }),
    listSteps: () => ({ steps: [] }),
  })
  const conversationId = job.conversationId!
  const start = createHeldStream()
  runner.streamFrames('chatStream', [start])
  start.send({ type: 'start', jobId: job.id, conversationId })
  const { user, path } = open(runner)
  await user.click(await screen.findByRole('button', { name: 'Use demo' }))
  expect(screen.queryByRole('button', { name: /pauseAll/i })).toBeNull()
  expect(runner.callsOf('updateSettings')[0]!.body).toEqual({ defaultModel: { providerId: 'demo', model: 'demo' } })

  await screen.findByRole('heading', { name: 'Create your first agent' })
  await user.click(screen.getByRole('radio', { name: /Research notes/ }))
  expect(screen.getByLabelText('Name')).toHaveValue('Research notes')
  await user.click(screen.getByRole('radio', { name: /File guide/ }))
  await user.type(screen.getByLabelText(/Folder access/), '/home/mira/notes')
  await user.click(screen.getByRole('button', { name: 'Create agent' }))
  expect(runner.callsOf('createAgent')[0]!.body).toMatchObject({ name: 'File guide', folders: ['/home/mira/notes'] })

  await screen.findByRole('heading', { name: 'Run a first job with File guide' })
  await user.click(screen.getByRole('button', { name: 'Run job' }))
  // As a turn of a conversation, so that it is found in Chat.
  await waitFor(() => expect(runner.callsOf('chatStream')[0]?.body).toMatchObject({ agentId: agent.id, message: job.task }))
  await screen.findByRole('heading', { name: 'Your first job is running' })
  expect(path()).toContain(job.id)
  expect(screen.getByRole('button', { name: 'Stop' })).toBeEnabled()
  // From here on the app is in use: the first start is not shown again, whatever happens to this page.
  await waitFor(() => expect(runner.settings().firstStart).toBe('done'))

  runner.answer({ getJob: () => ({ job: { ...job, status: 'completed', result: 'Three files.', finishedAt: Date.now() } }) })
  runner.happen({
    type: 'job.finished',
    payload: {
      jobId: job.id,
      agentId: agent.id,
      conversationId: null,
      status: 'completed',
      title: job.title,
      error: null,
      costUsd: 0,
      scheduleId: null,
    },
  })
  await screen.findByRole('heading', { name: 'Your first job is done' })
  expect(screen.getByRole('link', { name: 'Go to Home' })).toHaveAttribute('href', '/')
})

it('sends the first job again as the same turn when it is unknown whether it was accepted', async () => {
  const runner = freshRunner()
  const agent = makeAgent({ name: 'File guide' })
  runner.answer({ listAgents: () => ({ agents: [agent], nextCursor: null }) })
  const [cut, start] = [createHeldStream(), createHeldStream()]
  runner.streamFrames('chatStream', [cut, start])
  const { user } = open(runner, '/welcome?step=job')
  await user.click(await screen.findByRole('button', { name: 'Run job' }))
  await waitFor(() => expect(runner.callsOf('chatStream')).toHaveLength(1))
  cut.break()
  await screen.findByRole('alert')
  await user.click(screen.getByRole('button', { name: 'Run job' }))
  await waitFor(() => expect(runner.callsOf('chatStream')).toHaveLength(2))
  const [first, second] = runner.callsOf('chatStream')
  expect(first!.body.clientId).toMatch(/./)
  expect(second!.body).toEqual(first!.body)
  start.break()
})

it('lets the person answer what the first job asks, or leave', async () => {
  const runner = freshRunner()
  const job = makeJob({ status: 'awaiting_approval', finishedAt: null, result: null })
  const approval = makeApproval({ jobId: job.id })
  runner.answer({
    getJob: () => ({ job }),
    listSteps: () => ({ steps: [] }),
    listApprovals: () => ({ approvals: [approval], pending: 1, nextCursor: null }),
    resolveApproval: () => ({ ok: true, jobId: job.id, status: 'pending', decision: 'approve' }),
  })
  const { user } = open(runner, `/welcome?step=job&job=${job.id}`)
  const links = ['Go to Home', 'View steps'].map(async (name) => (await screen.findByRole('link', { name })).getAttribute('href'))
  expect(await Promise.all(links)).toEqual(['/', `/jobs/${job.id}`])
  const card = await screen.findByRole('article', { name: /Overwrite Documents/ })
  await user.click(within(card).getByRole('button', { name: /Approve once/ }))
  await waitFor(() => expect(runner.callsOf('resolveApproval')[0]?.body).toMatchObject({ approvalId: approval.id, decision: 'approve' }))
})

it('offers servers on this machine first and uses the chosen model', async () => {
  const runner = freshRunner()
  const provider = makeProvider({ kind: 'ollama', name: 'Ollama' })
  runner.answer({
    listFoundServers: () => ({
      servers: [{ kind: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434', models: ['nomic-embed-text', 'qwen3:8b'] }],
    }),
    createProvider: () => ({ provider }),
  })
  const { user } = open(runner)
  await user.click(await screen.findByRole('button', { name: 'Use' }))
  await screen.findByRole('heading', { name: 'Create your first agent' })
  expect(runner.settings().defaultModel).toEqual({ providerId: provider.id, model: 'qwen3:8b' })
})

it('connects a provider with a key and then lets the person choose its model', async () => {
  const runner = freshRunner()
  const provider = makeProvider()
  runner.answer({
    createProvider: () => {
      runner.answer({ listProviders: () => ({ providers: [provider], nextCursor: null }) })
      queueMicrotask(() => runner.happen({ type: 'provider.created', payload: { providerId: provider.id } }))
      return { provider }
    },
    checkProvider: () => ({ ok: true, models: 1, message: null }),
    listModels: () => ({
      models: [
        makeModel({
          providerId: provider.id,
          providerName: 'Anthropic',
          providerKind: 'anthropic',
          model: 'claude-sonnet-4-5',
          label: 'Claude Sonnet 4.5',
        }),
      ],
      problems: [],
      defaultModel: null,
      nextCursor: null,
    }),
  })
  const { user } = open(runner)
  await user.click(await screen.findByRole('button', { name: /Anthropic/ }))
  const dialog = await screen.findByRole('dialog', { name: 'Connect Anthropic' })
  await user.type(within(dialog).getByLabelText('API key'), 'key')
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await screen.findByText('Anthropic is connected. Choose a model for your agents.')
  await waitFor(() => expect(screen.getByRole('combobox')).toHaveValue('Claude Sonnet 4.5'))
  await user.click(screen.getByRole('button', { name: 'Continue' }))
  await screen.findByRole('heading', { name: 'Create your first agent' })
  expect(runner.settings().defaultModel).toEqual({ providerId: provider.id, model: 'claude-sonnet-4-5' })
})

it('resumes at the last step, and shows the problem of the folder', async () => {
  const runner = freshRunner({ firstStart: 'agent' })
  runner.answer({ createAgent: () => new Refusal('folder_not_usable', '', undefined, { code: 'folder_missing', params: {} }) })
  const { user } = open(runner)
  await screen.findByRole('heading', { name: 'Create your first agent' })
  await user.type(screen.getByLabelText(/Folder access/), '/nowhere')
  await user.click(screen.getByRole('button', { name: 'Create agent' }))
  await waitFor(() => expect(screen.getByLabelText(/Folder access/)).toHaveAccessibleDescription('There is no such folder.'))
})

it('chooses the folder with the system dialog in the app', async () => {
  const runner = freshRunner({ firstStart: 'agent' })
  runner.answer({ createAgent: () => ({ agent: makeAgent() }) })
  const { user } = renderScreen(WelcomeScreen, {
    runner,
    route: '/welcome',
    path: '/welcome',
    desktop: { api: {} as never, pickFolder: () => Promise.resolve('/home/mira/Documents') },
  })
  await user.click(await screen.findByRole('button', { name: 'Choose folder…' }))
  await screen.findByText('/home/mira/Documents')
  await user.click(screen.getByRole('button', { name: 'Create agent' }))
  await waitFor(() => expect(runner.callsOf('createAgent')[0]!.body.folders).toEqual(['/home/mira/Documents']))
})

it('can be skipped for good', async () => {
  const runner = freshRunner()
  const { user, path } = open(runner)
  await user.click(await screen.findByRole('button', { name: 'Skip setup' }))
  await waitFor(() => expect(path()).toBe('/'))
  expect(runner.settings().firstStart).toBe('done')
})

it('offers a folder of samples', async () => {
  const runner = freshRunner()
  runner.answer({ makeSampleFolder: () => ({ path: '/home/mira/Documents/Deckhand sample' }) })
  const { user } = open(runner, '/welcome?step=agent')
  await user.click(await screen.findByRole('button', { name: 'Use sample folder' }))
  await waitFor(() => expect(screen.getByLabelText(/Folder access/)).toHaveValue('/home/mira/Documents/Deckhand sample'))
})
