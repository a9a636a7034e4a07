import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { englishText } from '../log/english-text.ts'
import { defaultDataDir } from './data-dir-path.ts'
import { readEnvironment, refuseEqualPorts } from './environment.ts'
import { StartError } from './start-error.ts'

const SECRET = 'only-for-this-test-0123456789abcdef'

function read(env: Record<string, string>, args: string[] = []) {
  return readEnvironment({ env, args, platform: 'linux', home: '/home/ann', cwd: '/work' })
}

describe('an unset variable', () => {
  it('has its default', () => {
    expect(read({})).toEqual({
      dataDir: '/home/ann/.local/share/deckhand',
      runnerHost: '127.0.0.1',
      runnerPort: null,
      dashboardHost: '127.0.0.1',
      dashboardPort: null,
      appUrl: null,
      publicRunnerUrl: null,
      ingressPort: null,
      authMode: 'local-trust',
      sharingFixedBy: null,
      workerSecret: null,
      vault: 'keychain',
      messengerBridgeEnabled: true,
      logLevel: null,
    })
  })

  it('includes an empty one', () => {
    expect(read({ RUNNER_PORT: '', AUTH_MODE: '' })).toMatchObject({ runnerPort: null, authMode: 'local-trust' })
  })

  it.each([
    ['darwin', {}, '/home/ann/Library/Application Support/Deckhand'],
    ['linux', { XDG_DATA_HOME: '/data' }, '/data/deckhand'],
    ['linux', { XDG_DATA_HOME: 'relative' }, '/home/ann/.local/share/deckhand'],
    ['win32', { APPDATA: 'C:\\Users\\Ann\\AppData\\Roaming' }, 'C:\\Users\\Ann\\AppData\\Roaming\\Deckhand'],
  ] as const)('keeps data on %s where that system keeps it', (platform, env, expected) => {
    expect(defaultDataDir(platform, env, '/home/ann')).toBe(expected)
  })
})

describe('a valid value', () => {
  it.each([
    [{ DECKHAND_DATA_DIR: '/srv/deckhand' }, { dataDir: '/srv/deckhand' }],
    [{ DECKHAND_DATA_DIR: 'here' }, { dataDir: '/work/here' }],
    [
      { RUNNER_PORT: '0', DASHBOARD_PORT: '65535' },
      { runnerPort: 0, dashboardPort: 65_535 },
    ],
    [
      { RUNNER_HOST: 'LOCALHOST', DASHBOARD_HOST: '::1' },
      { runnerHost: 'localhost', dashboardHost: '::1' },
    ],
    [{ APP_URL: 'https://deck.example.org/' }, { appUrl: 'https://deck.example.org' }],
    [{ PUBLIC_RUNNER_URL: 'https://t.example.org/base/' }, { publicRunnerUrl: 'https://t.example.org/base' }],
    [
      { AUTH_MODE: 'local-auth', RUNNER_HOST: '0.0.0.0' },
      { authMode: 'local-auth', runnerHost: '0.0.0.0' },
    ],
    [{ WORKER_SECRET: SECRET }, { workerSecret: SECRET, sharingFixedBy: null }],
    [
      { WORKER_SECRET: 'short', AUTH_MODE: 'bearer-token' },
      { workerSecret: 'short', sharingFixedBy: 'AUTH_MODE' },
    ],
    [{ WORKER_SECRET: 'short' }, { sharingFixedBy: 'WORKER_SECRET' }],
    [{ DECKHAND_VAULT: 'file' }, { vault: 'file' }],
    [{ MESSENGER_BRIDGE_ENABLED: 'False' }, { messengerBridgeEnabled: false }],
    [{ LOG_LEVEL: 'trace' }, { logLevel: 'trace' }],
  ])('is accepted: %o', (env, expected) => {
    expect(read(env as Record<string, string>)).toMatchObject(expected)
  })

  it('comes from a flag rather than the environment', () => {
    expect(
      read({ RUNNER_PORT: '1', AUTH_MODE: 'local-auth' }, ['--runner-port', '4001', '--dashboard-port=4000', '--data-dir', '/x']),
    ).toMatchObject({
      runnerPort: 4001,
      dashboardPort: 4000,
      dataDir: '/x',
      authMode: 'local-auth',
    })
  })
})

describe('an invalid value fails with one line and exit code 2', () => {
  it.each([
    [{ RUNNER_PORT: '70000' }, [], /^RUNNER_PORT must be a port, 0 to 65535/],
    [{ RUNNER_PORT: '80a' }, [], /^RUNNER_PORT must be a port/],
    [{ DASHBOARD_PORT: '-1' }, [], /^DASHBOARD_PORT must be a port/],
    [{ RUNNER_HOST: 'http://localhost' }, [], /^RUNNER_HOST must be an address/],
    [{ RUNNER_HOST: '2130706433' }, [], /^RUNNER_HOST must be an address/],
    [{ DASHBOARD_HOST: '127.1' }, [], /^DASHBOARD_HOST must be an address/],
    [{ APP_URL: 'ftp://x' }, [], /^APP_URL must be an address that starts with http/],
    [{ APP_URL: 'https://u:p@x' }, [], /^APP_URL must be/],
    [{ APP_URL: 'https://home.example/deckhand' }, [], /^APP_URL must be an address .*, without user name, path and query \(it is “https:/],
    [{ AUTH_MODE: 'open' }, [], /^AUTH_MODE must be one of local-trust, local-auth, bearer-token/],
    [{ DECKHAND_VAULT: 'disk' }, [], /^DECKHAND_VAULT must be one of keychain, file/],
    [{ MESSENGER_BRIDGE_ENABLED: 'maybe' }, [], /^MESSENGER_BRIDGE_ENABLED must be true or false/],
    [{ LOG_LEVEL: 'loud' }, [], /^LOG_LEVEL must be one of/],
    [{ RUNNER_HOST: '0.0.0.0' }, [], /^RUNNER_HOST 0\.0\.0\.0 would open Deckhand to the network/],
    [{ DASHBOARD_HOST: '192.168.1.7' }, [], /^DASHBOARD_HOST 192\.168\.1\.7 would open/],
    [
      { WORKER_SECRET: 'short', AUTH_MODE: 'local-auth', RUNNER_HOST: '0.0.0.0' },
      [],
      /^RUNNER_HOST 0\.0\.0\.0 would open .* WORKER_SECRET needs at least 32 characters/,
    ],
    [{}, ['--runner-port', 'x'], /^--runner-port must be a port/],
    [{}, ['--runner-port'], /^--runner-port needs a value/],
    [{}, ['--runner-port', '--log-level'], /^--runner-port needs a value/],
    [{}, ['--colour', 'red'], /^unknown argument --colour/],
    [{}, ['start'], /^unknown argument start/],
  ])('%o %o', async (env, args, line) => {
    const failure = catchStartError(() => read(env, args))
    expect(failure.exitCode).toBe(2)
    const text = await englishText(failure.detail)
    expect(text).toMatch(line)
    expect(text).not.toContain('\n')
  })

  it('never repeats a secret', () => {
    expect(catchStartError(() => read({ WORKER_SECRET: 'with space-and-private' })).detail).toEqual({
      code: 'start_secret_invalid',
      params: { setting: 'WORKER_SECRET' },
    })
    expect(catchStartError(() => read({}, ['--worker-secrett=private-private-private'])).message).not.toContain('private')
  })
})

function catchStartError(run: () => unknown): StartError {
  try {
    run()
  } catch (error) {
    if (error instanceof StartError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a port that two settings name', () => {
  const saved = { runnerPort: 3001, dashboardPort: 3000 }

  it.each([
    [{ RUNNER_PORT: '3005', DASHBOARD_PORT: '3005' }, saved, 'RUNNER_PORT and DASHBOARD_PORT are both 3005.'],
    [{ RUNNER_PORT: '3000' }, saved, 'RUNNER_PORT and DASHBOARD_PORT are both 3000.'],
    [{ DASHBOARD_PORT: '3001' }, saved, 'RUNNER_PORT and DASHBOARD_PORT are both 3001.'],
    [{ INGRESS_PORT: '3001' }, saved, 'RUNNER_PORT and INGRESS_PORT are both 3001.'],
    [{ INGRESS_PORT: '3000' }, saved, 'DASHBOARD_PORT and INGRESS_PORT are both 3000.'],
  ])('is refused with one line and exit code 2: %o', async (env, saved, line) => {
    const failure = catchStartError(() => refuseEqualPorts(read(env), saved))
    expect(failure.exitCode).toBe(2)
    expect(await englishText(failure.detail)).toBe(`${line} Give each its own port.`)
  })

  it.each([
    [{}, saved],
    [{ RUNNER_PORT: '0', DASHBOARD_PORT: '0', INGRESS_PORT: '0' }, saved],
    [{ DASHBOARD_PORT: '3001' }, { runnerPort: 3005, dashboardPort: 3000 }],
    // The person chose them in the app, which offers another port.
    [{}, { runnerPort: 3000, dashboardPort: 3000 }],
  ])('is not refused where there is none: %o', (env, saved) => {
    expect(() => refuseEqualPorts(read(env), saved)).not.toThrow()
  })
})

describe('the secret in a file', () => {
  function fileWith(text: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-secret-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'secret'), text)
    return join(folder, 'secret')
  }

  it('is the text of the file without the line end', () => {
    expect(read({}, ['--worker-secret-file', fileWith(`${SECRET}\n`)])).toMatchObject({ workerSecret: SECRET })
    expect(read({ WORKER_SECRET_FILE: fileWith(SECRET), WORKER_SECRET: 'x'.repeat(40) })).toMatchObject({ workerSecret: SECRET })
  })

  it('is refused if invalid, with the name of the file but not its content', () => {
    const file = fileWith('two lines\nand-private')
    const { detail } = catchStartError(() => read({}, ['--worker-secret-file', file]))
    expect(detail).toEqual({ code: 'start_secret_invalid', params: { setting: file } })
    expect(catchStartError(() => read({}, ['--worker-secret-file', '/missing/file'])).message).toContain('/missing/file')
  })

  it('is refused as an argument, which every account can read', () => {
    for (const args of [['--worker-secret', SECRET], [`--worker-secret=${SECRET}`]]) {
      const error = catchStartError(() => read({}, args))
      expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining('--worker-secret-file') })
      expect(error.message).not.toContain(SECRET)
    }
  })
})
