import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FromRunner, type RunnerConfig, type ToRunner } from './contract/port.ts'
import { writeProviderSecret } from './domain/providers/provider-secret.ts'
import { startModelServer } from './testing/model-servers/model-server.ts'
import { createRunnerClient, type RunnerClient } from './testing/runner-client.ts'

/** The program that ships: vitest builds it first. */
const ENTRY = fileURLToPath(new URL('../out/main/runner.js', import.meta.url))
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))
const SECRET = 'canary-secret-0123456789-abcdefghijklmnop'
const KEY = 'canary-key-9876543210'

describe('the runner process', () => {
  let home: string
  const children: ChildProcess[] = []
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'deckhand-main-'))
  })
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(home, { recursive: true, force: true })
  })

  function configOf(changes: Partial<RunnerConfig> = {}): RunnerConfig {
    const fixed = { host: '127.0.0.1', port: 0, authMode: 'local-auth' as const, workerSecret: SECRET, logLevel: 'debug' as const }
    return {
      dataDir: join(home, 'data'),
      origins: [],
      hosts: [],
      safeMode: false,
      ingressPort: null,
      publicRunnerUrl: null,
      ...fixed,
      ...changes,
    }
  }

  describe('under a host', () => {
    function host(execArgv: string[] = []) {
      // Does not read the start-up files of the account.
      const env = { ...process.env, HOME: home, SHELL: '/bin/sh', NODE_COMPILE_CACHE: COMPILE_CACHE }
      const child = fork(ENTRY, [], { env, execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
      children.push(child)
      const said: FromRunner[] = []
      let output = ''
      for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
      child.on('message', (message) => said.push(FromRunner.parse(message)))
      const exited = once(child, 'exit').then(([code]) => code as number | null)
      return {
        child,
        said,
        exited,
        output: () => output,
        send: (message: ToRunner | object) => void child.send(message),
        heard: <T extends FromRunner['type']>(type: T): Promise<Extract<FromRunner, { type: T }>> =>
          expect
            .poll(() => said.find((message) => message.type === type), { interval: 5 })
            .toBeDefined()
            .then(() => said.find((message) => message.type === type) as Extract<FromRunner, { type: T }>),
      }
    }

    async function started(changes: Partial<RunnerConfig> = {}, execArgv: string[] = []) {
      const under = host(execArgv)
      await under.heard('hello')
      under.send({ type: 'start', config: configOf(changes) })
      const ready = await under.heard('ready')
      return { ...under, client: createRunnerClient(`http://127.0.0.1:${ready.port}`, SECRET) }
    }

    it('says hello, starts, answers pings and stops', async () => {
      const { client, send, heard, exited, said } = await started()
      expect(await client.ask('health')).toMatchObject({ status: 200 })
      expect(await client.ok('listAgents')).toMatchObject({ agents: [] })
      send({ type: 'ping', nonce: 'n-1' })
      expect(await heard('pong')).toEqual({ type: 'pong', nonce: 'n-1' })
      send({ type: 'stop', graceMs: 500 })
      expect(await exited).toBe(0)
      expect(said.at(-1)).toEqual({ type: 'stopped' })
    })

    it('gets secrets from its host, reports what runs, cancels a job from the tray, and logs no secret', async () => {
      const models = await startModelServer()
      models.play({ text: ['busy'], fault: { kind: 'stall', afterFrames: 1 } })
      const { client, child, send, said, exited, output } = await started()
      const kept = new Map<string, string | null>()
      child.on('message', (message: FromRunner) => {
        if (message.type !== 'vault.ask') return
        if (message.operation !== 'get') kept.set(message.key, message.value)
        send({ type: 'vault.answer', requestId: message.requestId, ok: true, value: kept.get(message.key) ?? null, message: null })
      })
      const body = { kind: 'openai-compatible' as const, name: 'Models', baseUrl: `${models.url}/v1`, apiKey: KEY }
      const { provider } = await client.ok('createProvider', { body })
      expect([...kept]).toEqual([[`provider:${provider.id}`, writeProviderSecret(KEY, new URL(models.url).origin)]])
      const { agent } = await client.ok('createAgent', { body: { name: 'Ada', model: { providerId: provider.id, model: 'small' } } })
      const { jobId } = await client.ok('submitTask', { body: { task: 'Wait for me', agentId: agent.id } })
      const running = () => said.findLast((message) => message.type === 'running')
      await expect.poll(running).toMatchObject({ jobs: [{ jobId, agentName: 'Ada', title: 'Wait for me' }], pending: 0 })
      await expect.poll(() => models.received.at(-1)?.headers['authorization']).toBe(`Bearer ${KEY}`)
      send({ type: 'cancel_job', jobId })
      await expect.poll(running).toMatchObject({ jobs: [], pending: 0 })
      expect((await client.ok('getJob', { params: { jobId } })).job.status).toBe('cancelled')
      send({ type: 'stop', graceMs: 500 })
      await exited
      await models.close()
      const log = readFileSync(join(home, 'data', 'logs', 'runner.log'), 'utf8')
      expect(log).toContain('the runner is ready')
      for (const secret of [SECRET, KEY]) expect([log.includes(secret), output().includes(secret)]).toEqual([false, false])
    })

    it('reports an uncaught error to its host without secrets', async () => {
      const fault = `process.on('SIGUSR2', () => { throw new Error('disk I/O error near ${SECRET}') })`
      const { child, heard, exited } = await started({}, ['--import', `data:text/javascript,${encodeURIComponent(fault)}`])
      child.kill('SIGUSR2')
      const failure = await heard('failed')
      expect(failure).toMatchObject({ code: 'internal', message: { params: { detail: expect.stringContaining('disk I/O error') } } })
      expect(JSON.stringify(failure)).not.toContain(SECRET)
      expect(await exited).toBe(1)
    })

    it('moves deleted files to the trash through its host', async () => {
      const models = await startModelServer()
      const { client, child, send, exited } = await started({ hostTrash: true })
      const [folder, trash] = [join(home, 'Docs'), join(home, 'trash')]
      for (const made of [folder, trash]) mkdirSync(made)
      writeFileSync(join(folder, 'old.txt'), 'mine')
      child.on('message', (message: FromRunner) => {
        if (message.type !== 'trash.ask') return
        renameSync(message.path, join(trash, 'old.txt'))
        send({ type: 'trash.answer', requestId: message.requestId, ok: true, message: null })
      })
      const { provider } = await client.ok('createProvider', {
        body: { kind: 'openai-compatible', name: 'Models', baseUrl: `${models.url}/v1` },
      })
      const { agent } = await client.ok('createAgent', {
        body: {
          name: 'Ada',
          model: { providerId: provider.id, model: 'small' },
          folders: [folder],
          autonomy: 'on_its_own',
        },
      })
      models.play({ toolCalls: [{ id: 'c1', name: 'delete_file', args: { path: 'Docs/old.txt' } }] }, { text: ['Gone.'] })
      await client.ok('submitTask', { body: { task: 'Tidy up', agentId: agent.id } })
      await expect.poll(() => JSON.stringify(models.received.at(-1)?.body)).toContain('Moved Docs/old.txt to the trash.')
      expect([readFileSync(join(trash, 'old.txt'), 'utf8'), readdirSync(folder)]).toEqual(['mine', []])
      send({ type: 'stop', graceMs: 500 })
      await exited
      await models.close()
    })

    it('ends with its host, even while a job runs', async () => {
      const models = await startModelServer()
      models.play({ text: ['busy'], fault: { kind: 'stall', afterFrames: 1 } })
      const { client, child, exited } = await started()
      const { provider } = await client.ok('createProvider', {
        body: { kind: 'openai-compatible', name: 'Models', baseUrl: `${models.url}/v1` },
      })
      const { agent } = await client.ok('createAgent', { body: { name: 'Ada', model: { providerId: provider.id, model: 'small' } } })
      await client.ok('submitTask', { body: { task: 'Wait', agentId: agent.id } })
      await models.untilReceived(1)
      child.disconnect()
      await exited
      await models.close()
    })

    it.each<[string, object, string, number]>([
      ['an address of all networks without sign-in', { authMode: 'local-trust', host: '0.0.0.0' }, 'config_invalid', 2],
      ['an address of another machine', { host: '192.0.2.1' }, 'config_invalid', 2],
      ['a data folder that is a file', { dataDir: ENTRY }, 'data_dir_unusable', 1],
    ])('reports why it cannot start: %s', async (_what, changes, code, exitCode) => {
      const under = host()
      await under.heard('hello')
      under.send({ type: 'start', config: { ...configOf(), ...changes } })
      expect(await under.heard('failed')).toMatchObject({ code })
      expect(await under.exited).toBe(exitCode)
    })

    it('reports a taken port', async () => {
      let touched = 0
      const squatter = createServer(() => touched++).listen(0, '127.0.0.1')
      await once(squatter, 'listening')
      const { port } = squatter.address() as AddressInfo
      const under = host()
      under.send({ type: 'start', config: configOf({ port }) })
      expect(await under.heard('failed')).toMatchObject({
        code: 'port_taken',
        message: { code: 'start_port_taken', params: { port: String(port) } },
      })
      expect([await under.exited, touched]).toEqual([3, 0])
      squatter.close()
    })

    it('ends when its port is taken while it moves to a host on which it cannot listen', async () => {
      const squat = `
        import { Server } from 'node:net'
        const { close } = Server.prototype
        Server.prototype.close = function (...given) {
          const { port } = this.address()
          const closed = close.apply(this, given)
          Server.prototype.close = close
          new Server().listen(port, '127.0.0.1')
          return closed
        }`
      const { send, heard, exited, said } = await started({}, ['--import', `data:text/javascript,${encodeURIComponent(squat)}`])
      const { port } = await heard('ready')
      const access = { authMode: 'local-auth' as const, workerSecret: SECRET, origins: [], hosts: [] }
      send({ type: 'set_access', access: { ...access, host: '192.0.2.1' } })
      expect(await heard('failed')).toMatchObject({
        code: 'port_taken',
        message: { code: 'start_port_taken', params: { port: String(port), host: '127.0.0.1' } },
      })
      expect([await exited, said.filter(({ type }) => type === 'access_set')]).toEqual([3, []])
    })

    it('drops invalid messages', async () => {
      const { client, send, heard } = await started()
      for (const bad of [
        { type: 'stop' },
        { type: 'nonsense' },
        { type: 'cancel_job', jobId: '../x' },
        { __proto__: null, type: 'vault.answer' },
      ])
        send(bad)
      send({ type: 'ping', nonce: 'still there' })
      expect(await heard('pong')).toMatchObject({ nonce: 'still there' })
      expect((await client.ask('health')).status).toBe(200)
    })
  })

  describe('alone', () => {
    function alone(env: Record<string, string>) {
      const child = spawn(process.execPath, [ENTRY], { env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
      children.push(child)
      const text = { out: '', err: '' }
      child.stdout.on('data', (chunk: Buffer) => (text.out += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => (text.err += chunk.toString()))
      return { child, text, closed: once(child, 'close').then(([code]) => code as number | null) }
    }

    async function ready(text: { out: string }): Promise<RunnerClient> {
      await expect.poll(() => text.out, { interval: 5 }).toContain('\n')
      return createRunnerClient((JSON.parse(text.out) as { runnerUrl: string }).runnerUrl)
    }

    it('prints one line of JSON when it is ready, creates private files, and stops on SIGTERM', async () => {
      const dataDir = join(home, 'data')
      mkdirSync(dataDir, { mode: 0o755 })
      const { child, text, closed } = alone({ DECKHAND_DATA_DIR: dataDir, RUNNER_PORT: '0', WORKER_SECRET: SECRET, LOG_LEVEL: 'debug' })
      const client = await ready(text)
      expect(await client.ask('health')).toEqual({ status: 200, body: { ok: true, db: 'ok', llm: 'unchecked' } })
      await client.ok('createProvider', { body: { kind: 'openai', name: 'OpenAI', apiKey: KEY } })
      expect(text.out.trim().split('\n')).toHaveLength(1)
      if (process.platform !== 'win32') {
        expect(statSync(dataDir).mode & 0o777).toBe(0o700)
        for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
          const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
          expect([entry.name, mode.toString(8)]).toEqual([entry.name, entry.isDirectory() ? '700' : '600'])
        }
      }
      child.kill('SIGTERM')
      expect(await closed).toBe(0)
      for (const secret of [SECRET, KEY]) expect(text.err).not.toContain(secret)
      for (const line of text.err.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow()
    })

    it.each<[string, Record<string, string>, RegExp]>([
      ['no data folder', { DECKHAND_DATA_DIR: '' }, /^DECKHAND_DATA_DIR .*\n$/],
      ['a port that is none', { RUNNER_PORT: '70000' }, /^RUNNER_PORT .*\n$/],
      ['a mode that is none', { AUTH_MODE: 'trust-me' }, /^AUTH_MODE .*local-trust.*\n$/],
      ['no secret in the mode for API clients', { AUTH_MODE: 'bearer-token' }, /^WORKER_SECRET .*\n$/],
      ['a secret with a space', { WORKER_SECRET: 'canary canary' }, /^WORKER_SECRET .*\n$/],
      [
        'a short secret on the network',
        { WORKER_SECRET: 'canary', AUTH_MODE: 'local-auth', RUNNER_HOST: '0.0.0.0' },
        /^RUNNER_HOST .* WORKER_SECRET needs at least 32 characters\n$/,
      ],
      ['no secret where one is needed', { AUTH_MODE: 'local-auth' }, /^WORKER_SECRET .*\n$/],
      ['a log level that is none', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL .*\n$/],
      ['an address of all networks without sign-in', { RUNNER_HOST: '0.0.0.0' }, /^RUNNER_HOST .*\n$/],
    ])('exits with 2 and one line about a wrong setting: %s', async (_what, env, line) => {
      const { text, closed } = alone({ DECKHAND_DATA_DIR: join(home, 'data'), RUNNER_PORT: '0', LOG_LEVEL: 'silent', ...env })
      expect(await closed).toBe(2)
      expect(text.err).toMatch(line)
      expect([text.out, text.err.includes('canary')]).toEqual(['', false])
    })

    it('refuses a data folder that another runner uses', async () => {
      const env = { DECKHAND_DATA_DIR: join(home, 'data'), RUNNER_PORT: '0', LOG_LEVEL: 'silent' }
      const first = alone(env)
      const client = await ready(first.text)
      const second = alone(env)
      expect(await second.closed).toBe(1)
      expect(second.text.err).toMatch(/^Another Deckhand runner .*\n$/)
      expect((await client.ask('health')).status).toBe(200)
    })
  })
})
