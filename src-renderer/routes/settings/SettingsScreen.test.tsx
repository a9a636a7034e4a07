import { makeId, quote } from '../../testing/things.ts'
import { screen, waitFor, within } from '@solidjs/testing-library'
import { afterEach, expect, it, vi } from 'vitest'
import type { DesktopApi, DesktopState } from '../../../src-main/contract/desktop-api.ts'
import { DEFAULT_SETTINGS } from '../../../src-runner/contract/settings.ts'
import { createAppDesktop } from '../../platform/desktop.ts'
import { changeLanguage, t } from '../../lib/language.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen, type RenderOptions } from '../../testing/render.tsx'
import { allSettings, settingHref, type SettingsSection } from './sections.ts'
import { SettingsScreen } from './SettingsScreen.tsx'
import { MessageError } from '../../lib/failure-text.ts'

afterEach(() => changeLanguage('system'))

const openSettings = (section: SettingsSection, options: RenderOptions = {}) =>
  renderScreen(SettingsScreen, { route: '/settings/:section?', path: `/settings/${section}`, ...options })

const state: DesktopState = {
  runner: { state: 'ready', runnerUrl: 'http://127.0.0.1:3005' },
  dashboard: { state: 'ready', dashboardUrl: 'http://127.0.0.1:3000' },
  vault: { kind: 'keychain', state: 'locked', message: { code: 'keychain_locked', params: {} } },
  sharing: { isOn: false, fixedBy: null, urls: [], problem: null, isEncrypted: false, certificate: null },
  settings: {
    runnerPort: 3005,
    dashboardPort: 3000,
    startAtLogin: false,
    shareOnNetwork: false,
    encryptSharing: false,
    closeToTray: true,
    theme: 'system',
    language: 'system',
    logLevel: 'info',
    updateChannel: 'stable',
    updateMode: 'automatic',
    updateOnQuit: false,
  },
  info: {
    appVersion: '0.1.0',
    electronVersion: '45.3.4',
    platform: 'linux',
    dataDir: '/home/mira/deckhand',
    dataDirProblem: { code: 'data_on_network_share', params: { folder: '/home/mira/deckhand', type: 'nfs4' } },
    logsDir: '/home/mira/logs',
    safeMode: false,
  },
  updates: { state: 'off', reason: 'development' },
}

it('lets a member read the settings that only owners change', async () => {
  const person = { id: makeId(), name: 'Bo', role: 'member' as const, createdAt: 0 }
  const jobs = openSettings('jobs', { person })
  expect(await screen.findByRole('textbox', { name: /^Daily spending limit/ })).toBeDisabled()
  expect(screen.getByText('Only owners can change these settings.')).toBeVisible()
  jobs.unmount()
  const notifications = openSettings('notifications', { person })
  for (const one of await screen.findAllByRole('switch')) expect(one).toBeDisabled()
  notifications.unmount()
  const { runner } = openSettings('tokens', { person })
  expect(await screen.findByText('Only owners can change these settings.')).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Create token' })).toBeNull()
  expect(runner.callsOf('listTokens')).toEqual([])
})

it('shows third-party licenses on request', async () => {
  const { user } = openSettings('about')
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('zod 4.6.7 (MIT)'))
  await user.click(await screen.findByRole('button', { name: t('settings.about.showLicenses') }))
  expect(await within(await screen.findByRole('dialog')).findByText('zod 4.6.7 (MIT)')).toBeInTheDocument()
  expect(fetched).toHaveBeenCalledWith('/third-party-licenses.txt')
  fetched.mockRestore()
})

/** The app's window, writing down what the page asks of it. */
function inApp(
  usePort: () => Promise<void> = () => Promise.resolve(),
  sharing: DesktopState['sharing'] = state.sharing,
  platform = state.info.platform,
  /** What the person tells the desktop, which asks. */
  agrees = () => true,
) {
  const asked: [string, unknown][] = []
  const note = (name: string) => (argument: unknown) => Promise.resolve(void asked.push([name, argument]))
  const api = {
    onState: (listener: (next: DesktopState) => void) => {
      listener({ ...state, sharing, info: { ...state.info, platform } })
      return () => {}
    },
    onCommand: () => () => {},
    changeSettings: note('changeSettings'),
    share: (argument: unknown) => Promise.resolve(void asked.push(['share', argument])).then(() => 'needs_owner'),
    encryptSharing: note('encryptSharing'),
    replaceCertificate: note('replaceCertificate'),
    showFolder: note('showFolder'),
    restartRunner: note('restartRunner'),
    recheckVault: note('recheckVault'),
    readLogs: () => Promise.resolve([]),
    revealSecret: () => Promise.resolve(void asked.push(['revealSecret', undefined])).then(() => 'the-secret-of-this-computer'),
    rotateSecret: () => Promise.resolve(void asked.push(['rotateSecret', undefined])).then(() => (agrees() ? 'another-secret' : null)),
    copyText: note('copyText'),
    usePort: (argument: unknown) => {
      asked.push(['usePort', argument])
      return usePort()
    },
  }
  return { asked, desktop: createAppDesktop(api as unknown as DesktopApi) }
}

it('warns about a data folder on a network share', async () => {
  const { desktop } = inApp()
  openSettings('computer', { desktop })
  expect(await screen.findByText(/\/home\/mira\/deckhand is on a network share \(nfs4\)/)).toBeVisible()
})

it('shares on the network, and asks for an owner account first', async () => {
  const { asked, desktop } = inApp()
  const { user } = openSettings('computer', { desktop })
  await user.click(await screen.findByRole('switch', { name: 'Share on this network' }))
  expect(await screen.findByRole('link', { name: 'Create owner account…' })).toHaveAttribute('href', '/settings/people')
  expect(asked).toEqual([['share', { on: true }]])
})

it('shows the addresses for other devices while it is shared', async () => {
  const urls = ['http://192.168.1.20:3000', 'http://mira.local:3000']
  const { desktop } = inApp(undefined, { isOn: true, fixedBy: null, urls, problem: null, isEncrypted: false, certificate: null })
  openSettings('computer', { desktop })
  for (const url of urls) expect(await screen.findByText(url)).toBeVisible()
  expect(screen.getByRole('img', { name: `QR code of ${urls[0]}` })).toBeVisible()
  expect(screen.getByRole('switch', { name: 'Share on this network' })).toBeChecked()
})

it.each([
  ['darwin', null, false, true],
  ['win32', null, false, true],
  ['win32', 'DASHBOARD_HOST', false, true],
  ['win32', 'AUTH_MODE', false, false],
  ['darwin', null, true, false],
  ['linux', null, false, false],
] as const)('says on %s (fixed by %s, shared: %s) that other accounts get in: %s', async (platform, fixedBy, isOn, isSaid) => {
  const { desktop } = inApp(undefined, { ...state.sharing, fixedBy, isOn }, platform)
  openSettings('computer', { desktop })
  await screen.findByRole('switch', { name: 'Share on this network' })
  expect(screen.queryByText('Other accounts of this computer') !== null).toBe(isSaid)
})

it('encrypts, and shows the fingerprint to compare with the one of the phone', async () => {
  const fingerprint = Array.from({ length: 32 }, (_, i) => (i + 16).toString(16).toUpperCase()).join(':')
  const { asked, desktop } = inApp(undefined, {
    isOn: true,
    fixedBy: null,
    urls: ['https://192.168.1.20:3000'],
    problem: null,
    isEncrypted: true,
    certificate: { fingerprint, validUntil: Date.UTC(2027, 11, 24), replacesDamaged: true },
  })
  const { user } = openSettings('computer', { desktop })
  expect(await screen.findByText('10 11 12 13 14 15 16 17')).toBeVisible()
  expect(screen.getByText(/certificate file was damaged/)).toBeVisible()
  expect(screen.queryByText(/not encrypted/)).toBeNull()
  await user.click(screen.getByRole('button', { name: 'New certificate' }))
  await user.click(screen.getByRole('switch', { name: 'Encrypt (HTTPS)' }))
  expect(asked).toEqual([
    ['replaceCertificate', undefined],
    ['encryptSharing', { on: false }],
  ])
})

it('shows the secret on request and forgets it again', async () => {
  const { asked, desktop } = inApp()
  const { user } = openSettings('computer', { desktop })
  const show = await screen.findByRole('button', { name: t('settings.servers.showSecret') })
  expect(asked).toEqual([])
  await user.click(show)
  expect(await screen.findByText('the-secret-of-this-computer')).toBeVisible()
  expect(asked).toEqual([['revealSecret', undefined]])
  await user.click(screen.getByRole('button', { name: t('settings.servers.hideSecret') }))
  expect(screen.queryByText('the-secret-of-this-computer')).toBeNull()
})

it('replaces the secret only if the person confirms, and copies the new one', async () => {
  let agrees = false
  const { asked, desktop } = inApp(undefined, undefined, undefined, () => agrees)
  const { user } = openSettings('computer', { desktop })
  await user.click(await screen.findByRole('button', { name: t('settings.servers.showSecret') }))
  const row = (await screen.findByText('the-secret-of-this-computer')).parentElement!
  const replace = within(row).getByRole('button', { name: t('settings.servers.rotateSecret') })
  await user.click(replace)
  expect(asked.at(-1)).toEqual(['rotateSecret', undefined])
  await waitFor(() => expect(replace).toBeEnabled())
  expect(screen.getByText('the-secret-of-this-computer')).toBeVisible()

  agrees = true
  await user.click(replace)
  expect(await screen.findByText('another-secret')).toBeVisible()
  expect(screen.queryByText('the-secret-of-this-computer')).toBeNull()
  await user.click(within(row).getByRole('button', { name: t('common.copy') }))
  expect(asked.slice(-2)).toEqual([
    ['rotateSecret', undefined],
    ['copyText', 'another-secret'],
  ])
})

it('shows the real addresses of the servers and changes a port', async () => {
  let taken = true
  const { asked, desktop } = inApp(() =>
    taken ? Promise.reject(new MessageError({ code: 'desktop_call_failed', params: { why: 'EACCES' } })) : Promise.resolve(),
  )
  const { user } = openSettings('computer', { desktop })
  expect(await screen.findByText('http://127.0.0.1:3005')).toBeVisible()
  await user.click(screen.getAllByRole('button', { name: 'Change port' })[1]!)
  const port = await screen.findByLabelText('Port')
  expect(port).toHaveValue('3005')
  await user.clear(port)
  await user.type(port, '80')
  await user.click(screen.getByRole('button', { name: 'Change port' }))
  expect(port).toBeInvalid()
  expect(asked).toEqual([])
  await user.clear(port)
  await user.type(port, '4000')
  await user.click(screen.getByRole('button', { name: 'Change port' }))
  await waitFor(() => expect(port).toHaveAccessibleDescription('Deckhand could not do this: EACCES'))
  taken = false
  await user.click(screen.getByRole('button', { name: 'Change port' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(asked).toEqual(Array(2).fill(['usePort', { server: 'runner', port: 4000 }]))
})

it('says what is wrong with the keychain and checks again', async () => {
  const { asked, desktop } = inApp()
  const { user } = openSettings('computer', { desktop })
  expect(
    await screen.findByText('The keychain is locked. Unlock it (signing in to your desktop usually does), then try again.'),
  ).toBeVisible()
  expect(screen.getByText('Locked')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Check again' }))
  expect(asked).toEqual([['recheckVault', undefined]])
})

it('tells the desktop its language for menus and notifications', async () => {
  changeLanguage('de')
  const { asked, desktop } = inApp()
  const { user } = openSettings('general', { desktop })
  expect(asked).toEqual([['changeSettings', { language: 'de' }]])
  await user.click(await screen.findByRole('radio', { name: 'English' }))
  expect(asked.at(-1)).toEqual(['changeSettings', { language: 'en' }])
})

it('changes the machine through the desktop', async () => {
  const { asked, desktop } = inApp()
  const { user } = openSettings('general', { desktop })
  await user.click(await screen.findByRole('switch', { name: 'Start at login' }))
  await user.click(screen.getByRole('radio', { name: 'Dark' }))
  await user.click(screen.getByRole('link', { name: 'Health check' }))
  await user.click(await screen.findByRole('button', { name: 'Restart in safe mode' }))
  await user.click(screen.getByRole('link', { name: 'This computer' }))
  await user.click((await screen.findAllByRole('button', { name: 'Show' }))[1]!)
  expect(asked).toEqual([
    ['changeSettings', { startAtLogin: true }],
    ['changeSettings', { theme: 'dark' }],
    ['restartRunner', { safeMode: true }],
    ['showFolder', 'logs'],
  ])
})

it('says in a browser what needs the app, and still changes language and theme', async () => {
  const { user } = openSettings('computer')
  expect(await screen.findByText('Available in the desktop app')).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Change port' })).toBeNull()
  await user.click(screen.getByRole('link', { name: 'General' }))
  await user.click(await screen.findByRole('radio', { name: 'Light' }))
  expect(document.documentElement.dataset.theme).toBe('light')
  await user.click(screen.getByRole('radio', { name: 'Deutsch' }))
  expect(await screen.findByRole('heading', { name: 'Einstellungen' })).toBeVisible()
  expect(document.documentElement.lang).toBe('de')
  await user.click(screen.getByRole('radio', { name: 'English' }))
  expect(await screen.findByRole('heading', { name: 'Settings' })).toBeVisible()
})

it('shows a change at once and undoes it when it was refused', async () => {
  let answer: ((refusal: Refusal) => void) | undefined
  const runner = createFakeRunner({ updateSettings: () => new Promise((resolve) => (answer = resolve)) })
  const { user } = openSettings('jobs', { runner })
  const field = await screen.findByRole('button', { name: /Parallel jobs/ })
  await waitFor(() => expect(field).toHaveTextContent('4'))
  field.focus()
  await user.keyboard('{Enter}')
  await screen.findByRole('listbox')
  await user.keyboard('{ArrowDown}{Enter}')
  await waitFor(() => expect(field).toHaveTextContent('6'))
  answer!(new Refusal('disk_full'))
  await waitFor(() => expect(field).toHaveTextContent('4'))
  expect(await screen.findByText(/Free some space/)).toBeVisible()
  expect(runner.callsOf('updateSettings')[0]!.body).toEqual({ concurrency: 6 })
})

it('shows the state of the sandbox and checks it again', async () => {
  const missing = {
    kind: 'none' as const,
    works: false,
    reason: quote('bubblewrap is not installed.'),
    advice: quote('Install the package bubblewrap.'),
    network: { works: false, reason: null, advice: null },
    checkedAt: 1,
  }
  const runner = createFakeRunner({
    getSandbox: () => ({ sandbox: missing }),
    checkSandbox: () => ({
      sandbox: { ...missing, kind: 'bubblewrap', works: true, reason: null, advice: null, network: { ...missing.network, works: true } },
    }),
  })
  const { user } = openSettings('tools', { runner })
  await screen.findByText(
    'bubblewrap is not installed. Install the package bubblewrap. Without a sandbox, every program needs your approval.',
  )
  await user.click(screen.getAllByRole('button', { name: 'Check again' })[0]!)
  await screen.findByText(/only write to the agent’s folder/)
  expect(screen.queryByText('Not available')).toBeNull()
})

it('sets up web search: the key is written once and never held', async () => {
  let webSearch: { kind: 'brave' | 'tavily' | 'searxng'; baseUrl: string | null; hasKey: boolean } | null = null
  const runner = createFakeRunner({
    getSettings: () => ({ settings: { ...DEFAULT_SETTINGS, firstStart: 'done', webSearch } }),
    updateWebSearch: ({ body }) => {
      const wanted = body.webSearch
      if (wanted?.kind === 'brave' && wanted.apiKey === undefined) {
        return new Refusal('invalid_request', 'No.', [{ path: 'webSearch.apiKey', message: 'Brave Search needs an API key.' }])
      }
      webSearch = wanted ? { kind: wanted.kind, baseUrl: wanted.baseUrl, hasKey: true } : null
      runner.happen({ type: 'settings.changed', payload: { keys: ['webSearch'] } })
      return { settings: { ...DEFAULT_SETTINGS, firstStart: 'done', webSearch } }
    },
  })
  const { user } = openSettings('tools', { runner })
  await user.click(await screen.findByRole('button', { name: 'Set up' }))
  await user.click(await screen.findByRole('button', { name: 'Save' }))
  expect(await screen.findByRole('alert')).toHaveTextContent('Brave Search needs an API key.')
  await user.type(screen.getByLabelText('API key'), 'BSA-123{Enter}')
  await screen.findByText('Brave Search')
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(runner.callsOf('updateWebSearch').at(-1)!.body).toEqual({ webSearch: { kind: 'brave', baseUrl: null, apiKey: 'BSA-123' } })
  expect(document.body.textContent).not.toContain('BSA-123')
})

it('allows local addresses and says which one is invalid', async () => {
  const runner = createFakeRunner({
    updateSettings: ({ body }) =>
      body.openedHosts?.includes('http://x')
        ? new Refusal('invalid_request', 'No.', [{ path: 'openedHosts.1', message: "'http://x' is no host." }])
        : { settings: { ...DEFAULT_SETTINGS, firstStart: 'done', openedHosts: body.openedHosts ?? [] } },
  })
  const { user } = openSettings('tools', { runner })
  const row = (await screen.findByText('Allowed local addresses')).parentElement!.parentElement!
  await user.click(within(row).getByRole('button', { name: 'Edit' }))
  const field = await screen.findByRole('textbox', { name: 'One per line' })
  await user.type(field, 'nas.local{Enter}http://x')
  await user.click(screen.getByRole('button', { name: 'Save' }))
  expect(await screen.findByRole('alert')).toHaveTextContent("'http://x' is no host.")
  await user.clear(field)
  await user.type(field, 'nas.local nas.local')
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(runner.callsOf('updateSettings').at(-1)!.body).toEqual({ openedHosts: ['nas.local'] })
})

it('saves the daily limit on blur, with a decimal comma too', async () => {
  const runner = createFakeRunner({ updateSettings: ({ body }) => ({ settings: { ...DEFAULT_SETTINGS, ...body } }) })
  const { user } = openSettings('jobs', { runner })
  const field = await screen.findByRole('textbox', { name: /Daily spending limit/ })
  await waitFor(() => expect(field).toBeEnabled())
  await user.type(field, 'lots')
  await user.tab()
  expect(await screen.findByRole('alert')).toHaveTextContent('Enter an amount between 0.01 and 100,000.')
  await user.clear(field)
  await user.type(field, '2,50{Enter}')
  await waitFor(() => expect(runner.callsOf('updateSettings').map((call) => call.body)).toEqual([{ dayBudgetUsd: 2.5 }]))
})

it('has a switch for each kind of notification, and quiet hours', async () => {
  let settings = { ...DEFAULT_SETTINGS, firstStart: 'done' as const }
  const runner = createFakeRunner({
    getSettings: () => ({ settings }),
    updateSettings: ({ body }) => {
      settings = { ...settings, ...body } as typeof settings
      queueMicrotask(() => runner.happen({ type: 'settings.changed', payload: { keys: ['notifications'] } }))
      return { settings }
    },
  })
  const { user } = openSettings('notifications', { runner })
  await user.click(await screen.findByRole('switch', { name: 'Job failed' }))
  await waitFor(() => expect(settings.notifications.kinds).toMatchObject({ job_failed: false, approval_waiting: true }))
  await user.click(screen.getByRole('switch', { name: 'Quiet hours' }))
  expect(await screen.findByLabelText('From')).toHaveValue('22:00')
  expect(settings.notifications).toMatchObject({ kinds: { job_failed: false }, quietHours: { from: '22:00', until: '07:00' } })
})

it('shows the public address and its problem', async () => {
  const runner = createFakeRunner({
    getPublicAddress: () => ({
      publicAddress: {
        url: 'https://hooks.example.com',
        source: 'setting',
        localUrl: 'http://127.0.0.1:3002',
        ingressPort: 3002,
        check: { state: 'unreachable', checkedAt: 1_700_000_000_000, problem: quote('hooks.example.com answered 502.') },
        programs: [
          { program: 'cloudflared', installed: true, path: '/usr/bin/cloudflared' },
          { program: 'ngrok', installed: false, path: null },
        ],
        tunnel: null,
      },
    }),
    updatePublicAddress: () => new Refusal('invalid_request', 'bad', [{ path: 'body.url', message: 'That leads nowhere.' }]),
  })
  const { user } = openSettings('webhooks', { runner })
  expect(await screen.findByText('hooks.example.com answered 502.')).toBeVisible()
  expect(screen.getByText('Not reachable')).toBeVisible()
  expect(screen.getByText('http://127.0.0.1:3002')).toBeVisible()
  expect(screen.getByRole('button', { name: 'Start cloudflared' })).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Start ngrok' })).toBeNull()
  expect(screen.getByText(/cloudflared gets a new address each time it starts/)).toBeVisible()
  const field = screen.getByLabelText('Public address')
  await user.clear(field)
  await user.type(field, 'https://nowhere{Enter}')
  await waitFor(() => expect(field).toBeInvalid())
  expect(screen.getByText('That leads nowhere.')).toBeVisible()
})

it('shows the health checks and runs them again', async () => {
  const runner = createFakeRunner()
  runner.answer({
    getDoctor: () => ({
      checks: [{ name: 'sandbox', state: 'warning', finding: quote('Not installed.'), fix: quote('Install bubblewrap.') }],
    }),
  })
  const { user } = openSettings('health', { runner })
  expect(await screen.findByText('Install bubblewrap.')).toBeVisible()
  expect(screen.getByText('Warning:')).toBeInTheDocument()
  runner.answer({ getDoctor: () => ({ checks: [{ name: 'sandbox', state: 'ok', finding: quote('Works.'), fix: null }] }) })
  await user.click(screen.getByRole('button', { name: 'Run again' }))
  expect(await screen.findByText('Works.')).toBeVisible()
  expect(screen.queryByText('Install bubblewrap.')).toBeNull()
})

it('shows failed checks first, with a link to the fix', async () => {
  const runner = createFakeRunner()
  runner.answer({
    getDoctor: () => ({
      checks: [
        { name: 'database', state: 'ok', finding: quote('Sound.'), fix: null },
        { name: 'models', state: 'warning', finding: quote('No key.'), fix: quote('Add one.') },
        { name: 'channels', state: 'problem', finding: quote('Logged out.'), fix: quote('Give it a new token.') },
      ],
    }),
  })
  openSettings('health', { runner })
  const checks = within((await screen.findByText('Logged out.')).closest('ul')!).getAllByRole('listitem')
  expect(checks.map((check) => check.textContent?.split(':')[0])).toEqual(['Failed', 'Warning', 'OK'])
  expect(within(checks[0]!).getByRole('link', { name: 'Channels' })).toHaveAttribute('href', '/channels')
  expect(within(checks[1]!).getByRole('link', { name: 'Models & keys' })).toHaveAttribute('href', '/models')
  expect(within(checks[2]!).queryByRole('link')).toBeNull()
})

it('gives each section a URL, and starts with the general one', async () => {
  const { user, path } = renderScreen(SettingsScreen, { route: '/settings/:section?', path: '/settings' })
  expect(await screen.findByRole('radio', { name: 'Light' })).toBeVisible()
  await user.click(screen.getByRole('link', { name: 'Agent tools' }))
  expect(path()).toBe('/settings/tools')
  expect(await screen.findByText('Allowed local addresses')).toBeVisible()
  expect(screen.getByRole('link', { name: 'Agent tools' })).toHaveAttribute('aria-current', 'page')
  expect(screen.queryByRole('radio', { name: 'Light' })).toBeNull()
})

it('finds a setting in another section and goes to its row', async () => {
  const { user, path } = openSettings('general')
  await user.type(screen.getByRole('searchbox', { name: 'Search settings' }), 'quiet')
  await user.click(await screen.findByRole('link', { name: /Quiet hours/ }))
  expect(path()).toBe('/settings/notifications?q=quiet#quiet-hours')
  await waitFor(() => expect(document.activeElement?.id).toBe('quiet-hours'))
  await user.clear(screen.getByRole('searchbox', { name: 'Search settings' }))
  await user.type(screen.getByRole('searchbox', { name: 'Search settings' }), 'zebra')
  expect(await screen.findByText(/zebra/)).toBeVisible()
})

it('keeps a search over a reload', async () => {
  openSettings('general', { path: '/settings/general?q=quiet' })
  expect(screen.getByRole('searchbox', { name: 'Search settings' })).toHaveValue('quiet')
  expect(screen.getByRole('link', { name: /Quiet hours/ })).toBeVisible()
})

it('has a row for every setting that the search can find', async () => {
  const { desktop } = inApp()
  const runner = createFakeRunner({
    getSandbox: () => ({
      sandbox: {
        kind: 'none',
        works: false,
        reason: null,
        advice: null,
        checkedAt: 1,
        network: { works: false, reason: null, advice: null },
      },
    }),
  })
  for (const setting of allSettings(true)) {
    const view = openSettings(setting.section, { runner, desktop, path: settingHref(setting) })
    await waitFor(() => expect(document.getElementById(setting.id), setting.id).not.toBeNull())
    view.unmount()
  }
})

it('scrolls to the part that the URL names, also when it loads later', async () => {
  const shown = vi.spyOn(Element.prototype, 'scrollIntoView')
  const { user } = openSettings('health', { path: '/settings/health#checks' })
  await screen.findByText('Sound, 2 MB.')
  await waitFor(() => expect(shown.mock.contexts).toContainEqual(expect.objectContaining({ id: 'checks' })))
  await user.tab()
  expect(screen.getByRole('button', { name: 'Run again' })).toHaveFocus()
  shown.mockRestore()
})

it.each<[string, DesktopState['updates'], RegExp, string[]]>(
  [
    ['another format', { kind: 'deb', page: 'https://github.com/a/b' }, /sudo apt install \.\/Deckhand\.deb/, ['Open download page']],
    ['one that crashed', { crashed: true }, /crashed twice when it started/, ['Download']],
  ].map(([what, change, text, buttons]) => {
    const offer = {
      version: '1.3.0',
      notes: '',
      bytes: 9,
      kind: 'app',
      file: 'Deckhand.deb',
      page: null,
      crashed: false,
      ...(change as object),
    }
    return [what, { state: 'available', offer }, text, buttons] as [string, DesktopState['updates'], RegExp, string[]]
  }),
)('says how a new version gets onto this machine: %s', async (_what, updates, text, buttons) => {
  const { desktop } = inApp()
  const shown = { ...desktop, onState: (listener: (next: DesktopState) => void) => (listener({ ...state, updates }), () => {}) }
  openSettings('about', { desktop: shown })
  expect(await screen.findByText(text)).toBeVisible()
  for (const name of buttons) expect(screen.getByRole('button', { name })).toBeVisible()
})
