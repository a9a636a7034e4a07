import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unzipSync } from 'fflate'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { findFreePort } from '../src-runner/testing/free-port.ts'
import { startModelServer } from '../src-runner/testing/model-servers/model-server.ts'
import { writeLinkFile } from './settings/link-file.ts'
import { openAccounts } from './sign-in/accounts.ts'

/** The program that ships (vitest builds it first): real processes, real database, real ports. */
const PROGRAM = fileURLToPath(new URL('../out/main/headless.js', import.meta.url))
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))
const SECRET = 'secret-of-the-headless-test-0123456789'

let folder: string
let started: Started[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-headless-'))
  started = []
})
afterEach(async () => {
  for (const { child, exited } of started) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
})

type Ready = { ready: true; runnerUrl: string; dashboardUrl: string }
type Started = { child: ChildProcess; stdout(): string; stderr(): string; ready: Promise<Ready>; exited: Promise<number | null> }

function startHeadless(env: Record<string, string> = {}, args: string[] = []): Started {
  const own = { DECKHAND_DATA_DIR: folder, DECKHAND_VAULT: 'file', RUNNER_PORT: '0', DASHBOARD_PORT: '0', ...env }
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env['PATH'], HOME: folder, NODE_COMPILE_CACHE: COMPILE_CACHE, ...own },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const exited = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  const ready = new Promise<Ready>((resolve, reject) => {
    child.stdout.on('data', () => /^\{.*\n/.test(stdout) && resolve(JSON.parse(stdout) as Ready))
    void exited.then((code) => reject(new Error(`ended with ${code}: ${stderr}`)))
  })
  ready.catch(() => undefined)
  const one: Started = { child, stdout: () => stdout, stderr: () => stderr, ready, exited }
  started.push(one)
  return one
}

const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const isUp = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  )

describe('headless', () => {
  it('accepts the session of an account, and its access token, in bearer-token', async () => {
    const first = startHeadless({ AUTH_MODE: 'local-auth', WORKER_SECRET: SECRET })
    const { dashboardUrl } = await first.ready
    await vi.waitFor(() => expect(first.stderr()).toMatch(/#setup=\S+/), { timeout: 60_000 })
    const link = /#setup=(\S+)/.exec(first.stderr())![1]!
    const person = { name: 'Ada', password: 'correct horse battery' }
    expect((await post(`${dashboardUrl}/api/auth/sign-up`, { link, ...person })).status).toBe(201)
    const signedIn = await post(`${dashboardUrl}/api/auth/sign-in/username`, { username: person.name, password: person.password })
    const { token: session } = (await signedIn.json()) as { token: string }
    first.child.kill('SIGTERM')
    await first.exited

    const second = startHeadless({ AUTH_MODE: 'bearer-token', WORKER_SECRET: SECRET })
    const { runnerUrl, dashboardUrl: dashboard } = await second.ready
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } })
    const ask = async (token: string, path = '/api/agents') => (await fetch(`${runnerUrl}${path}`, bearer(token))).status
    expect([await ask(SECRET), await ask(session), await ask(`${session.slice(0, -1)}!`), await ask('x')]).toEqual([200, 200, 401, 401])
    expect([await ask(SECRET, '/api/settings'), await ask(session, '/api/settings')]).toEqual([200, 403])
    const body = JSON.stringify({ name: 'Script', expiresAt: null })
    const created = await fetch(`${runnerUrl}/api/tokens`, { method: 'POST', body, ...bearer(session) })
    const { token, accessToken } = (await created.json()) as { token: string; accessToken: { entityName: string } }
    expect(accessToken.entityName).toBe('Personal')
    expect(await ask(token)).toBe(200)
    expect((await fetch(`${dashboard}/api/auth/session`, bearer(SECRET))).status).toBe(404)
    for (const secret of [session, token]) expect(second.stderr()).not.toContain(secret)
  })

  it('deletes all data when it is stopped and that is confirmed, and starts from the beginning', async () => {
    const first = startHeadless()
    const { runnerUrl } = await first.ready
    expect((await post(`${runnerUrl}/api/agents`, { name: 'Ada' })).status).toBe(201)
    const refused = startHeadless({}, ['reset', '--yes'])
    expect(await refused.exited).toBe(1)
    expect(refused.stderr()).toContain('Another Deckhand is using the data folder')
    first.child.kill('SIGTERM')
    await first.exited
    const asked = startHeadless({}, ['reset'])
    expect(await asked.exited).toBe(2)
    expect(asked.stderr()).toMatch(/"reset" deletes \d+ files \([\d.]+ MB\).*To confirm, add --yes/)
    expect(existsSync(join(folder, 'vault-file.key'))).toBe(true)
    const done = startHeadless({}, ['reset', '--yes'])
    expect([await done.exited, done.stderr()]).toEqual([0, ''])
    expect(readdirSync(folder)).toEqual([])
    const again = await startHeadless().ready
    expect(await (await fetch(`${again.runnerUrl}/api/agents`)).json()).toMatchObject({ agents: [] })
  })

  it('starts both servers, runs a job and stops in order', async () => {
    const program = startHeadless()
    const { runnerUrl, dashboardUrl } = await program.ready
    expect(await (await fetch(`${runnerUrl}/api/health`)).json()).toEqual({ ok: true, db: 'ok', llm: 'unchecked' })
    expect(await (await fetch(`${dashboardUrl}/api/health`)).json()).toEqual({ ok: true, service: 'deckhand-dashboard' })

    // A page is let in by the dashboard if its link was printed here, and by the runner never.
    const asPage = async (url: string, headers = {}) =>
      (await fetch(`${url}/api/agents`, { headers: { origin: dashboardUrl, ...headers } })).status
    expect([await asPage(dashboardUrl), await asPage(runnerUrl)]).toEqual([401, 403])
    const printed = /open (\S+) in a browser/.exec(program.stderr())![1]!
    const command = startHeadless({}, ['link'])
    expect(await command.exited).toBe(0)
    for (const link of [printed, command.stdout().trim()]) {
      const [url, token] = link.split('/#open=')
      expect(url).toBe(dashboardUrl)
      const opened = await post(`${url}/api/browser`, { token })
      const { key } = (await opened.json()) as { key: string }
      const proof = { cookie: opened.headers.get('set-cookie')!.split(';')[0], 'x-deckhand-page': key }
      expect([await asPage(dashboardUrl, proof), await asPage(runnerUrl, proof)]).toEqual([200, 403])
    }
    expect(statSync(join(folder, 'browser-link.json')).mode & 0o777).toBe(0o600)

    const agent = await post(`${dashboardUrl}/api/agents`, { name: 'Ann', model: { providerId: 'demo', model: 'demo' } })
    expect(agent.status).toBe(201)
    const submitted = await post(`${dashboardUrl}/api/agent`, { task: 'say hello' })
    expect(submitted.status).toBe(202)
    const { jobId } = (await submitted.json()) as { jobId: string }
    await vi.waitFor(
      async () => {
        const { job } = (await (await fetch(`${dashboardUrl}/api/jobs/${jobId}`)).json()) as { job: { status: string } }
        expect(job.status).toBe('completed')
      },
      { timeout: 60_000, interval: 50 },
    )

    program.child.kill('SIGTERM')
    expect(await program.exited).toBe(0)
    expect(program.stdout().trim().split('\n')).toHaveLength(1)
    expect(await Promise.all([isUp(runnerUrl), isUp(dashboardUrl)])).toEqual([false, false])
    const ask = async (...args: string[]) => {
      const command = startHeadless({}, args)
      await command.exited
      return command.stdout().trim()
    }
    const old = await ask('secret')
    const replaced = await ask('secret', '--rotate')
    expect([replaced.length, replaced === old, await ask('secret')]).toEqual([43, false, replaced])
    const late = startHeadless({}, ['link'])
    expect([await late.exited, late.stderr()]).toEqual([1, `deckhand: no Deckhand is running on the data folder ${folder}\n`])
  })

  it('obeys a new secret and a new password from the command line while it runs', async () => {
    const ask = async (...args: string[]) => {
      const command = startHeadless({}, args)
      expect([await command.exited, command.stderr()]).toEqual([0, args[0] === 'reset-password' ? expect.any(String) : ''])
      return command.stdout().trim()
    }
    const program = startHeadless({ AUTH_MODE: 'local-auth' })
    const { runnerUrl, dashboardUrl } = await program.ready
    await vi.waitFor(() => expect(program.stderr()).toMatch(/#setup=\S+/), { timeout: 60_000 })
    const link = /#setup=(\S+)/.exec(program.stderr())![1]!
    expect((await post(`${dashboardUrl}/api/auth/sign-up`, { link, name: 'Ada Lovelace', password: 'correct horse battery' })).status).toBe(
      201,
    )

    const statuses = (secret: string) =>
      Promise.all(
        [runnerUrl, dashboardUrl].map(
          async (url) => (await fetch(`${url}/api/jobs`, { headers: { authorization: `Bearer ${secret}` } })).status,
        ),
      )
    const old = await ask('secret')
    const stream = (await fetch(`${runnerUrl}/api/events`, { headers: { authorization: `Bearer ${old}` } })).body!.getReader()
    const replaced = await ask('secret', '--rotate')
    expect([replaced.length, await ask('secret')]).toEqual([43, replaced])
    expect([await statuses(old), await statuses(replaced)]).toEqual([
      [401, 401],
      [200, 200],
    ])
    while (!(await stream.read().catch(() => ({ done: true }))).done);
    expect(program.stderr()).not.toContain(replaced)
    const file = join(folder, 'browser-link.json')
    renameSync(file, `${file}.away`)
    const refused = startHeadless({}, ['secret', '--rotate'])
    expect([await refused.exited, refused.stderr()]).toEqual([1, expect.stringContaining('cannot be reached')])
    renameSync(`${file}.away`, file)
    expect(await ask('secret')).toBe(replaced)

    const password = await ask('reset-password', 'ada lovelace')
    expect(password).toMatch(/^([a-z2-9]{5}-){3}[a-z2-9]{5}$/)
    const signIn = async (given: string) =>
      (await post(`${dashboardUrl}/api/auth/sign-in/username`, { username: 'Ada Lovelace', password: given })).status
    expect([await signIn('correct horse battery'), await signIn(password)]).toEqual([401, 200])
    const unknown = startHeadless({}, ['reset-password', 'nobody'])
    expect([await unknown.exited, unknown.stderr()]).toEqual([1, expect.stringContaining('"Ada Lovelace"')])
    program.child.kill('SIGTERM')
    expect(await program.exited).toBe(0)
    expect(await ask('reset-password')).not.toBe(password)
  })

  it('prints a new password even if the running Deckhand cannot be told of it', async () => {
    const accounts = await openAccounts({ dataDir: folder, secret: SECRET, now: Date.now })
    await accounts.createOwner({ name: 'Ada', password: 'correct horse battery' })
    accounts.close()
    const running = createServer(({ method }, response) => response.writeHead(method === 'POST' ? 500 : 200).end())
    await new Promise<void>((resolve) => running.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void running.close())
    writeLinkFile(folder, { url: `http://127.0.0.1:${(running.address() as AddressInfo).port}`, key: SECRET })
    const command = startHeadless({}, ['reset-password'])
    expect([await command.exited, command.stderr()]).toEqual([1, expect.stringContaining('the running Deckhand refused: 500')])
    expect(command.stdout()).toMatch(/^([a-z2-9]{5}-){3}[a-z2-9]{5}\n$/)
  })

  it('writes its secret to no log, and stops on Ctrl-C', async () => {
    const program = startHeadless({ WORKER_SECRET: SECRET, LOG_LEVEL: 'trace', AUTH_MODE: 'local-auth' })
    const { runnerUrl, dashboardUrl } = await program.ready
    expect((await fetch(`${runnerUrl}/api/jobs`)).status).toBe(401)
    expect((await fetch(`${dashboardUrl}/api/jobs`)).status).toBe(401)
    expect((await fetch(`${dashboardUrl}/api/jobs`, { headers: { authorization: `Bearer ${SECRET}` } })).status).toBe(200)
    program.child.kill('SIGINT')
    expect(await program.exited).toBe(0)
    const written = [
      program.stdout(),
      program.stderr(),
      ...readdirSync(join(folder, 'logs')).map((name) => readFileSync(join(folder, 'logs', name), 'utf8')),
    ]
    expect(written.join('\n')).not.toContain(SECRET)
    expect(written.join('\n')).toContain('dashboard ready')
  })

  it('prints the secret that it created without starting anything', async () => {
    const ask = async (env: Record<string, string> = {}) => {
      const command = startHeadless(env, ['secret'])
      return { code: await command.exited, stdout: command.stdout(), stderr: command.stderr() }
    }
    const dataDir = join(folder, 'data')
    const own = { DECKHAND_DATA_DIR: dataDir }
    expect(await ask(own)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('start Deckhand once') })
    expect(existsSync(dataDir)).toBe(false)

    const program = startHeadless({ ...own, AUTH_MODE: 'local-auth' })
    const { runnerUrl } = await program.ready
    const { code, stdout, stderr } = await ask(own)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^[\w-]{43}\n$/)
    expect((await fetch(`${runnerUrl}/api/jobs`, { headers: { authorization: `Bearer ${stdout.trim()}` } })).status).toBe(200)

    expect(await ask({ ...own, WORKER_SECRET: SECRET })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('WORKER_SECRET'),
    })
    rmSync(join(dataDir, 'vault-file.key'))
    expect(await ask(own)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('cannot be opened') })
    const logs = readdirSync(join(dataDir, 'logs')).map((name) => readFileSync(join(dataDir, 'logs', name), 'utf8'))
    expect(logs.join('')).not.toContain(stdout.trim())
  })

  it('starts with a backup when told to', async () => {
    const program = startHeadless()
    const { dashboardUrl } = await program.ready
    await post(`${dashboardUrl}/api/agents`, { name: 'Ann', model: { providerId: 'demo', model: 'demo' } })
    const made = (await (await post(`${dashboardUrl}/api/backups`, {})).json()) as { backup: { name: string } }
    await post(`${dashboardUrl}/api/agents`, { name: 'Ben', model: { providerId: 'demo', model: 'demo' } })
    program.child.kill('SIGTERM')
    await program.exited

    const refused = startHeadless({}, ['restore', '../../deckhand.db'])
    expect(await refused.exited).toBe(2)
    const restored = startHeadless({}, ['restore', made.backup.name])
    const { agents } = (await (await fetch(`${(await restored.ready).dashboardUrl}/api/agents`)).json()) as { agents: { name: string }[] }
    expect(agents.map(({ name }) => name)).toEqual(['Ann'])
  })

  it('says in one line that the database is damaged and what to do, and keeps it when told to start empty', async () => {
    const file = join(folder, 'deckhand.db')
    const program = startHeadless()
    const { dashboardUrl } = await program.ready
    await post(`${dashboardUrl}/api/agents`, { name: 'Ann', model: { providerId: 'demo', model: 'demo' } })
    program.child.kill('SIGTERM')
    await program.exited
    const damaged = Buffer.from('this is not a database')
    writeFileSync(file, damaged)

    const refused = startHeadless()
    expect(await refused.exited).toBe(1)
    const lines = refused.stderr().split('\n')
    expect(lines.filter((line) => line.startsWith('deckhand: '))).toEqual([
      expect.stringMatching(/^deckhand: The database .*deckhand\.db is damaged .*npm run headless -- restore.*start-empty/),
    ])
    const empty = startHeadless({}, ['start-empty'])
    const { agents } = (await (await fetch(`${(await empty.ready).dashboardUrl}/api/agents`)).json()) as { agents: object[] }
    expect(agents).toEqual([])
    const kept = readdirSync(folder).find((name) => /\.replaced-\d+T\d+Z$/.test(name))!
    expect(readFileSync(join(folder, kept))).toEqual(damaged)
    empty.child.kill('SIGTERM')
    await empty.exited

    const zip = join(folder, 'report.zip')
    const written = startHeadless({}, ['diagnostics', zip])
    expect([await written.exited, written.stdout()]).toEqual([0, `${zip}\n`])
    expect(Object.keys(unzipSync(readFileSync(zip)))).toContain('about.json')
  })

  it('exports to a file and imports it on other data, and refuses what is no export', async () => {
    const program = startHeadless()
    const { dashboardUrl } = await program.ready
    await post(`${dashboardUrl}/api/agents`, { name: 'Ann', model: { providerId: 'demo', model: 'demo' } })
    await post(`${dashboardUrl}/api/agent`, { task: 'say hello' })
    program.child.kill('SIGTERM')
    await program.exited
    const file = join(folder, 'mine.ndjson')
    const exported = startHeadless({}, ['export', file])
    expect([await exported.exited, exported.stdout()]).toEqual([0, `exported 1 agents and 1 conversations and jobs to ${file}\n`])
    const other = { DECKHAND_DATA_DIR: join(folder, 'other') }
    const imported = startHeadless(other, ['import', file])
    expect([await imported.exited, imported.stdout()]).toEqual([0, expect.stringContaining('imported 1 agents')])
    const strange = join(folder, 'strange.ndjson')
    writeFileSync(strange, readFileSync(file, 'utf8').replaceAll('"kind":"demo"', '"kind":"openai"'))
    const without = startHeadless({ DECKHAND_DATA_DIR: join(folder, 'third') }, ['import', strange])
    expect([await without.exited, without.stdout()]).toEqual([0, expect.stringContaining('; 1 agents use the default model')])
    const again = startHeadless(other, ['import', '--history-only', file])
    expect([await again.exited, again.stdout()]).toEqual([0, expect.stringContaining('jobs and 0 conversations as records')])
    const refused = startHeadless(other, ['import', join(folder, 'deckhand.db')])
    expect([await refused.exited, refused.stderr()]).toEqual([1, expect.stringContaining('is not an export of Deckhand')])
  })

  it('works on no job while it exports', async () => {
    const models = await startModelServer()
    models.play({ text: ['never finished'], fault: { kind: 'stall', afterFrames: 1 } })
    const program = startHeadless()
    const { runnerUrl } = await program.ready
    const baseUrl = `${models.url}/v1`
    const { provider } = (await (
      await post(`${runnerUrl}/api/providers`, { kind: 'openai-compatible', name: 'Local', baseUrl })
    ).json()) as { provider: { id: string } }
    await post(`${runnerUrl}/api/agents`, { name: 'Ann', model: { providerId: provider.id, model: 'small' } })
    await post(`${runnerUrl}/api/agent`, { task: 'say hello' })
    await models.untilQuiet()
    program.child.kill('SIGTERM')
    await program.exited
    const calls = models.received.length
    const file = join(folder, 'mine.ndjson')
    expect(await startHeadless({}, ['export', file]).exited).toBe(0)
    expect(models.received.length).toBe(calls)
    expect(readFileSync(file, 'utf8')).toContain('"status":"pending"')
    await startHeadless().ready
    await models.untilReceived(calls + 1)
    await models.close()
  })

  it('reads its secret from standard input or a file, and refuses it as an argument', async () => {
    const program = startHeadless({ AUTH_MODE: 'local-auth' }, ['--worker-secret-file', '-'])
    program.child.stdin!.end(`${SECRET}\n`)
    const { runnerUrl } = await program.ready
    expect((await fetch(`${runnerUrl}/api/jobs`, { headers: { authorization: `Bearer ${SECRET}` } })).status).toBe(200)
    expect((await fetch(`${runnerUrl}/api/jobs`)).status).toBe(401)
    const refused = startHeadless({}, ['--worker-secret', SECRET])
    expect(await refused.exited).toBe(2)
    expect(refused.stderr()).toContain('--worker-secret-file')
    expect(refused.stderr()).not.toContain(SECRET)
  })

  it('serves webhooks on a separate port under the configured address', async () => {
    const port = await findFreePort()
    const program = startHeadless({ INGRESS_PORT: String(port) }, ['--public-runner-url=https://hooks.example.com/deckhand/'])
    const { runnerUrl, dashboardUrl } = await program.ready
    const { publicAddress } = (await (await fetch(`${dashboardUrl}/api/public-address`)).json()) as { publicAddress: object }
    expect(publicAddress).toMatchObject({ url: 'https://hooks.example.com/deckhand', source: 'environment', ingressPort: port })
    const made = await post(`${runnerUrl}/api/triggers`, { name: 'Orders', agentId: null, taskTemplate: 'Pack {order}.' })
    const { url } = (await made.json()) as { url: string }
    const path = url.slice('https://hooks.example.com/deckhand'.length)
    // Without an agent it refuses, but only callers that know the address see that.
    expect(await (await post(`http://127.0.0.1:${port}${path}`, { order: 'tea' })).json()).toMatchObject({ error: 'trigger_has_no_agent' })
    expect([
      (await post(`http://127.0.0.1:${port}${path}x`, {})).status,
      (await fetch(`http://127.0.0.1:${port}/api/health`)).status,
    ]).toEqual([404, 404])
  })

  it('restarts a killed runner at the same addresses', async () => {
    const port = await findFreePort()
    const program = startHeadless({ RUNNER_PORT: String(port) })
    const { runnerUrl } = await program.ready
    process.kill(runnerPid(program.stderr()), 'SIGKILL')
    await expect.poll(() => program.stderr().match(/"runner ready"/g), { interval: 20 }).toHaveLength(2)
    expect((await fetch(`${runnerUrl}/api/health`)).status).toBe(200)
  })

  it('leaves no runner behind when it is killed', async () => {
    const program = startHeadless()
    const { runnerUrl } = await program.ready
    program.child.kill('SIGKILL')
    await expect.poll(() => isUp(runnerUrl), { interval: 50 }).toBe(false)
  })

  it('starts again on the same data right after it was killed', async () => {
    const program = startHeadless()
    await program.ready
    program.child.kill('SIGKILL')
    await program.exited
    const { runnerUrl } = await startHeadless().ready
    expect((await fetch(`${runnerUrl}/api/health`)).status).toBe(200)
  })

  it('names the process that keeps the data folder', async () => {
    const program = startHeadless()
    await program.ready
    const second = startHeadless()
    expect(await second.exited).toBe(1)
    expect(second.stderr()).toMatch(/Another Deckhand runner \(process \d+\) is using this data folder/)
  })

  it.each(['DASHBOARD_PORT', 'RUNNER_PORT'])('says which port is taken (%s), and sends nothing to its holder', async (name) => {
    const heard: unknown[] = []
    const holder = createServer((request) => heard.push(request.headers))
    holder.on('connection', (socket) => heard.push(socket.remoteAddress))
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', () => resolve()))
    const { port } = holder.address() as { port: number }
    const program = startHeadless({ [name]: String(port) })
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(
      new RegExp(`deckhand: port ${port} of the (runner|dashboard) is taken by another program.*${name}=\\d+\\n$`, 's'),
    )
    expect(program.stdout()).toBe('')
    expect(heard).toEqual([])
    holder.close()
  })

  it.skipIf(process.platform !== 'linux').each(['DASHBOARD_PORT', 'RUNNER_PORT'])(
    'says that Deckhand itself has the port (%s)',
    async (name) => {
      const first = startHeadless()
      const { runnerUrl, dashboardUrl } = await first.ready
      const { port } = new URL(name === 'RUNNER_PORT' ? runnerUrl : dashboardUrl)
      const second = startHeadless({ [name]: port, DECKHAND_DATA_DIR: join(folder, 'another') })
      expect(await second.exited).toBe(1)
      expect(second.stderr()).toContain(`is taken by a Deckhand that is already running, on the data folder ${folder}.`)
    },
  )

  it.each([
    [{ RUNNER_PORT: 'x' }, [], /^deckhand: RUNNER_PORT must be a port, 0 to 65535 \(it is “x”\)\.\n$/],
    [{ DASHBOARD_HOST: '0.0.0.0' }, [], /^deckhand: DASHBOARD_HOST 0\.0\.0\.0 would open Deckhand to the network[^\n]*\n$/],
    [{ DECKHAND_DATA_DIR: '/dev/null/deckhand' }, [], /^deckhand: The data folder \/dev\/null\/deckhand cannot be used[^\n]*\n$/],
    [
      { DASHBOARD_HOST: '192.0.2.1', AUTH_MODE: 'local-auth' },
      [],
      /deckhand: The dashboard cannot listen on DASHBOARD_HOST 192\.0\.2\.1[^\n]*\n$/,
    ],
    [{ RUNNER_HOST: '192.0.2.1', AUTH_MODE: 'local-auth' }, [], /deckhand: RUNNER_HOST 192\.0\.2\.1 is not an address[^\n]*\n$/],
    [{}, ['--runner-port', '99999'], /^deckhand: --runner-port must be a port[^\n]*\n$/],
    [{ RUNNER_PORT: '3000', DASHBOARD_PORT: '' }, [], /^deckhand: RUNNER_PORT and DASHBOARD_PORT are both 3000[^\n]*\n$/],
  ])('refuses %o %o with one line and exit code 2', async (env, args, line) => {
    const program = startHeadless(env, args)
    expect(await program.exited).toBe(2)
    expect(program.stderr()).toMatch(line)
    expect(program.stdout()).toBe('')
  })
})

function runnerPid(stderr: string): number {
  const line = stderr.split('\n').find((text) => text.includes('"runner started"'))
  return (JSON.parse(line!) as { pid: number }).pid
}
