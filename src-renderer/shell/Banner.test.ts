import { afterEach, expect, it } from 'vitest'
import type { DesktopState } from '../../src-main/contract/desktop-api.ts'
import { changeLanguage, t } from '../lib/language.ts'
import { notificationsFor } from './Banner.tsx'

afterEach(() => changeLanguage('system'))

const fine: DesktopState = {
  runner: { state: 'ready', runnerUrl: 'http://127.0.0.1:3001' },
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
    theme: 'system',
    language: 'system',
    logLevel: 'info',
    updateChannel: 'stable',
    updateMode: 'automatic',
    updateOnQuit: false,
  },
  info: { appVersion: '1', electronVersion: '45', platform: 'linux', dataDir: '/d', dataDirProblem: null, logsDir: '/l', safeMode: false },
  updates: { state: 'off', reason: 'development' },
}

const quoted = (words: string) => ({ code: 'quoted', params: { words } }) as const

it('shows nothing when everything works, and in a browser', () => {
  expect(notificationsFor(fine)).toEqual([])
  expect(notificationsFor(null)).toEqual([])
})

it.each<[string, Partial<DesktopState>, RegExp, unknown[]]>([
  ['starting', { runner: { state: 'starting' } }, /Starting/, []],
  ['restarting', { runner: { state: 'restarting', attempt: 2, reason: quoted('It crashed.') } }, /attempt 2/, []],
  [
    'port taken',
    { runner: { state: 'port_taken', port: 3001, suggestedPort: 3007 } },
    /port 3001/,
    [{ type: 'usePort', server: 'runner', port: 3007 }],
  ],
  [
    'dashboard port taken',
    { dashboard: { state: 'port_taken', port: 3000, suggestedPort: 3008 } },
    /port 3000/,
    [{ type: 'usePort', server: 'dashboard', port: 3008 }],
  ],
  [
    'given up',
    { runner: { state: 'failed', code: 'internal', message: quoted('Three crashes.') } },
    /could not start/,
    [{ type: 'restart', safeMode: false }, { type: 'restart', safeMode: true }, { type: 'logs' }],
  ],
  ['stopped', { runner: { state: 'stopped' } }, /stopped/, [{ type: 'restart', safeMode: false }]],
  [
    'keychain locked',
    { vault: { kind: 'keychain', state: 'locked', message: { code: 'keychain_locked', params: {} } } },
    /keychain cannot be read/,
    [{ type: 'recheckVault' }],
  ],
  ['safe mode', { info: { ...fine.info, safeMode: true } }, /Safe mode/, [{ type: 'restart', safeMode: false }]],
])('%s: says so and what can be done', (_, change, text, actions) => {
  const [notification, ...others] = notificationsFor({ ...fine, ...change })
  expect(notification!.text).toMatch(text)
  expect(notification!.actions.map((action) => action.do)).toEqual(actions)
  expect(others).toEqual([])
})

it('puts the gravest first and gives the reason', () => {
  const notifications = notificationsFor({
    ...fine,
    vault: { kind: 'keychain', state: 'denied', message: { code: 'keychain_denied', params: {} } },
    runner: { state: 'failed', code: 'x', message: quoted('The disk is broken.') },
  })
  expect(notifications.map((notification) => notification.key)).toEqual(['failed', 'vault'])
  expect(notifications.map((notification) => notification.detail)).toEqual(['The disk is broken.', t('messages.keychain_denied')])
})

it('says once that the runner crashed, and why, in both languages', () => {
  const message = { code: 'runner_exited', params: { exitCode: '7' } } as const
  const crashed = { ...fine, runner: { state: 'failed', code: 'crash_loop', message } } as const
  const text = 'The runner crashed three times in five minutes.'
  expect(notificationsFor(crashed)[0]).toMatchObject({ text, detail: 'The runner ended with code 7.' })
  changeLanguage('de')
  expect(notificationsFor(crashed)[0]!.detail).toBe('Der Runner endete mit dem Code 7.')
})

it('says in German why the runner cannot start, and what to do about the keychain', () => {
  changeLanguage('de')
  const failed = { state: 'failed', code: 'config_invalid', message: quoted('RUNNER_HOST is wrong.') } as const
  const [runner, keychain] = notificationsFor({
    ...fine,
    runner: failed,
    vault: { kind: 'keychain', state: 'locked', message: { code: 'keychain_locked', params: {} } },
  })
  expect(runner).toMatchObject({
    text: 'Eine Einstellung ist ungültig, deshalb kann der Runner nicht starten.',
    detail: 'RUNNER_HOST is wrong.',
  })
  expect(keychain!.detail).toMatch(/^Der Schlüsselbund ist gesperrt/)
  const [unknown] = notificationsFor({ ...fine, runner: { ...failed, code: 'of_another_version' } })
  expect(unknown!.text).toBe('Der Runner konnte nicht starten.')
})

it('says in German what is wrong with the dashboard and with a vault in a file', () => {
  changeLanguage('de')
  const why = 'EADDRNOTAVAIL'
  const [dashboard, vault] = notificationsFor({
    ...fine,
    dashboard: { state: 'failed', message: { code: 'dashboard_cannot_listen', params: { host: '192.0.2.1', port: '3000', why } } },
    vault: {
      kind: 'file',
      state: 'denied',
      message: { code: 'vault_key_unreadable', params: { file: '/d/vault-file.key', why: 'EACCES' } },
    },
  })
  expect(dashboard!.detail).toBe('Das Dashboard kann DASHBOARD_HOST 192.0.2.1, Port 3000, nicht verwenden (EADDRNOTAVAIL).')
  expect(vault!.detail).toBe('Die Schlüsseldatei /d/vault-file.key ist nicht lesbar (EACCES). Prüfe ihre Zugriffsrechte.')
})

it('leaves a database that cannot be used to the screen for it', () => {
  const damaged = { ...fine, runner: { state: 'failed', code: 'database_damaged', message: quoted('It is damaged.') } } as const
  expect(notificationsFor(damaged)).toEqual([])
})

it('shows a version only when it waits for the person', () => {
  const offer = { version: '1.3.0', notes: '', bytes: 1, kind: 'app', file: 'a', page: null, crashed: false } as const
  const actionsOf = (updates: DesktopState['updates'], updateMode: 'automatic' | 'ask' = 'automatic') =>
    notificationsFor({ ...fine, updates, settings: { ...fine.settings, updateMode } })[0]?.actions.map(({ do: action }) => action.type)
  expect(actionsOf({ state: 'downloaded', offer })).toEqual(['update', 'hide'])
  expect(actionsOf({ state: 'waiting', offer })).toEqual(['update'])
  expect(actionsOf({ state: 'available', offer }, 'ask')).toEqual(['showUpdate', 'hide'])
  expect(actionsOf({ state: 'available', offer: { ...offer, kind: 'deb' } })).toEqual(['showUpdate', 'hide'])
  expect(actionsOf({ state: 'available', offer })).toBeUndefined()
  expect(actionsOf({ state: 'downloading', offer, percent: 5 })).toBeUndefined()
  expect(actionsOf({ state: 'failed', code: 'offline', offer: null })).toBeUndefined()
})
