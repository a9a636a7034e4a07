import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { Person } from '../../../src-main/contract/auth-api.ts'
import type { CodeTask } from '../../../src-runner/contract/code-tasks.ts'
import type { CodingCli, CodingProgram } from '../../../src-runner/contract/coding-programs.ts'
import type { Desktop } from '../../platform/desktop.ts'
import { type Answers, createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeCodeTask, makeId } from '../../testing/things.ts'
import { CodeScreen } from './CodeScreen.tsx'

const SHOP = '/home/ada/shop'
const agent = makeAgent({ name: 'Ada', folders: [SHOP], isDefault: true })

function makeProgram(cli: CodingCli, fields: Partial<CodingProgram> = {}): CodingProgram {
  return { cli, installed: false, path: null, version: null, signedIn: 'unknown', fix: `npm install -g ${cli}`, ...fields }
}

const SIGNED_IN = { installed: true, path: '/usr/bin/x', version: '1.0', signedIn: 'yes', fix: null } as const

const member: Person = { id: makeId(), name: 'Bo', role: 'member', createdAt: 0 }

type Given = { person?: Person; tasks?: CodeTask[]; programs?: CodingProgram[]; answers?: Answers; path?: string; pick?: string }

function open({ tasks = [], programs = [], answers = {}, path = '/code', pick, person }: Given = {}) {
  const runner = createFakeRunner({
    listAgents: () => ({ agents: [agent], nextCursor: null }),
    listCodeTasks: () => ({ codeTasks: tasks.map(({ files: _files, commands: _commands, ...summary }) => summary), nextCursor: null }),
    listCodeRepositories: () => ({ repositories: [{ folder: SHOP, branch: 'main', dirty: true }] }),
    checkCodingProgram: ({ body }) => programs.find(({ cli }) => cli === body.cli) ?? makeProgram(body.cli),
    updateAgent: ({ body }) => ({ agent: { ...agent, ...(body.folders && { folders: body.folders }) }, unpricedModels: [] }),
    ...answers,
  })
  const desktop = pick === undefined ? {} : { api: {} as Desktop['api'], pickFolder: () => Promise.resolve(pick) }
  const view = renderScreen(CodeScreen, { route: '/code', path, runner, desktop, person, more: { '/jobs/:jobId': () => <p>the job</p> } })
  return { ...view, runner }
}

it('says what code tasks are and what to do first, and opens the dialog', async () => {
  const { user, path } = open()
  expect(await screen.findByText('Hand a repository to a coding agent')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'New code task' }))
  expect(await screen.findByRole('dialog', { name: 'New code task' })).toBeVisible()
  expect(path()).toBe('/code?new=1')
})

it('asks for an agent first when there is none', async () => {
  open({ answers: { listAgents: () => ({ agents: [], nextCursor: null }) } })
  expect(await screen.findByRole('link', { name: 'Create agent' })).toHaveAttribute('href', '/agents/new')
})

it('offers no new task to a member, who may not start one', async () => {
  const { runner } = open({ person: member, path: '/code?new=1' })
  expect(await screen.findByText('Only owners can start one.', { exact: false })).toBeVisible()
  expect(screen.queryByRole('button', { name: 'New code task' })).not.toBeInTheDocument()
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
  expect(runner.callsOf('listCodeRepositories')).toEqual([])
})

it('lists tasks with repository, program, branch, changes, cost and what became of them', async () => {
  const ready = makeCodeTask({ branch: 'deckhand/evil\u202Ename' })
  const nothing = makeCodeTask({ title: 'Look only', result: 'none', additions: 0, deletions: 0 })
  const failed = makeCodeTask({ title: 'Broke', jobStatus: 'failed', result: 'none', priced: false, costUsd: 0 })
  const running = makeCodeTask({ title: 'Works', jobStatus: 'running', result: 'none', cli: 'gemini' })
  const { user, path } = open({ tasks: [ready, nothing, failed, running] })
  const list = await screen.findByRole('listbox', { name: 'Code tasks, newest first' })
  const rows = within(list).getAllByRole('option')
  for (const part of ['Ready to review', 'shop', 'Claude Code', 'deckhand/evil⟨U+202E⟩name', '4 lines added', '1 line removed', '$0.42']) {
    expect(rows[0]).toHaveTextContent(part)
  }
  expect(rows[1]).toHaveTextContent('No changes')
  expect(rows[2]).toHaveTextContent('unpriced')
  expect(rows[2]).not.toHaveTextContent('No changes')
  expect(rows[3]).toHaveTextContent('Gemini CLI')
  expect(rows[3]).toHaveTextContent('Running')
  await user.click(rows[0]!)
  await waitFor(() => expect(path()).toBe(`/jobs/${ready.jobId}`))
})

it('starts a task with the program that is signed in, without the internet, and opens its job', async () => {
  const jobId = makeId()
  const programs = [makeProgram('claude', { ...SIGNED_IN, signedIn: 'no', fix: 'claude auth login' }), makeProgram('codex', SIGNED_IN)]
  const { user, runner, path } = open({ programs, path: '/code?new=1', answers: { createCodeTask: () => ({ jobId }) } })
  const dialog = within(await screen.findByRole('dialog'))
  expect(await dialog.findByRole('radio', { name: /^Codex/, checked: true })).toBeInTheDocument()
  expect(dialog.getByText(/^In the sandbox: .* If Codex cannot work/)).toBeVisible()
  expect(await dialog.findByText(/uncommitted changes/)).toBeVisible()

  await user.click(dialog.getByRole('radio', { name: /^Claude Code/ }))
  expect(dialog.getByText(/Claude Code is not signed in/)).toBeVisible()
  expect(dialog.getByText('claude auth login')).toBeVisible()
  await user.click(dialog.getByRole('radio', { name: /^Codex/ }))

  await user.click(dialog.getByRole('button', { name: 'Start' }))
  expect(dialog.getByText('Describe the task.')).toBeVisible()
  expect(runner.callsOf('createCodeTask')).toEqual([])
  await user.type(dialog.getByLabelText('Task'), 'Fix the cart')
  await user.click(dialog.getByRole('button', { name: 'Start' }))
  await waitFor(() => expect(path()).toBe(`/jobs/${jobId}`))
  expect(runner.callsOf('createCodeTask')[0]!.body).toEqual({
    agentId: agent.id,
    cli: 'codex',
    folder: SHOP,
    task: 'Fix the cart',
    internet: false,
  })
  expect(runner.callsOf('updateAgent')).toEqual([])
})

it('does not start with a program that is not installed, and says how to install it', async () => {
  const { user, runner } = open({ path: '/code?new=1' })
  const dialog = within(await screen.findByRole('dialog'))
  await waitFor(() => expect(dialog.getAllByText('Not installed')).toHaveLength(4))
  await user.click(dialog.getByRole('radio', { name: /^OpenCode/ }))
  expect(dialog.getByText('npm install -g opencode')).toBeVisible()
  await user.type(dialog.getByLabelText('Task'), 'Fix it')
  await user.click(dialog.getByRole('button', { name: 'Start' }))
  expect(dialog.getByText('Choose a program that is installed.')).toBeVisible()
  expect(runner.callsOf('createCodeTask')).toEqual([])
})

it('says that another folder is opened to the agent, and takes it back if the task is refused', async () => {
  const { user, runner } = open({
    programs: [makeProgram('claude', SIGNED_IN)],
    path: '/code?new=1',
    pick: '/home/ada/notes',
    answers: { createCodeTask: () => new Refusal('not_a_repository') },
  })
  const dialog = within(await screen.findByRole('dialog'))
  await dialog.findByRole('radio', { name: /^Claude Code/, checked: true })
  await user.click(dialog.getByRole('button', { name: 'Other folder…' }))
  expect(await dialog.findByText(/gives Ada access to \/home\/ada\/notes/)).toBeVisible()
  await user.type(dialog.getByLabelText('Task'), 'Fix it')
  await user.click(dialog.getByRole('button', { name: 'Start' }))
  expect(await dialog.findByText(/This folder is not in a Git repository/)).toBeVisible()
  expect(runner.callsOf('updateAgent').map(({ body }) => body.folders)).toEqual([[SHOP, '/home/ada/notes'], [SHOP]])
})

it('says that it runs without a sandbox where there is none', async () => {
  const none = { works: false, reason: null, advice: null }
  const sandbox = { kind: 'none', ...none, network: none, checkedAt: 1_700_000_000_000 } as const
  open({ programs: [makeProgram('claude', SIGNED_IN)], path: '/code?new=1', answers: { getSandbox: () => ({ sandbox }) } })
  expect(await screen.findByText(/^Without a sandbox.*Claude Code can do anything that you can/)).toBeVisible()
})
