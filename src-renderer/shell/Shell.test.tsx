import { Route } from '@solidjs/router'
import { createMemoryHistory, MemoryRouter } from '@solidjs/router'
import { render, screen, waitFor } from '@solidjs/testing-library'
import userEvent from '@testing-library/user-event'
import { type Component, createSignal } from 'solid-js'
import { expect, it, vi } from 'vitest'
import type { DesktopCommand, DesktopState } from '../../src-main/contract/desktop-api.ts'
import { DEFAULT_SETTINGS } from '../../src-runner/contract/settings.ts'
import { ApiProvider } from '../api/ApiProvider.tsx'
import { createClient } from '../api/client.ts'
import { createBrowserDesktop, type Desktop } from '../platform/desktop.ts'
import { DesktopProvider } from '../platform/DesktopProvider.tsx'
import { createFakeRunner, type FakeRunner, Refusal } from '../testing/fake-runner.ts'
import { makeAgent, makeSkill } from '../testing/things.ts'
import { ArrowList } from '../ui/ArrowList.tsx'
import { Select } from '../ui/Select.tsx'
import { ChatScreen } from '../routes/chat/ChatScreen.tsx'
import { HomeScreen } from '../routes/home/HomeScreen.tsx'
import { commandsFor } from './commands.ts'
import { Shell } from './Shell.tsx'

function open(options: { path?: string; runner?: FakeRunner; desktop?: Partial<Desktop>; screens?: Record<string, Component> } = {}) {
  const runner = options.runner ?? createFakeRunner()
  const history = createMemoryHistory()
  history.set({ value: options.path ?? '/', replace: true, scroll: false })
  render(() => (
    <DesktopProvider desktop={{ ...createBrowserDesktop(), ...options.desktop }}>
      <ApiProvider client={createClient(runner.fetch)}>
        <MemoryRouter history={history} root={Shell}>
          {Object.entries(options.screens ?? { '/': Searchable }).map(([path, component]) => (
            <Route path={path} component={component} />
          ))}
          <Route
            path="/boom"
            component={() =>
              (() => {
                throw new Error('broken screen')
              })()
            }
          />
          <Route path="*rest" component={() => <p>somewhere</p>} />
        </MemoryRouter>
      </ApiProvider>
    </DesktopProvider>
  ))
  return { runner, user: userEvent.setup(), path: () => history.get() }
}

function Searchable() {
  return (
    <>
      <input type="search" aria-label="Search here" />
      <ArrowList label="Rows">
        <li>
          <button type="button" data-row>
            Row one
          </button>
        </li>
        <li>
          <button type="button" data-row>
            Row two
          </button>
        </li>
      </ArrowList>
    </>
  )
}

it('names every screen and marks the current one', async () => {
  open({ path: '/jobs/1' })
  const links = await screen.findAllByRole('link', { name: 'Activity' })
  expect(links[0]).toHaveAttribute('aria-current', 'page')
  expect(screen.getAllByRole('link', { name: 'Home' })[0]).not.toHaveAttribute('aria-current', 'page')
})

it('counts the skills that need the person', async () => {
  const skills = [makeSkill(), makeSkill({ hasUpdate: true }), makeSkill({ status: 'changed' })]
  open({ runner: createFakeRunner({ listSkills: () => ({ skills, nextCursor: null }) }) })
  expect(await screen.findByRole('link', { name: /^Skills.*, 2 skills need you$/ })).toBeVisible()
})

it('reaches screens and agents through the palette', async () => {
  const agent = makeAgent({ name: 'Release watcher' })
  const { user, path } = open({ runner: createFakeRunner({ listAgents: () => ({ agents: [agent], nextCursor: null }) }) })
  await user.keyboard('{Control>}k{/Control}')
  const field = await screen.findByRole('combobox')
  await waitFor(() => expect(field).toHaveFocus())
  await user.keyboard('release{Enter}')
  await waitFor(() => expect(path()).toBe(`/chat?write=1&agent=${agent.id}`))
  expect(screen.queryByRole('combobox')).toBeNull()
})

it('leaves commands out of the palette that the person may not use', () => {
  const commands = commandsFor([], {
    go: () => {},
    changeTheme: () => {},
    showShortcuts: () => {},
    pauseAll: { isOn: () => false, isKnown: () => true, pause: () => {}, resume: async () => {} },
    may: () => false,
  }).map(({ id }) => id)
  for (const id of ['add-provider', 'connect-account', 'add-mcp-server', 'install-skill', 'new-skill', 'new-code-task'])
    expect(commands).not.toContain(id)
  expect(commands).toContain('new-chat')
})

it('leaves the cursor in the field for the text after "New chat" and "Run a job" in the palette', async () => {
  const agents = { agents: [makeAgent({ isDefault: true })], nextCursor: null }
  const screens = { '/': HomeScreen, '/chat': ChatScreen }
  const { user, path } = open({ path: '/activity', screens, runner: createFakeRunner({ listAgents: () => agents }) })
  const choose = async (command: string) => {
    await user.keyboard('{Control>}k{/Control}')
    await waitFor(() => expect(screen.getByRole('combobox', { name: /Search screens/ })).toHaveFocus())
    await user.keyboard(`${command}{Enter}`)
  }
  // Twice each: a screen that opens, and one that is open already.
  for (const _time of ['opens', 'is open']) {
    await choose('new chat')
    await waitFor(() => expect(screen.getByRole('textbox', { name: 'Message' })).toHaveFocus())
    expect(path()).toBe('/chat')
    document.getElementById('main')!.focus()
  }
  for (const _time of ['opens', 'is open']) {
    await choose('run a job')
    await waitFor(() => expect(screen.getByRole('textbox', { name: 'New job' })).toHaveFocus())
    expect(path()).toBe('/')
    document.getElementById('main')!.focus()
  }
})

it('opens a screen with g and a letter, searches with /, and ignores keys in fields', async () => {
  const { user, path } = open()
  const field = await screen.findByLabelText('Search here')
  await user.keyboard('/')
  await waitFor(() => expect(field).toHaveFocus())
  await user.keyboard('gs?')
  expect(field).toHaveValue('gs?')
  expect(path()).toBe('/')
  field.blur()
  await user.keyboard('gs')
  await waitFor(() => expect(path()).toBe('/settings'))
  await user.keyboard('gc')
  await waitFor(() => expect(path()).toBe('/chat'))
})

it('leaves the letters to an open list of choices', async () => {
  const choices = ['Ada', 'Gordon'].map((name) => ({ value: name, label: name }))
  const [chosen, choose] = createSignal('Ada')
  const { user, path } = open({
    screens: { '/': () => <Select label="Agent" options={choices} value={chosen()} onValue={choose} /> },
  })
  await user.click(await screen.findByRole('button', { name: /Agent/ }))
  await screen.findByRole('option', { name: 'Gordon' })
  await user.keyboard('go{Enter}')
  expect(path()).toBe('/')
  expect(chosen()).toBe('Gordon')
})

it('moves between the search field of a screen and its list by keys', async () => {
  const { user } = open()
  const field = await screen.findByLabelText('Search here')
  const rows = screen.getAllByRole('button', { name: /^Row/ })
  await user.keyboard('/ab{ArrowDown}')
  expect(rows[0]).toHaveFocus()
  await user.keyboard('{ArrowDown}')
  expect(rows[1]).toHaveFocus()
  await user.keyboard('{ArrowUp}{ArrowUp}')
  expect(field).toHaveFocus()
  await user.keyboard('{ArrowDown}{Escape}')
  expect(field).toHaveFocus()
  expect(field).toHaveValue('ab')
  await user.keyboard('{Escape}')
  expect(field).toHaveValue('')
  await user.keyboard('{Escape}')
  expect(field).not.toHaveFocus()
})

it('lists the shortcuts on ?', async () => {
  const { user } = open()
  await screen.findByLabelText('Search here')
  await user.keyboard('?')
  expect(await screen.findByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await user.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})

it('opens the first start in a fresh installation, but only from Home', async () => {
  const fresh = () => createFakeRunner({ getSettings: () => ({ settings: { ...DEFAULT_SETTINGS, firstStart: 'agent' } }) })
  const first = open({ runner: fresh() })
  await waitFor(() => expect(first.path()).toBe('/welcome'))
  // There is nothing to pause yet.
  expect(screen.queryByRole('button', { name: /^Pause all/ })).toBeNull()
  const second = open({ runner: fresh(), path: '/settings' })
  await waitFor(() => expect(second.runner.callsOf('getSettings').length).toBeGreaterThan(0))
  await screen.findAllByRole('link', { name: 'Finish setup' })
  expect(second.path()).toBe('/settings')
})

it('runs the commands of the menu and the tray', async () => {
  let wish: ((command: DesktopCommand) => void) | undefined
  const { path } = open({
    desktop: {
      onCommand: (listener) => {
        wish = listener
        return () => {}
      },
    },
  })
  await waitFor(() => expect(wish).toBeDefined())
  wish!({ command: 'go', path: '/jobs/7' })
  await waitFor(() => expect(path()).toBe('/jobs/7'))
  wish!({ command: 'palette' })
  await screen.findByRole('combobox')
})

it('says that a port is taken and changes to the suggested one', async () => {
  const used: unknown[] = []
  const state: DesktopState = {
    runner: { state: 'port_taken', port: 3001, suggestedPort: 3011 },
    dashboard: { state: 'ready', dashboardUrl: 'http://127.0.0.1:3000' },
    vault: { kind: 'keychain', state: 'ok', message: null },
    sharing: { isOn: false, fixedBy: null, urls: [], problem: null, isEncrypted: false, certificate: null },
    settings: {
      runnerPort: 3001,
      dashboardPort: 3000,
      startAtLogin: false,
      shareOnNetwork: false,
      encryptSharing: false,
      closeToTray: true,
      theme: 'dark',
      language: 'system',
      logLevel: 'info',
      updateChannel: 'stable',
      updateMode: 'automatic',
      updateOnQuit: false,
    },
    info: {
      appVersion: '1',
      electronVersion: '45',
      platform: 'linux',
      dataDir: '/d',
      dataDirProblem: null,
      logsDir: '/l',
      safeMode: false,
    },
    updates: { state: 'off', reason: 'development' },
  }
  const { user } = open({
    desktop: {
      api: { usePort: (argument: unknown) => Promise.resolve(void used.push(argument)) } as never,
      onState: (listener) => {
        listener(state)
        return () => {}
      },
    },
  })
  await user.click(await screen.findByRole('button', { name: 'Use port 3011' }))
  expect(used).toEqual([{ server: 'runner', port: 3011 }])
  expect(document.documentElement.dataset.theme).toBe('dark')
})

it('counts pending approvals in the navigation and in the window title', async () => {
  let pending = 2
  const { runner } = open({ runner: createFakeRunner({ listApprovals: () => ({ approvals: [], pending, nextCursor: null }) }) })
  await waitFor(() => expect(document.title).toBe('(2) Deckhand'))
  expect(screen.getAllByRole('link', { name: 'Approvals, 2 approvals waiting' }).length).toBeGreaterThan(0)
  await waitFor(() => expect(runner.streams).toHaveLength(1))
  pending = 0
  const id = makeAgent().id
  runner.happen({ type: 'approval.withdrawn', payload: { approvalId: id, jobId: id, agentId: id, conversationId: null, kind: 'tool' } })
  await waitFor(() => expect(document.title).toBe('Deckhand'))
})

it('pauses all agents at once and asks before it resumes them', async () => {
  const settings = { ...DEFAULT_SETTINGS, firstStart: 'done' as const }
  const { runner, user } = open({
    runner: createFakeRunner({
      getSettings: () => ({ settings: { ...settings } }),
      countJobs: () => ({ pending: 3, running: 0, awaiting_approval: 0, awaiting_child: 0 }),
      setPauseAll: ({ body }) => ({ settings: Object.assign(settings, body) }),
    }),
  })
  await user.click(await screen.findByRole('button', { name: 'Pause all agents' }))
  expect(await screen.findByText('All agents are paused.')).toBeVisible()
  await waitFor(() => expect(settings.pauseAll).toBe(true))
  expect(screen.queryByRole('button', { name: 'Pause all agents' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Resume all agents…' }))
  const dialog = await screen.findByRole('alertdialog', { name: 'Resume all agents?' })
  expect(dialog).toHaveTextContent('3 jobs are waiting')
  expect(settings.pauseAll).toBe(true)
  await user.click(screen.getByRole('button', { name: 'Resume all agents' }))
  await waitFor(() => expect(settings.pauseAll).toBe(false))
  await waitFor(() => expect(screen.queryByText('All agents are paused.')).toBeNull())
  expect(runner.callsOf('setPauseAll').map((call) => call.body)).toEqual([{ pauseAll: true }, { pauseAll: false }])
})

it('fetches the settings again when all agents could not be paused', async () => {
  let fetched = 0
  const settings = { ...DEFAULT_SETTINGS, firstStart: 'done' as const }
  const runner = createFakeRunner({
    getSettings: () => ({ settings: { ...settings } }),
    setPauseAll: () => {
      fetched = runner.callsOf('getSettings').length
      settings.pauseAll = true // By somebody else.
      return new Refusal('database_unavailable')
    },
  })
  const { user } = open({ runner })
  await waitFor(() => expect(runner.streams).toHaveLength(1))
  await user.click(await screen.findByRole('button', { name: 'Pause all agents' }))
  await waitFor(() => expect(fetched).toBeGreaterThan(0))
  await waitFor(() => expect(runner.callsOf('getSettings').length).toBeGreaterThan(fetched))
  expect(await screen.findByText('All agents are paused.')).toBeVisible()
})

it('keeps the app working when a screen throws', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const { user } = open({ path: '/boom' })
  expect(await screen.findByRole('alert')).toHaveTextContent('This screen crashed')
  await user.click(screen.getAllByRole('link', { name: 'Home' })[0]!)
  await screen.findByLabelText('Search here')
})

it('does not say that nothing runs while the runner is away', async () => {
  const { runner } = open()
  expect(await screen.findByText('No jobs running')).toBeVisible()
  runner.setReachable(false)
  runner.breakStreams()
  expect(await screen.findByText('Not connected')).toBeVisible()
  expect(screen.queryByText('No jobs running')).toBeNull()
})
