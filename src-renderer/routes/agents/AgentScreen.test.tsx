import { screen, waitFor, within } from '@solidjs/testing-library'
import { A } from '@solidjs/router'
import { describe, expect, it } from 'vitest'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen, type RenderOptions } from '../../testing/render.tsx'
import { makeAgent, makeChannel, makeCredential, makeMcpServer, makeModel, makeSkill, makeSummary } from '../../testing/things.ts'
import { AgentScreen } from './AgentScreen.tsx'
import { AgentsScreen } from './AgentsScreen.tsx'

function createWorkspace(agents: Agent[]) {
  return createFakeRunner({
    listAgents: () => ({ agents, nextCursor: null }),
    getAgent: ({ params }) => {
      const agent = agents.find((one) => one.id === params.agentId)
      return agent === undefined ? new Refusal('agent_not_found') : { agent }
    },
    listModels: () => ({
      models: [makeModel(), makeModel({ providerId: 'p', providerName: 'Local', model: 'large', label: 'Large' })],
      problems: [],
      defaultModel: { providerId: 'demo', model: 'demo' },
      nextCursor: null,
    }),
    createAgent: ({ body }) => ({ agent: makeAgent({ name: body.name }) }),
    updateAgent: ({ params }) => ({ agent: agents.find((one) => one.id === params.agentId)! }),
    deleteAgent: () => ({ ok: true }),
  })
}

function open(runner: ReturnType<typeof createFakeRunner>, path: string, options: RenderOptions = {}) {
  const Page = () => (
    <>
      <A href="/elsewhere">Elsewhere</A>
      <AgentScreen />
    </>
  )
  return renderScreen(Page, { route: '/agents/:agentId', path, runner, ...options })
}

const nameField = () => screen.findByRole('textbox', { name: 'Name' })

describe('a new agent', () => {
  it('has the cursor in its name', async () => {
    open(createWorkspace([]), '/agents/new')
    await waitFor(async () => expect(await nameField()).toHaveFocus())
  })

  it('starts with an example, until something is written', async () => {
    const runner = createWorkspace([])
    const { user } = open(runner, '/agents/new')
    await user.click(await screen.findByRole('button', { name: 'Careful editor' }))
    await user.click(screen.getByRole('button', { name: 'File guide' }))
    expect(await nameField()).toHaveValue('File guide')
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: /Instructions/ }).value).toContain('find their way in a folder')
    await user.type(await nameField(), '!')
    expect(screen.queryByRole('button', { name: 'Careful editor' })).toBeNull()
    await user.click(screen.getByRole('button', { name: 'Create agent' }))
    await waitFor(() => expect(runner.callsOf('createAgent')[0]?.body.name).toBe('File guide!'))
  })

  it('is created with the chosen values', async () => {
    const runner = createWorkspace([])
    const view = open(runner, '/agents/new', {
      desktop: { api: {} as never, onState: () => () => {}, pickFolder: () => Promise.resolve('/srv/notes') },
    })
    await view.user.type(await nameField(), 'Ada')
    await view.user.type(screen.getByRole('textbox', { name: /Instructions/ }), 'Be brief.')
    await view.user.click(screen.getByRole('radio', { name: /Always ask/ }))
    await view.user.click(screen.getByRole('button', { name: 'Add folder…' }))
    expect(await screen.findByText('/srv/notes')).toBeInTheDocument()
    await view.user.clear(screen.getByRole('textbox', { name: 'Spending limit (US$)' }))
    await view.user.type(screen.getByRole('textbox', { name: 'Spending limit (US$)' }), '0.5')
    await view.user.click(screen.getByRole('button', { name: 'Create agent' }))
    await waitFor(() => expect(view.path()).toBe('/agents'))
    expect(runner.callsOf('createAgent')[0]!.body).toMatchObject({
      name: 'Ada',
      instructions: 'Be brief.',
      autonomy: 'ask_first',
      model: null,
      folders: ['/srv/notes'],
      limits: { maxCostUsd: 0.5, maxTurns: 50, maxWorkingMs: 7_200_000, maxToolCalls: 200 },
    })
    expect(await screen.findByText('Ada created')).toBeInTheDocument()
  })

  it('is not sent while a field is invalid, and shows the problem at the field', async () => {
    const runner = createWorkspace([])
    const view = open(runner, '/agents/new')
    await nameField()
    await view.user.click(screen.getByRole('button', { name: 'Create agent' }))
    expect(await screen.findByText('Enter a name.')).toBeInTheDocument()
    expect(screen.getByText('1 field is invalid.')).toBeInTheDocument()
    expect(await nameField()).toBeInvalid()
    await waitFor(async () => expect(await nameField()).toHaveFocus())
    expect(runner.callsOf('createAgent')).toHaveLength(0)
    await view.user.type(await nameField(), 'Ada')
    expect(screen.queryByText('Enter a name.')).not.toBeInTheDocument()
  })

  it('shows the runner’s issue at its field until the field changes', async () => {
    const runner = createWorkspace([])
    runner.answer({
      createAgent: () => new Refusal('folder_not_usable', 'No.', [{ path: 'folders.1', message: 'There is no such folder.' }]),
    })
    const view = open(runner, '/agents/new')
    await view.user.type(await nameField(), 'Ada')
    const path = screen.getByRole('textbox', { name: 'Folder path' })
    await view.user.type(path, 'notes{Enter}')
    expect(await screen.findByText('Enter the full path.')).toBeInTheDocument()
    await view.user.clear(path)
    await view.user.type(path, '/srv/a{Enter}/srv/b{Enter}')
    await view.user.click(screen.getByRole('button', { name: 'Create agent' }))
    const second = (await screen.findByText('/srv/b')).closest('li')!
    expect(await within(second).findByText('There is no such folder.')).toBeInTheDocument()
    expect(view.path()).toBe('/agents/new')
    await view.user.click(screen.getByRole('button', { name: 'Remove /srv/b' }))
    expect(screen.queryByText('There is no such folder.')).not.toBeInTheDocument()
  })

  it('shows an error that belongs to no field', async () => {
    const runner = createWorkspace([])
    runner.answer({ createAgent: () => new Refusal('internal') })
    const view = open(runner, '/agents/new')
    await view.user.type(await nameField(), 'Ada{Enter}')
    expect(await screen.findByText(/Something went wrong inside Deckhand/)).toBeInTheDocument()
  })
})

describe('an agent', () => {
  it('can be saved only after a change', async () => {
    const agent = makeAgent({ name: 'Ada' })
    const runner = createWorkspace([agent])
    const view = open(runner, `/agents/${agent.id}`)
    expect(await screen.findByRole('button', { name: 'Save changes' })).toBeDisabled()
    await view.user.type(await nameField(), ' L')
    expect(screen.getByText('Unsaved changes')).toBeInTheDocument()
    await view.user.click(screen.getByRole('button', { name: 'Save changes' }))
    expect(await screen.findByText('Changes saved')).toBeInTheDocument()
    expect(runner.callsOf('updateAgent')[0]!.body).toMatchObject({ name: 'Ada L' })
    expect(screen.getByRole('button', { name: 'Save changes' })).toBeDisabled()
  })

  it('asks before unsaved changes are discarded', async () => {
    const agent = makeAgent({ name: 'Ada' })
    const view = open(createWorkspace([agent]), `/agents/${agent.id}`)
    await view.user.type(await nameField(), ' L')
    await view.user.click(screen.getByRole('link', { name: 'Elsewhere' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Discard changes?' })
    await view.user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
    expect(view.path()).toBe(`/agents/${agent.id}`)
    expect(await nameField()).toHaveValue('Ada L')
    await view.user.click(screen.getByRole('link', { name: 'Elsewhere' }))
    await view.user.click(await screen.findByRole('button', { name: 'Discard changes' }))
    await waitFor(() => expect(view.path()).toBe('/elsewhere'))
  })

  it('leaves without asking when nothing changed', async () => {
    const agent = makeAgent({ name: 'Ada' })
    const view = open(createWorkspace([agent]), `/agents/${agent.id}`)
    await nameField()
    await view.user.click(screen.getByRole('link', { name: 'Elsewhere' }))
    await waitFor(() => expect(view.path()).toBe('/elsewhere'))
  })

  it('asks by name before it is deleted, and says what goes with it and what stays', async () => {
    const agent = makeAgent({ name: 'Ada' })
    const runner = createWorkspace([agent, makeAgent({ name: 'Bob' })])
    runner.answer({ listJobs: () => ({ jobs: [makeSummary({ agentId: agent.id, status: 'running' })], nextCursor: null }) })
    const view = open(runner, `/agents/${agent.id}`)
    await view.user.click(await screen.findByRole('button', { name: 'Delete agent' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Delete Ada?' })
    expect(dialog).toHaveTextContent(
      'Its schedules with their run history, its channels and its rules are deleted. Webhooks lose their agent.',
    )
    expect(dialog).toHaveTextContent('past jobs stay in Activity')
    expect(await within(dialog).findByText('1 active job will be stopped.')).toBeInTheDocument()
    await view.user.click(within(dialog).getByRole('button', { name: 'Delete agent' }))
    await waitFor(() => expect(view.path()).toBe('/agents'))
    expect(runner.callsOf('deleteAgent')[0]!.params).toEqual({ agentId: agent.id })
  })

  it('orders its fallbacks', async () => {
    const agent = makeAgent({
      name: 'Ada',
      fallbacks: [
        { providerId: 'demo', model: 'demo' },
        { providerId: 'p', model: 'large' },
      ],
    })
    const runner = createWorkspace([agent])
    const view = open(runner, `/agents/${agent.id}`)
    await view.user.click(await screen.findByRole('button', { name: 'Move Large up' }))
    await view.user.click(screen.getByRole('button', { name: 'Save changes' }))
    await screen.findByText('Changes saved')
    expect(runner.callsOf('updateAgent')[0]!.body.fallbacks).toEqual(agent.fallbacks.toReversed())
  })
})

describe('the list of agents', () => {
  it('shows each agent with its spending and last jobs', async () => {
    const agent = makeAgent({ name: 'Ada', isDefault: true, folders: ['/srv/a', '/srv/b'], autonomy: 'on_its_own' })
    const runner = createWorkspace([agent])
    const job = makeSummary({ agentId: agent.id, status: 'failed', title: 'Sum up' })
    runner.answer({
      listJobs: () => ({ jobs: [job], nextCursor: null }),
      getSpend: () => ({
        rows: [{ key: agent.id, label: 'Ada', costUsd: 1.25, inputTokens: 1, outputTokens: 1, cachedTokens: 0, jobs: 1, unpricedCalls: 0 }],
        totalUsd: 1.25,
        unpricedCalls: 0,
      }),
    })
    renderScreen(AgentsScreen, { route: '/agents', path: '/agents', runner })
    expect(await screen.findByRole('link', { name: 'Ada' })).toHaveAttribute('href', `/agents/${agent.id}`)
    expect(screen.getByText('Default')).toBeInTheDocument()
    expect(screen.getByText('2 folders')).toBeInTheDocument()
    expect(screen.getByText('Autonomous')).toBeInTheDocument()
    expect(await screen.findByText('$1.25 in the last 30 days')).toBeInTheDocument()
    expect(await screen.findByRole('link', { name: /Failed/ })).toHaveAttribute('href', `/jobs/${job.id}`)
    expect(screen.getByRole('link', { name: 'Chat' })).toHaveAttribute('href', `/chat?agent=${agent.id}`)
  })

  it('explains agents when there are none', async () => {
    renderScreen(AgentsScreen, { route: '/agents', path: '/agents', runner: createWorkspace([]) })
    expect(await screen.findByText('No agents yet')).toBeInTheDocument()
    expect(screen.getAllByRole('link', { name: 'New agent' })[0]).toHaveAttribute('href', '/agents/new')
  })
})

it('says in one place what an agent can reach, with a link to change each', async () => {
  const agent = makeAgent({ name: 'Ada', folders: ['/srv/notes'] })
  const runner = createWorkspace([agent])
  const credential = makeCredential({ name: 'Work', agents: [{ agentId: agent.id, agentName: 'Ada', access: 'write' }] })
  const server = makeMcpServer({ agents: [{ agentId: agent.id, agentName: 'Ada', tools: null, tokens: 1250 }] })
  runner.answer({
    listChannels: () => ({ channels: [makeChannel({ agentId: agent.id, status: 'logged_out' })], nextCursor: null }),
    listCredentials: () => ({
      credentials: [credential, makeCredential({ name: 'Of a server', mcpServerId: server.id })],
      nextCursor: null,
    }),
    listMcpServers: () => ({ servers: [server], nextCursor: null }),
    getMcpToolUse: () => ({ onDemand: true, tools: 40, tokens: 12_000, tokensPerTurn: 450 }),
    listSkills: () => ({
      skills: [
        makeSkill({ name: 'forms', tokens: 30 }),
        makeSkill({ name: 'notes', tokens: 40 }),
        makeSkill({ name: 'shells', tokens: 500, status: 'needs_consent' }),
      ],
      nextCursor: null,
    }),
  })
  open(runner, `/agents/${agent.id}`)
  const panel = (await screen.findByRole('heading', { name: 'What this agent can reach' })).closest('section')!
  expect(await within(panel).findByRole('link', { name: 'Work' })).toHaveAttribute('href', `/connections/${credential.id}`)
  expect(panel).toHaveTextContent('/srv/notes')
  expect(panel).toHaveTextContent('WorkRead and write')
  expect(panel).toHaveTextContent('Notesabout 1.3K tokens')
  expect(panel).toHaveTextContent('Found by search when needed: about 450 tokens a turn instead of 12K')
  expect(panel).toHaveTextContent('Logged out')
  expect(panel).toHaveTextContent(
    'formsabout 30 tokens a turnnotesabout 40 tokens a turnshellsNeeds your consentTogether about 70 tokens a turn',
  )
  expect(panel).not.toHaveTextContent('Of a server')
  expect(within(panel).getByRole('link', { name: 'Add: MCP tools' })).toHaveAttribute('href', `/connections?add=mcp&agent=${agent.id}`)
  expect(runner.callsOf('listCredentials')[0]!.query).toEqual({ agentId: agent.id })
})

it('does not say that an agent reaches nothing while that is not known', async () => {
  const agent = makeAgent({ name: 'Ada', folders: ['/srv/notes'] })
  const runner = createWorkspace([agent])
  runner.answer({
    listChannels: () => new Refusal('internal'),
    listCredentials: () => new Refusal('internal'),
    listMcpServers: () => new Refusal('internal'),
    listSkills: () => new Refusal('internal'),
  })
  open(runner, `/agents/${agent.id}`)
  const panel = (await screen.findByRole('heading', { name: 'What this agent can reach' })).closest('section')!
  await waitFor(() => expect(within(panel).getAllByRole('alert')).toHaveLength(4))
  expect(within(panel).queryByText('None')).not.toBeInTheDocument()
  const skills = screen.getByRole('heading', { name: 'Skills' }).closest('section')!
  expect(await within(skills).findByRole('alert')).toBeInTheDocument()
})
