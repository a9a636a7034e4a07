import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, expect, type Page, test } from '@playwright/test'
import { createOwner } from '../fixtures/share-on-network.ts'
import { type Ask, runCodeTask, signInToService, useMcpServers, useSkill } from './integrations.ts'
import type { DesktopBridge } from '../../src-main/contract/desktop-api.ts'
import type { Channel, CreateChannel } from '../../src-runner/contract/channels.ts'
import type { Pairing } from '../../src-runner/contract/messenger.ts'
import { startBotApiServer } from '../../src-runner/testing/bot-api-server/bot-api-server.ts'
import { startDiscordServer } from '../../src-runner/testing/discord-server/discord-server.ts'
import { startModelServer } from '../../src-runner/testing/model-servers/model-server.ts'
import { startSlackServer } from '../../src-runner/testing/slack-server/slack-server.ts'
import { startWhatsAppServer, type WhatsAppServer } from '../../src-runner/testing/whatsapp-server/whatsapp-server.ts'
import { valueOf } from '../fixtures/value-of.ts'

const PROGRAM = process.env['DECKHAND_INSTALLED'] ?? '/usr/bin/deckhand'
/** The folder of a person who changed nothing, not the one of the throw-away desktop. */
const DATA = join(homedir(), '.local/share')
const DECKHAND = join(DATA, 'deckhand')
const LIMIT_MS = 60_000
/** Programs that only this test has. */
const PROGRAMS = mkdtempSync(join(tmpdir(), 'deckhand-programs-'))

type Shown = { page: Page; browser: Browser }
type Running = Shown & { process: ChildProcess }

test.skip(process.platform !== 'linux', 'the packages of this system are installed otherwise')

let whatsapp: WhatsAppServer

function launch(args: string[]): ChildProcess {
  const messenger = `${whatsapp.url}#${Buffer.from(whatsapp.rootKey).toString('hex')}`
  return spawn(PROGRAM, args, {
    env: {
      DECKHAND_TEST_MESSENGER: messenger,
      ...process.env,
      // An installed app has no test hooks: with them, it would wait before its first window.
      DECKHAND_TEST: '1',
      DECKHAND_TEST_HOLD: '1',
      PATH: [PROGRAMS, process.env['PATH']].join(delimiter),
      XDG_DATA_HOME: DATA,
      LANGUAGE: 'en',
      RUNNER_PORT: '0',
      DASHBOARD_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** A test build lets a debugger of pages in. */
async function start(): Promise<Running> {
  const app = launch(['--remote-debugging-port=0'])
  const address = await new Promise<string>((resolve, reject) => {
    let output = ''
    app.stderr!.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const found = /DevTools listening on (ws:\S+)/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
    app.once('exit', (code) => reject(new Error(`Deckhand ended with ${code}: ${output}`)))
  })
  return { process: app, ...(await connect(address)) }
}

/** To the window of the app whose debugger listens at this address, when its runner is ready. */
async function connect(address: string): Promise<Shown> {
  // A driver that connects while the first window opens hangs (microsoft/playwright#29386).
  const list = new URL('/json/list', address.replace(/^ws/, 'http'))
  await expect
    .poll(async () => ((await (await fetch(list)).json()) as { title: string }[]).map(({ title }) => title))
    .toContainEqual(expect.stringContaining('Deckhand'))
  const browser = await chromium.connectOverCDP(address, { timeout: LIMIT_MS })
  const context = browser.contexts()[0]!
  await expect.poll(() => context.pages().map((page) => page.url())).toContainEqual(expect.stringMatching(/^app:\/\/deckhand\//))
  const page = context.pages().find((each) => each.url().startsWith('app://deckhand/'))!
  await expect.poll(() => runnerState(page)).toBe('ready')
  return { page, browser }
}

/** Where the debugger of the app that runs listens; null: Chromium has not written it yet. */
function debuggerAddress(): string | null {
  const file = join(DECKHAND, 'window/DevToolsActivePort')
  const [port, path] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  return path === undefined ? null : `ws://127.0.0.1:${port}${path}`
}

/** The process id of the app that holds the lock. */
const lockHolder = () => Number(/\d+$/.exec(readlinkSync(join(DECKHAND, 'window/SingletonLock')))![0])

/** Clicks the left one of the two buttons, which agrees, in the dialog of the system that the app has opened. */
async function agree(): Promise<void> {
  const run = (...args: string[]) => spawnSync('xdotool', args, { encoding: 'utf8' }).stdout.trim()
  const sizes = () =>
    run('search', '--onlyvisible', '--class', 'deckhand')
      .split('\n')
      .filter((id) => id !== '')
      .map((id) => ({ id, shape: run('getwindowgeometry', '--shell', id) }))
      .map(({ id, shape }) => ({ id, width: Number(/WIDTH=(\d+)/.exec(shape)?.[1]), height: Number(/HEIGHT=(\d+)/.exec(shape)?.[1]) }))
      .filter(({ width, height }) => width > 100 && width < 800 && height > 60 && height < 400)
  await expect.poll(sizes, { message: 'a dialog of the system' }).toHaveLength(1)
  const [{ id, width, height }] = sizes() as [{ id: string; width: number; height: number }]
  run('mousemove', '--window', id, String(Math.round(width / 4)), String(height - 20))
  run('click', '1')
  await expect.poll(sizes, { message: 'the dialog is gone' }).toHaveLength(0)
}

/** Asks the runner as the page does. */
async function ask<Result>(page: Page, method: string, path: string, body?: object): Promise<Result> {
  const { status, text } = await page.evaluate(
    async ([verb, url, json]) => {
      const init = json === null ? {} : { body: json, headers: { 'content-type': 'application/json' } }
      const response = await fetch(url, { method: verb, ...init })
      return { status: response.status, text: await response.text() }
    },
    [method, path, body === undefined ? null : JSON.stringify(body)] as const,
  )
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300)
  return JSON.parse(text) as Result
}

const runnerState = async (page: Page) =>
  valueOf(await page.evaluate(() => (window as unknown as { deckhand: DesktopBridge }).deckhand.getState(undefined))).runner.state

/** As a session that ends: in order, without a question. */
async function stop({ process: app, browser }: Running): Promise<void> {
  const gone = new Promise((resolve) => app.once('exit', resolve))
  app.kill('SIGTERM')
  await gone
  await browser.close().catch(() => undefined)
}

/** The processes that a process has started, and those have, with what Linux says about them. */
function processesOf(pid: number): { pid: number; command: string; seccomp: string }[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/status`))
  const parents = new Map(all.map((name) => [Number(name), Number(read(name, 'status', /^PPid:\s+(\d+)/m))]))
  const isBelow = (each: number): boolean => each === pid || (parents.has(each) && parents.get(each) !== 0 && isBelow(parents.get(each)!))
  return all
    .map(Number)
    .filter(isBelow)
    .map((each) => ({
      pid: each,
      command: read(each, 'cmdline', /^([^]*)$/).replaceAll('\0', ' '),
      seccomp: read(each, 'status', /^Seccomp:\s+(\d)/m),
    }))
}

function read(pid: number | string, file: string, what: RegExp): string {
  try {
    return what.exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1] ?? ''
  } catch {
    return ''
  }
}

test.afterAll(() => rmSync(PROGRAMS, { recursive: true, force: true }))

test.beforeAll(async () => {
  whatsapp = await startWhatsAppServer()
})
test.afterAll(() => whatsapp.close())

type Chat = { say(text: string): void; said(): string[]; close(): Promise<void> }

/** Connects an account at a local service to the agent. On WhatsApp, the phone scans the code. */
async function connectChannel(page: Page, kind: Channel['kind'], agentId: string): Promise<Chat> {
  const connect = (account: Pick<CreateChannel, 'token'> & { appToken?: string; baseUrl: string }) =>
    ask(page, 'POST', '/api/channels', { agentId, kind, ...account })
  if (kind === 'telegram') {
    const bot = await startBotApiServer()
    const anna = { id: 4711, first_name: 'Anna' }
    await connect({ token: bot.token, baseUrl: bot.url })
    return { say: (text) => void bot.say(anna, text), said: () => bot.sent.map(({ text }) => text), close: bot.close }
  }
  if (kind === 'discord') {
    const discord = await startDiscordServer()
    const anna = { id: '4711000000000000001', username: 'anna', global_name: 'Anna' }
    await connect({ token: discord.token, baseUrl: discord.url })
    await discord.untilListening()
    return { say: (text) => void discord.say(anna, text), said: () => discord.sent.map(({ text }) => text), close: discord.close }
  }
  if (kind === 'slack') {
    const slack = await startSlackServer()
    const anna = { id: 'U0ANNA00001', name: 'anna', realName: 'Anna Berg' }
    await connect({ token: slack.botToken, appToken: slack.appToken, baseUrl: slack.url })
    await slack.untilConnected()
    return { say: (text) => void slack.say(anna, text), said: () => slack.sent.map(({ text }) => text), close: slack.close }
  }
  await ask(page, 'POST', '/api/messenger/pairing', { agentId })
  const pairing = () => ask<Pairing>(page, 'GET', `/api/messenger/pairing?agentId=${agentId}`)
  await expect.poll(async () => (await pairing()).status).toBe('qr_pending')
  whatsapp.scan((await pairing()).qr!)
  await expect.poll(async () => (await pairing()).status).toBe('open')
  return {
    say: (text) => void whatsapp.sayOnPhone(text),
    said: () => whatsapp.sent.map(({ text }) => text),
    close: () => Promise.resolve(),
  }
}

test('an installed Deckhand: a first job, the sandbox, a crash, a link, and the data after a restart', async () => {
  let deckhand = await start()
  const { page } = deckhand
  expect(await page.evaluate(() => typeof (globalThis as { require?: unknown }).require)).toBe('undefined')

  await test.step('Chromium’s sandbox is on', () => {
    const processes = processesOf(deckhand.process.pid!)
    expect(processes.filter(({ command }) => command.includes('--no-sandbox'))).toEqual([])
    const renderers = processes.filter(({ command }) => command.includes('--type=renderer'))
    expect(renderers.length).toBeGreaterThan(0)
    // 2: a filter of system calls.
    expect(renderers.map(({ seccomp }) => seccomp)).toEqual(renderers.map(() => '2'))
  })

  await test.step('the first job', async () => {
    await page.getByRole('button', { name: 'Use demo' }).click()
    await page.getByRole('button', { name: 'Use sample folder' }).click()
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('button', { name: 'Run job' }).click()
    await expect(page.getByRole('heading', { name: 'Your first job is done' })).toBeVisible()
  })

  await test.step('every kind of model provider, whose library is loaded with its first job', async () => {
    const models = await startModelServer({ fallback: { text: ['From ', 'afar.'] } })
    for (const [kind, path] of [
      ['openai', '/v1'],
      ['anthropic', '/v1'],
      ['google', '/v1beta'],
      ['openai-compatible', '/v1'],
      ['ollama', ''],
    ] as const) {
      const { provider } = await ask<{ provider: { id: string } }>(page, 'POST', '/api/providers', {
        kind,
        name: `Server for ${kind}`,
        baseUrl: `${models.url}${path}`,
        ...(kind === 'ollama' ? {} : { apiKey: 'sk-0123456789-of-the-installed-test' }),
      })
      const model = { providerId: provider.id, model: 'small' }
      const { agent } = await ask<{ agent: { id: string } }>(page, 'POST', '/api/agents', { name: `Agent of ${kind}`, model })
      const { jobId } = await ask<{ jobId: string }>(page, 'POST', '/api/agent', { task: 'Say something.', agentId: agent.id })
      type Ended = { job: { status: string; result: string | null } }
      await expect
        .poll(async () => (await ask<Ended>(page, 'GET', `/api/jobs/${jobId}`)).job, { message: kind })
        .toMatchObject({ status: 'completed', result: 'From afar.' })
    }
    await models.close()
  })

  await test.step('MCP servers, a skill, a coding program and a sign-in at a service', async () => {
    const models = await startModelServer({ fallback: { text: ['Done.'] } })
    const askPage: Ask = (method, path, body) => ask(page, method, path, body)
    const { provider } = await askPage<{ provider: { id: string } }>('POST', '/api/providers', {
      kind: 'openai-compatible',
      name: 'Local server',
      baseUrl: `${models.url}/v1`,
    })
    const model = { providerId: provider.id, model: 'small' }
    const { agent } = await askPage<{ agent: { id: string } }>('POST', '/api/agents', { name: 'Ada', model, autonomy: 'on_its_own' })
    const installed = { ask: askPage, agentId: agent.id, models }
    await useMcpServers(installed)
    await useSkill(installed)
    await runCodeTask(installed, PROGRAMS)
    const { dashboard } = valueOf(
      await page.evaluate(() => (window as unknown as { deckhand: DesktopBridge }).deckhand.getState(undefined)),
    )
    if (dashboard.state !== 'ready') throw new Error(dashboard.state)
    await signInToService(installed, dashboard.dashboardUrl)
    await models.close()
  })

  await test.step('each chat service, whose library is loaded when it is first needed', async () => {
    const models = await startModelServer({ fallback: { text: ['I am here.'] } })
    const server = { kind: 'openai-compatible', name: 'Server for chats', baseUrl: `${models.url}/v1` }
    const { provider } = await ask<{ provider: { id: string } }>(page, 'POST', '/api/providers', server)
    for (const kind of ['telegram', 'discord', 'slack', 'messenger'] as const) {
      const model = { providerId: provider.id, model: 'small' }
      const { agent } = await ask<{ agent: { id: string } }>(page, 'POST', '/api/agents', { name: `Agent on ${kind}`, model })
      const chat = await connectChannel(page, kind, agent.id)
      const channel = async () => (await ask<{ channels: Channel[] }>(page, 'GET', `/api/channels?agentId=${agent.id}`)).channels[0]!
      await expect.poll(async () => (await channel()).status, { message: kind }).toBe('open')
      if (kind !== 'messenger') chat.say('Hello?')
      await expect.poll(async () => (await channel()).people.length, { message: kind }).toBe(1)
      const { people, id } = await channel()
      await ask(page, 'PATCH', `/api/channels/${id}/people/${people[0]!.id}`, { role: 'owner' })
      await expect.poll(() => chat.said().join(' '), { message: kind }).toContain(`I am Agent on ${kind}`)
      chat.say('Are you there?')
      await expect.poll(chat.said, { message: kind }).toContain('I am here.')
      await ask(page, 'DELETE', `/api/channels/${id}`)
      await chat.close()
    }
    await models.close()
  })

  await test.step('an account, sharing and encryption, whose libraries are loaded when they are first needed', async () => {
    await page.goto('app://deckhand/settings/people')
    await createOwner({ page })
    const share = async (on: boolean) =>
      valueOf(await page.evaluate(async (isOn) => (window as unknown as { deckhand: DesktopBridge }).deckhand.share({ on: isOn }), on))
    expect(await share(true)).toBe('done')
    valueOf(await page.evaluate(() => (window as unknown as { deckhand: DesktopBridge }).deckhand.encryptSharing({ on: true })))
    const sharing = async () =>
      valueOf(await page.evaluate(() => (window as unknown as { deckhand: DesktopBridge }).deckhand.getState(undefined))).sharing
    await expect.poll(async () => (await sharing()).certificate?.fingerprint).toMatch(/^([\dA-F]{2}:){31}[\dA-F]{2}$/)
    expect(await share(false)).toBe('done')
  })

  await test.step('a backup and other work of threads', async () => {
    await ask(page, 'POST', '/api/backups', {})
    expect((await ask<{ backups: unknown[] }>(page, 'GET', '/api/backups')).backups.length).toBeGreaterThan(0)
  })

  await test.step('the runner comes back after a crash', async () => {
    const runners = () => processesOf(deckhand.process.pid!).filter(({ command }) => command.includes('node.mojom.NodeService'))
    const [runner] = runners()
    process.kill(runner!.pid, 'SIGKILL')
    await expect.poll(() => runners().map(({ pid }) => pid)).not.toContain(runner!.pid)
    await expect.poll(() => runnerState(page)).toBe('ready')
  })

  await test.step('a link opens a screen in the window that is there', async () => {
    const second = launch(['deckhand://open/activity'])
    expect(await new Promise((resolve) => second.once('exit', resolve))).toBe(0)
    await expect(page).toHaveURL('app://deckhand/activity')
    const entry = spawnSync('xdg-mime', ['query', 'default', 'x-scheme-handler/deckhand'], { encoding: 'utf8' })
    if (entry.error === undefined) expect(entry.stdout.trim()).toBe('deckhand.desktop')
  })

  await test.step('the data is there after a restart', async () => {
    await stop(deckhand)
    expect(existsSync(join(DECKHAND, 'deckhand.db'))).toBe(true)
    deckhand = await start()
    await deckhand.page.goto('app://deckhand/activity')
    await expect(deckhand.page.getByRole('main')).toContainText('Look at my folder')
    await deckhand.page.goto('app://deckhand/settings/about')
    await expect(deckhand.page.getByRole('main')).toContainText('This build does not receive updates')
    await expect(deckhand.page.getByRole('main')).toContainText('Install new versions yourself.')
    await stop(deckhand)
  })
})

test('an installed Deckhand: a backup restored in three clicks, and everything deleted', async () => {
  const deckhand = await start()
  const { page } = deckhand
  const names = async (on: Page) =>
    (await ask<{ agents: { name: string }[] }>(on, 'GET', '/api/agents?limit=200')).agents.map(({ name }) => name)

  await test.step('a backup is restored in three clicks, and the replaced data kept', async () => {
    await ask(page, 'POST', '/api/agents', { name: 'In the backup', model: { providerId: 'demo', model: 'demo' } })
    await ask(page, 'POST', '/api/backups', {})
    await ask(page, 'POST', '/api/agents', { name: 'After the backup', model: { providerId: 'demo', model: 'demo' } })
    await page.getByRole('link', { name: 'Settings' }).first().click()
    await page.getByRole('link', { name: 'This computer' }).click()
    // The newest backup is chosen already.
    await page.getByRole('button', { name: 'Restore…' }).click()
    await agree()
    await expect.poll(() => replacedFiles().length).toBe(1)
    await expect.poll(() => runnerState(page)).toBe('ready')
    expect(await names(page)).toContain('In the backup')
    expect(await names(page)).not.toContain('After the backup')
  })

  await test.step('everything is deleted, and Deckhand starts again by itself', async () => {
    writeFileSync(join(DECKHAND, 'mine.txt'), 'x')
    await page.goto('app://deckhand/settings/computer')
    await page.getByRole('button', { name: 'Delete all data…' }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByRole('textbox').fill('DELETE')
    const address = debuggerAddress()
    const ended = new Promise((resolve) => deckhand.process.once('exit', resolve))
    await dialog.getByRole('button', { name: 'Delete everything' }).click()
    await agree()
    await ended
    await deckhand.browser.close().catch(() => undefined)
    await expect.poll(() => [null, address].includes(debuggerAddress())).toBe(false)
    const again = await connect(debuggerAddress()!)
    await expect(again.page.getByRole('heading', { name: 'Choose a model' })).toBeVisible()
    expect(await names(again.page)).toEqual([])
    expect(readdirSync(DECKHAND)).toEqual(expect.arrayContaining(['mine.txt', 'backups']))
    expect([replacedFiles(), existsSync(join(DECKHAND, 'reset.json'))]).toEqual([[], false])
    const pid = lockHolder()
    process.kill(pid, 'SIGTERM')
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false)
    await again.browser.close().catch(() => undefined)
  })
})

const replacedFiles = () => readdirSync(DECKHAND).filter((name) => /\.replaced-\d+T\d+Z$/.test(name))
