import { spawn, type ChildProcess } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import { zipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBotApiServer, type BotApiServer } from '../src-runner/testing/bot-api-server/bot-api-server.ts'
import { startDiscordServer, type DiscordServer } from '../src-runner/testing/discord-server/discord-server.ts'
import { startModelServer, type ModelServer } from '../src-runner/testing/model-servers/model-server.ts'
import { startOAuthServer, type OAuthServer } from '../src-runner/testing/oauth-server/oauth-server.ts'
import { createRunnerClient, type RunnerClient } from '../src-runner/testing/runner-client.ts'
import { findLeaks, readPlaces, spellingsOf, type Places } from '../src-runner/testing/secret-scanner.ts'
import { startSlackServer, type SlackServer } from '../src-runner/testing/slack-server/slack-server.ts'
import { postWebhook } from '../src-runner/testing/webhook-sender.ts'

const PROGRAM = fileURLToPath(new URL('../out/main/headless.js', import.meta.url))
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))

/** A secret for each slot. With characters that encodings change, where the slot permits them. */
const secrets: Record<string, string> = {}
function canary(slot: string, shape: (random: string) => string = (random) => `canary/${random}+"=&%`): string {
  return (secrets[slot] ??= shape(randomBytes(18).toString('hex')))
}
const plain = (random: string) => `canary-${random}`

/** The whole program in two processes at the most talkative level, with its vault in a file. */
describe('more than 40 secrets in every slot', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-canaries-'))
  const dataDir = join(folder, 'data')
  let models: ModelServer
  let bot: BotApiServer
  let discord: DiscordServer
  let slack: SlackServer
  let notes: OAuthServer | null = null
  let echo: Server
  let program: ChildProcess
  let client: RunnerClient
  let runnerUrl: string
  let dashboardUrl: string
  let output = ''
  let sent = ''
  const answers: string[] = []

  beforeAll(async () => {
    mkdirSync(dataDir)
    models = await startModelServer()
    bot = await startBotApiServer()
    secrets['channel token'] = bot.token
    discord = await startDiscordServer()
    slack = await startSlackServer()
    Object.assign(secrets, { 'Discord token': discord.token, 'Slack bot token': slack.botToken, 'Slack app token': slack.appToken })
    echo = createServer(sayWhatWasSent).listen(0, '127.0.0.1')
    await once(echo, 'listening')
    await start()
  })
  afterAll(async () => {
    await end('SIGKILL')
    await models.close()
    await bot.close()
    await discord.close()
    await slack.close()
    await notes?.stop()
    echo.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })

  const echoUrl = () => `http://127.0.0.1:${(echo.address() as AddressInfo).port}`

  /** The rudest of servers: it refuses each request and repeats all of it in its reason. */
  function sayWhatWasSent(...[request, response]: Parameters<NonNullable<Parameters<typeof createServer>[1]>>): void {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      sent += JSON.stringify(request.headers)
      const said = JSON.stringify({ url: request.url, headers: request.headers, body: body.slice(0, 100) })
      response.writeHead(/401/.test(request.url ?? '') ? 401 : 500, {
        'content-type': 'application/json',
        'x-echo': encodeURIComponent(said),
      })
      response.end(JSON.stringify({ error: { message: said, type: 'x', code: 'x' } }))
    })
  }

  function run(args: string[]): ChildProcess {
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DECKHAND_DATA_DIR: dataDir,
      DECKHAND_VAULT: 'file',
      RUNNER_PORT: '0',
      DASHBOARD_PORT: '0',
      AUTH_MODE: 'local-auth',
      LOG_LEVEL: 'trace',
    }
    const child = spawn(process.execPath, [PROGRAM, ...args], { env })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    return child
  }

  async function start(): Promise<void> {
    program = run(['--worker-secret-file', '-'])
    let stdout = ''
    const ready = new Promise<string>((resolve, reject) => {
      program.stdout!.on('data', (chunk: Buffer) => /\n/.test((stdout += chunk.toString())) && resolve(stdout))
      program.once('exit', (code) => reject(new Error(`ended with ${code}: ${output.slice(-2000)}`)))
    })
    program.stdin!.end(canary('worker secret', (random) => `${plain(random)}-0123456789`))
    ;({ runnerUrl, dashboardUrl } = JSON.parse((await ready).split('\n')[0]!) as { runnerUrl: string; dashboardUrl: string })
    const caller = createRunnerClient(runnerUrl, canary('worker secret'))
    client = {
      ...caller,
      ask: (name, request) => hear(caller.ask(name, request)),
      ok: (name, ...request) => hear(caller.ok(name, ...request)),
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (program.exitCode !== null || program.signalCode !== null) return
    program.kill(signal)
    await once(program, 'exit')
  }

  /** Keeps what was answered, but for the address of a webhook, which is shown once. */
  async function hear<T>(answer: Promise<T>): Promise<T> {
    const heard = await answer
    answers.push(JSON.stringify(heard).replaceAll(/"url":"[^"]*\/webhooks\/[^"]*"/g, ''))
    return heard
  }

  async function workWith(providerId: string, replies: Parameters<ModelServer['play']>): Promise<void> {
    models.play(...replies)
    const { agent } = await client.ok('createAgent', {
      body: { name: 'Ada', autonomy: 'on_its_own', model: { providerId, model: 'small' } },
    })
    await workOf(agent.id)
  }

  async function workOf(agent: string): Promise<void> {
    const { jobId } = await client.ok('submitTask', { body: { task: 'Work.', agentId: agent } })
    const { events } = await client.stream('streamJob', { params: { jobId } })
    for await (const { data } of events) answers.push(JSON.stringify(data))
    await client.ok('getJob', { params: { jobId } })
    await client.ok('listSteps', { params: { jobId } })
  }

  async function useModels(): Promise<void> {
    const kinds = ['anthropic', 'openai', 'google', 'openai-compatible'] as const
    for (const kind of kinds) {
      for (const path of ['', '/401']) {
        const body = { kind, name: `${kind}${path}`, baseUrl: `${echoUrl()}${path}`, apiKey: canary(`key of ${kind}${path}`, plain) }
        const { provider } = await client.ok('createProvider', { body })
        await client.ask('listModels', { query: { providerId: provider.id } })
        // A rejected key ends at once; the rest is tried again for minutes.
        if (path === '/401') await workWith(provider.id, [])
      }
    }
    const body = { kind: 'openai-compatible', name: 'Good', baseUrl: `${models.url}/v1`, apiKey: canary('key that works', plain) } as const
    const { provider } = await client.ok('createProvider', { body })
    const searching = { toolCalls: [{ id: 'a', name: 'web_search', args: { query: 'tides' } }] }
    for (const kind of ['brave', 'tavily'] as const) {
      const webSearch = { kind, baseUrl: echoUrl(), apiKey: canary(`key of ${kind}`, plain) }
      await client.ok('updateWebSearch', { body: { webSearch } })
      await workWith(provider.id, [
        searching,
        { text: ['Nothing.'], fault: { kind: 'error_in_stream', error: { message: canary('key that works'), type: 'x' } } as never },
        { text: ['Done.'] },
      ])
    }
    const { agent } = await client.ok('createAgent', { body: { name: 'Kim', model: { providerId: provider.id, model: 'small' } } })
    agentId = agent.id
  }
  let agentId = ''

  async function useWebhooks(): Promise<void> {
    for (const scheme of ['github', 'stripe', 'slack', 'standard_webhooks'] as const) {
      const secret = canary(
        `signature of ${scheme}`,
        scheme === 'standard_webhooks' ? (random) => Buffer.from(plain(random)).toString('base64') : plain,
      )
      const body = { name: scheme, agentId, taskTemplate: 'See {a}', signature: { scheme, secret } }
      const { trigger, url } = await client.ok('createTrigger', { body })
      secrets[`address of ${scheme}`] = url.split('/').at(-1)!
      const json = '{"a":1}'
      const signature = createHmac('sha256', secret).update(json).digest('hex')
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}`, referer: url, cookie: url }
      for (const text of [json, json.slice(0, 4), `{"a":"${secret.slice(0, 3)}"}`]) await hear(postWebhook(url, { body: text, headers }))
      await hear(postWebhook(`${url}?token=${canary('token in a query', plain)}`, { body: '{', headers }))
      await hear(postWebhook(url, { headers: { ...headers, authorization: `Bearer ${canary('bearer of a sender', plain)}` } }))
      await client.ok('listDeliveries', { params: { triggerId: trigger.id }, query: { limit: 200 } })
    }
  }

  async function useChannels(): Promise<void> {
    const connect = { agentId, kind: 'telegram', baseUrl: bot.url } as const
    const wrong = canary('wrong channel token', (random) => `${bot.botId}:AA${random.slice(0, 33)}`)
    await client.ask('createChannel', { body: { ...connect, token: wrong } })
    const { channel } = await client.ok('createChannel', { body: { ...connect, token: bot.token } })
    for (const method of ['sendMessage', 'getUpdates']) {
      bot.fault(method, { kind: 'error', code: 500, description: `Internal: ${bot.url}/bot${bot.token}/${method}` })
    }
    await client.ask('testChannel', { params: { channelId: channel.id } })

    for (const { kind, ...wanted } of [
      { kind: 'discord', baseUrl: discord.url, token: discord.token, appToken: null },
      { kind: 'slack', baseUrl: slack.url, token: slack.botToken, appToken: slack.appToken },
    ] as const) {
      const wrong = { token: `${wanted.token}x`, appToken: wanted.appToken === null ? null : `${wanted.appToken}x` }
      await client.ask('createChannel', { body: { agentId, kind, ...wanted, ...wrong } })
      // These servers of the tests are not as rude as the next.
      await client.ask('createChannel', { body: { agentId, kind, ...wanted, baseUrl: echoUrl() } })
      const { channel: made } = await client.ok('createChannel', { body: { agentId, kind, ...wanted } })
      await client.ask('testChannel', { params: { channelId: made.id } })
    }
  }

  /** Accounts by a key, by a header and by signing in; servers of tools; and an access token. */
  async function useConnections(): Promise<void> {
    const echoHost = new URL(echoUrl()).host
    notes = await startOAuthServer({ redirectUris: [`${dashboardUrl}/api/oauth/oauth2/callback`] })
    await client.ok('updateSettings', { body: { openedHosts: [echoHost, notes.host] } })
    const agents = [{ agentId, access: 'read' as const }]
    for (const [connector, secret] of [
      ['api-key', { key: canary('key of a connection', plain) }],
      ['header-auth', { header: 'X-Key', value: canary('header of a connection') }],
      ['basic-auth', { username: 'anna', password: canary('password of a connection') }],
    ] as const) {
      const { credential } = await client.ok('createCredential', {
        body: { connector, name: connector, hosts: [echoHost], secret, agents },
      })
      await client.ask('testCredential', { params: { credentialId: credential.id } })
    }

    secrets['client secret'] = notes.clientSecret
    const tokensOf = (name: string) => ({
      access_token: canary(`access token of ${name}`, plain),
      refresh_token: canary(`refresh token of ${name}`, plain),
    })
    const endpoints = {
      authorizationUrl: `${notes.url}/auth`,
      tokenUrl: `${notes.url}/token`,
      revocationUrl: `${notes.url}/token/revocation`,
    }
    const { clientId, clientSecret } = notes
    const refused = {
      kind: 'answer',
      status: 400,
      body: JSON.stringify({ error: 'invalid_client', error_description: clientSecret }),
    } as const
    const expired = { kind: 'fields', fields: { ...tokensOf('an expired account'), expires_in: 1 } } as const
    const valid = { kind: 'fields', fields: tokensOf('an account') } as const
    for (const [name, fault] of Object.entries({ refused, expired, valid })) {
      const body = { connector: 'generic-oauth2', name, clientId, clientSecret, scopes: ['openid'], endpoints, hosts: [echoHost], agents }
      const { authorization } = await client.ok('createAuthorization', { body })
      const params = { authorizationId: authorization.id }
      const begun = { provider: 'oauth2', session: canary('session of a sign-in', plain) }
      const { url } = await client.ok('beginAuthorization', { params, body: begun })
      notes.fail('/token', fault)
      const back = await notes.agree(url)
      secrets[`code of a sign-in, ${name}`] = back.searchParams.get('code')!
      await client.ask('finishAuthorization', { params, body: { ...begun, query: back.search } })
    }

    const remote = { kind: 'http' as const, url: `${echoUrl()}/mcp`, headerNames: ['Authorization'] }
    const asked = { Authorization: `Bearer ${canary('header of a server', plain)}` }
    const program = {
      kind: 'stdio' as const,
      command: '/bin/sh',
      args: ['-c', 'env >&2; exit 1'],
      envNames: ['TOKEN'],
      allowsUnsandboxed: true,
    }
    for (const body of [
      { name: 'Remote', transport: remote, headers: asked, agents: [{ agentId }] },
      { name: 'Program', transport: program, env: { TOKEN: canary('variable of a server', plain) }, agents: [{ agentId }] },
    ]) {
      const { server } = await client.ok('createMcpServer', { body })
      await client.ask('testMcpServer', { params: { mcpServerId: server.id } })
    }

    const { token } = await client.ok('createToken', { body: { name: 'Script', expiresAt: null } })
    secrets['access token'] = token
    // It is shown this once.
    answers.pop()
    await hear(fetch(`${runnerUrl}/api/jobs`, { headers: { authorization: `Bearer ${token}` } }).then((answer) => answer.text()))
    await hear(fetch(`${dashboardUrl}/api/jobs?token=${token}`).then((answer) => answer.text()))
    const calls = ['api-key', 'header-auth', 'basic-auth', 'expired', 'valid'].map((connection, at) => ({
      toolCalls: [{ id: `call_${at}`, name: 'http_request', args: { connection, url: `${echoUrl()}/orders` } }],
    }))
    models.play(...calls, { text: ['Done.'] })
    await workOf(agentId)
    expect(notes.of('/token').map(({ body }) => new URLSearchParams(body).get('refresh_token'))).toContain(
      tokensOf('an expired account').refresh_token,
    )
  }

  /** The owner's account is made by the link in the output, which works once. */
  async function signIn(): Promise<void> {
    const call = async (path: string, body: object) =>
      fetch(`${dashboardUrl}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const link = /create the owner account: \S*?([\w-]{43})\s/.exec(output)![1]!
    output = output.replaceAll(link, '')
    secrets['setup link'] = link
    const password = canary('password')
    expect((await call('/api/auth/sign-up', { link, name: 'anna', password })).status).toBe(201)
    await hear(call('/api/auth/sign-in/username', { username: 'anna', password: canary('wrong password') }).then((answer) => answer.text()))
    const signedIn = await call('/api/auth/sign-in/username', { username: 'anna', password })
    const { token, pageKey } = (await signedIn.json()) as { token: string; pageKey: string }
    secrets['session'] = token
    secrets['page key'] = pageKey
    await hear(fetch(`${dashboardUrl}/api/jobs`, { headers: { authorization: `Bearer ${token}` } }).then((answer) => answer.text()))

    const [cookie] = signedIn.headers.getSetCookie()[0]!.split(';')
    secrets['cookie'] = cookie!.slice(cookie!.indexOf('=') + 1)
    const headers = { 'content-type': 'application/json', cookie: cookie!, 'x-deckhand-page': pageKey }
    const invited = await fetch(`${dashboardUrl}/api/auth/invitations`, { method: 'POST', headers, body: '{"role":"member"}' })
    const { link: invitation } = (await invited.json()) as { link: string }
    expect(invited.status).toBe(201)
    secrets['link of an invitation'] = invitation
    await hear(fetch(`${dashboardUrl}/sign-in?invite=${invitation}`).then((answer) => answer.text()))
    expect((await call('/api/auth/sign-up', { link: invitation, name: 'karl', password: canary('password of a member') })).status).toBe(201)
    await hear(call('/api/auth/sign-up', { link: invitation, name: 'emma', password }).then((answer) => answer.text()))
  }

  async function knockWithSecrets(): Promise<void> {
    const wrong = canary('wrong bearer', plain)
    await hear(fetch(`${runnerUrl}/api/jobs`, { headers: { authorization: `Bearer ${wrong}` } }).then((response) => response.text()))
    await hear(fetch(`${runnerUrl}/api/jobs?api_key=${canary('key in a query', plain)}`).then((response) => response.text()))
    await hear(fetch(`${runnerUrl}/api/nothing/here?token=${canary('token of nobody', plain)}`).then((response) => response.text()))
    await client.ask('createProvider', {
      body: {
        kind: 'openai-compatible',
        name: 'x',
        baseUrl: `http://me:${canary('password in an address', plain)}@127.0.0.1:9/v1`,
        apiKey: 7,
      },
    })
  }

  async function askEverything(): Promise<void> {
    const connected = ['listCredentials', 'listMcpServers', 'listTokens', 'exportSetup', 'exportHistory'] as const
    const lists = ['listTriggers', 'listChannels', 'listOutbox', 'listSchedules', 'listAttention', 'getPublicAddress', 'getDoctor'] as const
    for (const name of [
      ...lists,
      ...connected,
      'getSettings',
      'listProviders',
      'listAgents',
      'listApprovals',
      'listJobs',
      'getDiagnostics',
    ] as const) {
      expect([name, (await client.ask(name)).status]).toEqual([name, 200])
    }
  }

  it('leave no trace outside of the vault: in no file, database, output, answer, backup, crash report or diagnostics', async () => {
    await useModels()
    await useWebhooks()
    await useChannels()
    await useConnections()
    // They were really used.
    for (const [slot, secret] of Object.entries(secrets))
      if (/^key of (.*401|brave|tavily|a connection)$|^header of|^Discord|^Slack bot|^access token of an account/.test(slot))
        expect([slot, sent.includes(JSON.stringify(secret).slice(1, -1))]).toEqual([slot, true])
    await signIn()
    await knockWithSecrets()
    await askEverything()
    await client.ok('makeBackup')
    // The runner crashes and is started again.
    const readyBefore = timesReady()
    process.kill(runnerPid(), 'SIGKILL')
    await expect.poll(timesReady).toBe(readyBefore + 1)
    await end('SIGTERM')
    const report = run(['diagnostics', join(dataDir, 'report.zip')])
    expect(await once(report, 'exit')).toEqual([0, null])
    const exported = run(['export', join(dataDir, 'everything.jsonl')])
    expect(await once(exported, 'exit')).toEqual([0, null])

    const vaultKey = readFileSync(join(dataDir, 'vault-file.key'), 'utf8').trim()
    secrets['key of the vault'] = vaultKey
    const values = Object.values(secrets)
    expect(values.length).toBeGreaterThanOrEqual(40)
    const places: Places = {
      ...readPlaces(dataDir, ['vault-file.key']),
      'the output': output,
      'the answers': answers.join('\n'),
      'what models were told': JSON.stringify(models.received.map(({ body }) => body)),
    }
    for (const name of [
      'deckhand.db',
      'logs/runner.log',
      'logs/main.log',
      'report.zip/runner.log',
      'everything.jsonl',
      'deckhand.db, table agent_jobs',
      'vault-file.json',
    ])
      expect(Object.keys(places)).toContain(name)
    expect(places['logs/runner.log']!.toString()).toContain('the runner is ready')
    const leaks = findLeaks(places, values).map((leak) => ({
      ...leak,
      slot: Object.keys(secrets).find((slot) => secrets[slot] === leak.secret),
    }))
    expect(leaks).toEqual([])
  })

  const readyLines = () =>
    readFileSync(join(dataDir, 'logs', 'main.log'), 'utf8')
      .split('\n')
      .filter((text) => text.includes('the runner reports ready'))
  const timesReady = () => readyLines().length
  const runnerPid = () => (JSON.parse(readyLines().at(-1)!) as { pid: number }).pid
})

describe('the scanner', () => {
  const secret = 'canary/0123456789+"=&%abcdef'
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'deckhand-planted-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each(spellingsOf(secret).map((spelling, at) => [at, spelling] as const))('finds a leak in spelling %i', (_, spelling) => {
    expect(findLeaks({ log: `before ${spelling} after` }, ['another-secret', secret])).toMatchObject([{ place: 'log', secret }])
  })

  it('finds a leak in a file, a page of a database, a value across pages, and a zip', () => {
    writeFileSync(join(folder, 'plain.txt'), `x${secret}x`)
    const db = new Sqlite(join(folder, 'some.db'))
    db.exec('CREATE TABLE notes (text TEXT)')
    db.prepare('INSERT INTO notes VALUES (?)').run(`${'x'.repeat(4050)}${Buffer.from(`x${secret}`).toString('base64')}${'x'.repeat(9000)}`)
    db.close()
    writeFileSync(join(folder, 'some.zip'), zipSync({ 'a.txt': Buffer.from(encodeURIComponent(secret)) }))
    expect(
      findLeaks(readPlaces(folder), [secret])
        .map(({ place }) => place)
        .toSorted(),
    ).toEqual(expect.arrayContaining(['plain.txt', 'some.db, table notes', 'some.zip/a.txt']))
    expect(findLeaks(readPlaces(folder, ['plain.txt']), ['clean-secret-0123456789'])).toEqual([])
  })
})
