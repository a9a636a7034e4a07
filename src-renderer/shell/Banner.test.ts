import { afterEach, expect, it } from 'vitest'
import type { DesktopState } from '../../src-main/contract/desktop-api.ts'
import { changeLanguage } from '../kit/words/words.ts'
import { noticesFor } from './Banner.tsx'

afterEach(() => changeLanguage('system'))

const fine: DesktopState = {
  runner: { state: 'ready', runnerUrl: 'http://127.0.0.1:3001' },
  dashboard: { state: 'ready', dashboardUrl: 'http://127.0.0.1:3000' },
  vault: { kind: 'keychain', state: 'ok', message: '' },
  settings: {
    runnerPort: 3001,
    dashboardPort: 3000,
    startAtLogin: false,
    closeToTray: true,
    theme: 'system',
    language: 'system',
    logLevel: 'info',
  },
  info: { appVersion: '1', electronVersion: '45', platform: 'linux', dataDir: '/d', logsDir: '/l', safeMode: false },
}

it('is silent when everything works, and in a browser', () => {
  expect(noticesFor(fine)).toEqual([])
  expect(noticesFor(null)).toEqual([])
})

it.each<[string, Partial<DesktopState>, RegExp, unknown[]]>([
  ['starting', { runner: { state: 'starting' } }, /Starting/, []],
  ['restarting', { runner: { state: 'restarting', attempt: 2, reason: 'It crashed.' } }, /try 2/, []],
  [
    'port taken',
    { runner: { state: 'port_taken', port: 3001, suggestedPort: 3007 } },
    /Port 3001/,
    [{ type: 'usePort', server: 'runner', port: 3007 }],
  ],
  [
    'dashboard port taken',
    { dashboard: { state: 'port_taken', port: 3000, suggestedPort: 3008 } },
    /Port 3000/,
    [{ type: 'usePort', server: 'dashboard', port: 3008 }],
  ],
  [
    'given up',
    { runner: { state: 'failed', code: 'internal', message: 'Three crashes.' } },
    /could not be started/,
    [{ type: 'restart', safeMode: false }, { type: 'restart', safeMode: true }, { type: 'logs' }],
  ],
  ['stopped', { runner: { state: 'stopped' } }, /stopped/, [{ type: 'restart', safeMode: false }]],
  [
    'keychain locked',
    { vault: { kind: 'keychain', state: 'locked', message: 'Unlock it.' } },
    /Keys cannot be read/,
    [{ type: 'recheckVault' }],
  ],
  ['safe mode', { info: { ...fine.info, safeMode: true } }, /Safe mode/, [{ type: 'restart', safeMode: false }]],
])('%s: says so and what can be done', (_, change, text, actions) => {
  const [notice, ...others] = noticesFor({ ...fine, ...change })
  expect(notice!.text).toMatch(text)
  expect(notice!.actions.map((action) => action.do)).toEqual(actions)
  expect(others).toEqual([])
})

it('puts the gravest first and gives the reason', () => {
  const notices = noticesFor({
    ...fine,
    vault: { kind: 'keychain', state: 'denied', message: 'Allow it in the settings.' },
    runner: { state: 'failed', code: 'x', message: 'The disk is broken.' },
  })
  expect(notices.map((notice) => notice.key)).toEqual(['failed', 'vault'])
  expect(notices.map((notice) => notice.detail)).toEqual(['The disk is broken.', 'Allow it in the settings.'])
})

it('says once that the runner crashed, and then why, in either language', () => {
  const message = 'The runner crashed three times in five minutes. The last time: The runner ended with code 7.'
  const crashed = { ...fine, runner: { state: 'failed', code: 'crash_loop', message } } as const
  expect(noticesFor(crashed)[0]).toMatchObject({
    text: 'The runner crashed three times in five minutes.',
    detail: 'The last time: The runner ended with code 7.',
  })
  changeLanguage('de')
  expect(noticesFor(crashed)[0]!.detail).toBe('The last time: The runner ended with code 7.')
})

it('says in German what keeps the runner from starting, and what to do about the keychain', () => {
  changeLanguage('de')
  const failed = { state: 'failed', code: 'database_newer', message: 'deckhand.db is of version 12.' } as const
  const [runner, keychain] = noticesFor({ ...fine, runner: failed, vault: { kind: 'keychain', state: 'locked', message: 'Unlock it.' } })
  expect(runner).toMatchObject({
    text: 'Die Datenbank wurde von einem neueren Deckhand geschrieben, darum kann der Runner nicht starten.',
    detail: 'deckhand.db is of version 12.',
  })
  expect(keychain!.detail).toMatch(/^Entsperre ihn/)
  const [unknown] = noticesFor({ ...fine, runner: { ...failed, code: 'of_another_version' } })
  expect(unknown!.text).toBe('Der Runner ließ sich nicht starten.')
})
