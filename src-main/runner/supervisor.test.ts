import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Message } from '../../src-runner/contract/messages.ts'
import type { RunnerConfig } from '../../src-runner/contract/port.ts'
import type { RunnerState } from '../contract/desktop-api.ts'
import { silentLog } from '../log/log.ts'
import { openVault } from '../vault/open-vault.ts'
import { VaultError } from '../vault/vault.ts'
import { createForkedRunner } from './forked-runner.ts'
import type { RunnerProcess } from './runner-process.ts'
import { createSupervisor, type Supervisor, type SupervisorDeps } from './supervisor.ts'

const ENTRY = fileURLToPath(new URL('../testing/fixture-runner.ts', import.meta.url))
/** Shared by all starts, which would otherwise compile the fixture again each. */
const CODE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url))
const SECRET = 'secret-of-this-test-0123456789abcdef'

let folder: string
let supervisors: Supervisor[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-supervisor-'))
  supervisors = []
})
afterEach(async () => {
  await Promise.all(supervisors.map((supervisor) => supervisor.stop(500)))
  rmSync(folder, { recursive: true, force: true })
})

function configFor(dataDir: string, safeMode: boolean): RunnerConfig {
  return {
    dataDir,
    host: '127.0.0.1',
    port: 0,
    authMode: 'local-trust',
    workerSecret: SECRET,
    logLevel: 'info',
    origins: [],
    hosts: [],
    safeMode,
    ingressPort: null,
    publicRunnerUrl: null,
  }
}

function supervise(fixture: object = {}, options: Partial<SupervisorDeps> & { port?: number; dataDir?: string } = {}) {
  const spawned: RunnerProcess[] = []
  const states: RunnerState[] = []
  const notifications: string[] = []
  const spawn = createForkedRunner({
    entry: ENTRY,
    codeCache: CODE_CACHE,
    env: { ...process.env, WORKER_SECRET: SECRET, AUTH_MODE: 'local-auth', FIXTURE: JSON.stringify(fixture) },
  })
  const supervisor = createSupervisor({
    spawn() {
      const child = spawn()
      spawned.push(child)
      return child
    },
    configure: async (safeMode) => ({
      ...configFor(options.dataDir ?? folder, safeMode),
      port: options.port ?? 0,
    }),
    vault: openVault('file', folder),
    log: silentLog,
    ...options,
  })
  supervisor.onState((state) => states.push(state))
  supervisor.onNotification((notification) => notifications.push(String((notification.title.params as { words?: string }).words)))
  supervisors.push(supervisor)
  return { supervisor, spawned, states, notifications }
}

const isGone = (pid: number) => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

describe('the runner', () => {
  it('is started, configured over the port and reached at its reported address', async () => {
    const { supervisor, states, spawned } = supervise()
    const ready = await supervisor.start()
    expect(states.map((s) => s.state)).toEqual(['starting', 'ready'])
    const endpoint = supervisor.endpoint()!
    expect(ready).toEqual({ state: 'ready', runnerUrl: endpoint.url })
    expect(endpoint.secret).toBe(SECRET)
    expect((await fetch(endpoint.url)).status).toBe(200)
    await expect
      .poll(() => supervisor.running())
      .toEqual({
        jobs: [],
        pending: 2,
        approvals: 1,
        waiting: [],
        pauseAll: false,
        webhooks: { url: null, check: 'unknown', tunnel: null },
      })
    await supervisor.stop()
    expect(supervisor.state()).toEqual({ state: 'stopped' })
    expect(supervisor.endpoint()).toBeNull()
    expect(supervisor.running()).toEqual({
      jobs: [],
      pending: 0,
      approvals: 0,
      waiting: [],
      pauseAll: false,
      webhooks: { url: null, check: 'unknown', tunnel: null },
    })
    expect(isGone(spawned[0]!.pid!)).toBe(true)
  })

  it('reports each crash with its last lines, and no stop', async () => {
    const crashes: { reason: Message; lastLines: string[] }[] = []
    const { supervisor, spawned } = supervise({}, { crashed: (crash) => void crashes.push(crash) })
    await supervisor.start()
    process.kill(spawned[0]!.pid!, 'SIGKILL')
    await expect
      .poll(() => crashes)
      .toEqual([{ reason: { code: 'runner_killed', params: { signal: 'SIGKILL' } }, lastLines: expect.any(Array) }])
    await expect.poll(() => supervisor.state().state).toBe('ready')
    await supervisor.stop()
    expect(crashes).toHaveLength(1)
  })

  it.each([
    ['a migration', undefined, '1.001'],
    ['a restore', { backup: null }, '2.001'],
  ])('gets more time to start the larger its database is: %s', async (_, replaceDatabase, seconds) => {
    mkdirSync(join(folder, 'backups'))
    for (const [name, bytes] of [
      ['deckhand.db', 6_000_000],
      ['backups/deckhand-20261122T023000Z.db', 11_000_000],
      ['backups/deckhand-20261123T023000Z.db', 1_000],
    ] as const) {
      writeFileSync(join(folder, name), '')
      truncateSync(join(folder, name), bytes)
    }
    const { supervisor, states } = supervise({ hangAtStart: true }, { timings: { startLimitMs: 1 } })
    void supervisor.start({ replaceDatabase })
    await expect.poll(() => states).toContainEqual(expect.objectContaining({ reason: { code: 'runner_slow_start', params: { seconds } } }))
  })

  it('can be awaited while it starts, up to a limit', async () => {
    const { supervisor } = supervise()
    expect(await supervisor.endpointSoon(10)).toBeNull()
    void supervisor.start()
    expect(await supervisor.endpointSoon(0)).toBeNull()
    expect(await supervisor.endpointSoon(10_000)).toEqual(supervisor.endpoint())
    expect(supervisor.endpoint()).not.toBeNull()
  })

  it('gets no secret in its environment or arguments', async () => {
    const { supervisor, notifications } = supervise({ tellEnvironment: true })
    await supervisor.start()
    await expect.poll(() => notifications).toHaveLength(1)
    expect(notifications[0]).not.toContain(SECRET)
    expect(JSON.parse(notifications[0]!).env).not.toHaveProperty('AUTH_MODE')
  })

  it('uses the vault through the port', async () => {
    const { supervisor, notifications } = supervise({ askVault: true })
    await supervisor.start()
    await expect.poll(() => notifications).toHaveLength(2)
    expect(notifications.map((text) => JSON.parse(text) as object)).toEqual([
      { type: 'vault.answer', requestId: 1, ok: true, value: null, message: null },
      { type: 'vault.answer', requestId: 2, ok: true, value: 'kept', message: null },
    ])
  })

  it('gets the reason when the vault fails', async () => {
    const vault = openVault('keychain', folder, { loadKeychain: () => Promise.reject(new Error('no library')) })
    const { supervisor, notifications } = supervise({ askVault: true }, { vault })
    await supervisor.start()
    await expect.poll(() => notifications).toHaveLength(2)
    expect(JSON.parse(notifications[1]!)).toMatchObject({ ok: false, value: null, message: { code: 'keychain_absent' } })
  })

  it('moves files to the trash through the port', async () => {
    const [file, trashed] = [join(folder, 'old.txt'), join(folder, 'trashed.txt')]
    writeFileSync(file, 'mine')
    const dataDir = join(folder, 'data')
    const { supervisor, notifications } = supervise({ askTrash: file }, { trash: async (path) => renameSync(path, trashed), dataDir })
    await supervisor.start()
    await expect.poll(() => notifications).toEqual([JSON.stringify({ type: 'trash.answer', requestId: 3, ok: true, message: null })])
    expect([existsSync(file), existsSync(trashed)]).toEqual([false, true])
  })

  it('can send malformed messages without effect', async () => {
    const { supervisor } = supervise({ babble: true })
    expect(await supervisor.start()).toMatchObject({ state: 'ready' })
  })

  it('gets a request to cancel a job', async () => {
    const { supervisor, notifications } = supervise()
    await supervisor.start()
    supervisor.cancelJob('019a0000-0000-7000-8000-000000000001')
    await expect.poll(() => notifications).toEqual(['cancel 019a0000-0000-7000-8000-000000000001'])
  })
})

describe('a message to the runner', () => {
  it('reports answers, tray actions and a wake of the machine', async () => {
    const { supervisor, notifications } = supervise()
    await supervisor.start()
    const answer = { approvalId: '019a0000-0000-7000-8000-000000000001', decision: 'approve', answer: 'Blue' } as const
    supervisor.answerApproval(answer)
    supervisor.setPauseAll(true)
    supervisor.setTunnel('ngrok', false)
    supervisor.setLanguage('de')
    supervisor.setOrigins(['http://192.168.1.9:3000'])
    supervisor.reportWake()
    await expect.poll(() => notifications).toHaveLength(6)
    expect(notifications.map((text) => JSON.parse(text) as object)).toEqual([
      { type: 'answer_approval', ...answer },
      { type: 'set_pause_all', on: true },
      { type: 'set_tunnel', program: 'ngrok', on: false },
      { type: 'set_language', language: 'de' },
      { type: 'set_origins', origins: ['http://192.168.1.9:3000'] },
      { type: 'woke' },
    ])
  })
})

describe('a changed access', () => {
  it('reaches the running runner, which gets the new secret from then on', async () => {
    let secret = SECRET
    const configure: SupervisorDeps['configure'] = async (safeMode) => ({ ...configFor(folder, safeMode), workerSecret: secret })
    const { supervisor, spawned, notifications } = supervise({}, { configure })
    await supervisor.start()
    const before = supervisor.endpoint()!
    secret = `${SECRET}-new`
    let meanwhile: unknown
    supervisor.onNotification(() => (meanwhile = supervisor.endpoint()))
    const change = supervisor.changeAccess()
    expect([await change, meanwhile]).toEqual([null, null])
    expect(supervisor.endpoint()).toEqual({ ...before, secret })
    expect(JSON.parse(notifications[0]!)).toEqual({
      host: '127.0.0.1',
      authMode: 'local-trust',
      workerSecret: secret,
      origins: [],
      hosts: [],
    })
    expect(spawned).toHaveLength(1)
  })

  it('removes the endpoint if the runner listens nowhere any more, and names the taken port', async () => {
    const { supervisor, spawned, states } = supervise({ loseListener: true }, { timings: { refusalLimitMs: 100 } })
    await supervisor.start()
    expect(await supervisor.changeAccess()).toEqual({ code: 'quoted', params: { words: 'refused: port_taken' } })
    expect(supervisor.endpoint()).toBeNull()
    await expect.poll(() => states.map((s) => s.state), { interval: 5 }).toEqual(['starting', 'ready', 'port_taken'])
    expect([supervisor.endpoint(), spawned.length]).toEqual([null, 1])
  })
})

describe('a crash', () => {
  it('restarts the runner at once', async () => {
    const { supervisor, spawned, states } = supervise()
    await supervisor.start()
    spawned[0]!.kill()
    await expect.poll(() => states.map((s) => s.state), { interval: 5 }).toEqual(['starting', 'ready', 'restarting', 'ready'])
    expect(states[2]).toEqual({ state: 'restarting', attempt: 1, reason: { code: 'runner_killed', params: { signal: 'SIGKILL' } } })
    expect((await fetch(supervisor.endpoint()!.url)).status).toBe(200)
  })

  it('removes the endpoint at once', async () => {
    const { supervisor, spawned, states } = supervise()
    await supervisor.start()
    const endpoints: unknown[] = []
    supervisor.onState(() => endpoints.push(supervisor.endpoint()))
    spawned[0]!.kill()
    await expect.poll(() => states.map((s) => s.state), { interval: 5 }).toContain('restarting')
    expect(endpoints[0]).toBeNull()
  })

  it('ends the restarts after the third, with the reason, until a person starts the runner', async () => {
    const { supervisor, spawned, states } = supervise({ exitAtStart: 7 })
    const failed = await supervisor.start()
    expect(failed).toEqual({ state: 'failed', code: 'crash_loop', message: { code: 'runner_exited', params: { exitCode: '7' } } })
    expect(spawned).toHaveLength(3)
    expect(states.map((s) => s.state)).toEqual(['starting', 'restarting', 'restarting', 'failed'])
    await supervisor.restart({ safeMode: true })
    expect(spawned).toHaveLength(6)
    expect(supervisor.isSafeMode()).toBe(true)
  })

  it('ends with the error that the runner itself reported, which says more than its exit code', async () => {
    const { supervisor, spawned } = supervise({ refuse: 'internal' })
    const message = { code: 'quoted', params: { words: 'refused: internal' } }
    expect(await supervisor.start()).toEqual({ state: 'failed', code: 'crash_loop', message })
    expect(spawned).toHaveLength(3)
  })

  it('is also assumed after a hang', async () => {
    const { supervisor, spawned, states } = supervise({}, { timings: { pingEveryMs: 20, hangAfterMs: 200 } })
    await supervisor.start()
    process.kill(spawned[0]!.pid!, 'SIGSTOP')
    await expect.poll(() => states.map((s) => s.state), { interval: 10 }).toEqual(['starting', 'ready', 'restarting', 'ready'])
    expect(states[2]).toMatchObject({ reason: { code: 'runner_silent' } })
    expect(isGone(spawned[0]!.pid!)).toBe(true)
  })
})

describe('a failure that a restart cannot fix', () => {
  let stranger: Server | null = null
  afterEach(() => void stranger?.close())

  it('is a taken port: another one is suggested, and nothing is sent to its owner', async () => {
    const heard: unknown[] = []
    stranger = createServer((request) => heard.push(request.headers))
    stranger.on('connection', (socket) => heard.push(socket.remotePort))
    await new Promise<void>((resolve) => stranger!.listen(0, '127.0.0.1', () => resolve()))
    const { port } = stranger.address() as { port: number }
    const { supervisor, spawned } = supervise({}, { port })
    const state = await supervisor.start()
    expect(state).toEqual({ state: 'port_taken', port, suggestedPort: expect.any(Number) })
    expect(supervisor.endpoint()).toBeNull()
    expect(spawned).toHaveLength(1)
    const suggested = (state as { suggestedPort: number }).suggestedPort
    expect(suggested).not.toBe(port)
    expect(heard).toEqual([])
  })

  it.each([
    'database_damaged',
    'database_newer',
    'database_locked',
    'disk_full',
    'read_only',
    'data_dir_unusable',
    'config_invalid',
  ] as const)('%s is shown and not tried again', async (code) => {
    const { supervisor, spawned } = supervise({ refuse: code })
    expect(await supervisor.start()).toEqual({ state: 'failed', code, message: { code: 'quoted', params: { words: `refused: ${code}` } } })
    expect(spawned).toHaveLength(1)
  })

  it('is an unusable vault: it is reported, and no process is started', async () => {
    const { supervisor, spawned } = supervise(
      {},
      { configure: () => Promise.reject(new VaultError('locked', { code: 'keychain_locked', params: {} })) },
    )
    expect(await supervisor.start()).toEqual({
      state: 'failed',
      code: 'vault_unavailable',
      message: { code: 'keychain_locked', params: {} },
    })
    expect(spawned).toHaveLength(0)
  })
})

describe('stopping', () => {
  it('kills a runner that does not stop in time', async () => {
    const { supervisor, spawned } = supervise({ ignoreStop: true })
    await supervisor.start()
    await supervisor.stop(50)
    expect(isGone(spawned[0]!.pid!)).toBe(true)
    expect(supervisor.state()).toEqual({ state: 'stopped' })
  })

  it('leaves nothing behind during a start', async () => {
    const { supervisor, spawned } = supervise()
    const started = supervisor.start()
    await expect.poll(() => spawned, { interval: 1 }).toHaveLength(1)
    await supervisor.stop(500)
    expect(await started).toEqual({ state: 'stopped' })
    expect(spawned.every((child) => isGone(child.pid!))).toBe(true)
  })
})
