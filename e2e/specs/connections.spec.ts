import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { findSandbox } from '../../src-runner/platform/sandbox/find-sandbox.ts'
import type { ModelServer } from '../../src-runner/testing/model-servers/model-server.ts'
import { startOAuthServer, type OAuthServer } from '../../src-runner/testing/oauth-server/oauth-server.ts'
import { type Browser, startBrowser } from '../fixtures/browser.ts'
import { type Deckhand, expect, test as base } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'
import { createRealFolder, type RealFolder } from '../fixtures/real-folder.ts'
import { signInOnPhone } from '../fixtures/share-on-network.ts'
import { expectNoSidewaysScroll } from '../fixtures/screen-shots.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

/** A service with an API and no sign-in, and the headers of each request to it. */
type Api = { url: string; host: string; asked: IncomingHttpHeaders[] }

const test = base.extend<{ elsewhere: Browser; service: OAuthServer; api: Api; folder: RealFolder }>({
  // oxlint-disable-next-line no-empty-pattern -- as below.
  folder: async ({}, use) => {
    const folder = createRealFolder({})
    await use(folder)
    folder.remove()
  },
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  elsewhere: async ({}, use) => {
    const browser = await startBrowser()
    await use(browser)
    await browser.close()
  },
  api: async ({ deckhand }, use) => {
    const asked: IncomingHttpHeaders[] = []
    const server = createServer(({ headers }, response) => {
      asked.push(headers)
      response.end('{"notes":["paint the fence"]}')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    await deckhand.client.ok('updateSettings', { body: { openedHosts: [host] } })
    await use({ url: `http://${host}`, host, asked })
    server.close()
  },
  /** A service on this machine to which people sign in. */
  service: async ({ deckhand }, use) => {
    const server = await startOAuthServer({ redirectUris: [`${deckhand.dashboardUrl}/api/oauth/oauth2/callback`], asks: true })
    // Private addresses are closed unless a person opened them.
    await deckhand.client.ok('updateSettings', { body: { openedHosts: [server.host] } })
    await use(server)
    await server.stop()
  },
})

const KEY = 'notes-key-canary-5d1c'
const CONFIG = JSON.stringify({
  mcpServers: { notes: { command: 'notes-server', args: ['--dir', 'my notes'], env: { NOTES_KEY: KEY } } },
})

/** Pastes the configuration of another app, and adds the server that it names. */
async function addByPaste(page: Page): Promise<void> {
  await page.goto('app://deckhand/connections')
  await page.getByRole('button', { name: 'Add MCP server' }).click()
  await page.getByLabel('Address, command or JSON').fill(CONFIG)
  const card = page.getByRole('article')
  await expect(card.getByText('my notes', { exact: true })).toBeVisible()
  await expect(card).not.toContainText(KEY)
  await card.getByRole('button', { name: /^Review/ }).click()
  await expect(page.getByRole('dialog')).toContainText('Nothing is started yet.')
  await page.getByRole('button', { name: 'Add server' }).click()
  await expect(page.getByRole('heading', { name: 'This program will run' })).toBeVisible()
}

test('a person adds an MCP server by paste, and sees exactly what will run before it starts', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  await lookAt(
    deckhand,
    [
      { name: 'connections', path: '/connections', shows: (on) => on.getByText('Let agents work with your services') },
      { name: 'add-server', path: '/connections?add=mcp', shows: (on) => on.getByLabel('Address, command or JSON') },
    ],
    'no-connection',
  )
  await addByPaste(page)
  const { servers } = await deckhand.client.ok('listMcpServers', { query: {} })
  expect(
    servers.map(({ name, transport, agents }) => ({ name, transport, agents: agents.map(({ agentName }) => agentName) })),
  ).toMatchObject([
    {
      name: 'notes',
      transport: { kind: 'stdio', command: 'notes-server', args: ['--dir', 'my notes'], envNames: ['NOTES_KEY'] },
      agents: ['Ada'],
    },
  ])
  // The secret went to the keychain, and comes back to no page.
  expect(JSON.stringify(servers)).not.toContain(KEY)
  expect(await page.content()).not.toContain(KEY)
  await lookAt(
    deckhand,
    [
      { name: 'connections', path: '/connections', shows: (on) => on.getByText('Not started yet') },
      { name: 'server', path: `/connections/mcp/${servers[0]!.id}`, shows: (on) => on.getByText('This program will run') },
      { name: 'agent-reach', path: `/agents/${servers[0]!.agents[0]!.agentId}`, shows: (on) => on.getByRole('link', { name: 'notes' }) },
    ],
    'new-server',
  )
})

test('a person connects an account in their browser, an agent uses it, and the person disconnects it', async ({
  deckhand,
  page,
  models,
  service,
  elsewhere,
}) => {
  const agent = await setUpAgent(deckhand.client, models)
  await page.goto('app://deckhand/connections?connect=generic-oauth2')
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText(`${deckhand.dashboardUrl}/api/oauth/oauth2/callback`, { exact: true })).toBeVisible()
  await dialog.getByLabel(/^Issuer/).fill(service.url)
  await dialog.getByLabel('Hosts').fill(service.host)
  await dialog.getByLabel(/^Scopes/).fill('openid offline_access notes:read')
  await dialog.getByLabel('Client ID').fill(service.clientId)
  await dialog.getByLabel('Client secret').fill(service.clientSecret)
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByText('Waiting for your browser')).toBeVisible()

  await expect.poll(async () => (await deckhand.hooks()).opened.length).toBe(1)
  const tab = await elsewhere.openTab((await deckhand.hooks()).opened[0]!)
  await tab.getByRole('button', { name: 'Allow access' }).click()
  // The window goes on by itself.
  const heading = page.getByRole('heading', { level: 1 })
  await expect(page.getByText('What the account allows')).toBeVisible()
  const { credentials } = await deckhand.client.ok('listCredentials', { query: {} })
  expect(credentials).toMatchObject([{ status: 'connected', hosts: [service.host], agents: [{ agentId: agent.id, access: 'read' }] }])
  await expect(heading).toHaveText(credentials[0]!.name)

  const call = { id: 'call_1', name: 'http_request', args: { connection: credentials[0]!.name, url: `${service.url}/me` } }
  models.play({ text: [], toolCalls: [call] }, { text: ['You are ada.'] })
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Who am I there?', agentId: agent.id } })
  await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')
  expect(JSON.stringify(models.received)).toContain('ada')
  await lookAt(
    deckhand,
    [
      { name: 'account', path: `/connections/${credentials[0]!.id}`, shows: (on) => on.getByText('What the account allows') },
      { name: 'connections', path: '/connections', shows: (on) => on.getByRole('list', { name: 'Connected' }) },
    ],
    'account',
  )

  await page.goto(`app://deckhand/connections/${credentials[0]!.id}`)
  await page.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Disconnect' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }).click()
  await expect(page.getByText('The service revoked the access.')).toBeVisible()
  expect(service.of('/token/revocation').length).toBeGreaterThan(0)
  expect((await deckhand.client.ok('listCredentials', { query: {} })).credentials).toEqual([])
})

/** Asks an agent to read the address with the connection, and waits until it has. */
async function readWith(deckhand: Deckhand, models: ModelServer, { connection, url }: { connection: string; url: string }): Promise<void> {
  models.play({ text: [], toolCalls: [{ id: 'call_1', name: 'http_request', args: { connection, url } }] }, { text: ['Done.'] })
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Read my notes.' } })
  await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')
}

test('a person connects services by key, password and header, and each gets what it expects', async ({ deckhand, page, models, api }) => {
  await setUpAgent(deckhand.client, models)
  const connect = async (slug: string, name: string, fields: Record<string, string>) => {
    await page.goto(`app://deckhand/connections?connect=${slug}`)
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: false }).first().fill(name)
    await dialog.getByLabel('Hosts').fill(api.url)
    const labels = Object.entries(fields)
    // The last one is the secret, which is asked for before anything is stored.
    for (const [label, value] of labels.slice(0, -1)) await dialog.getByLabel(label, { exact: true }).fill(value)
    const [label, value] = labels.at(-1)!
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
    await expect(dialog.getByText('Enter the key.')).toBeVisible()
    await expect(dialog.getByLabel(label, { exact: true })).toHaveAttribute('type', 'password')
    await dialog.getByLabel(label, { exact: true }).fill(value)
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
    expect(await page.content()).not.toContain(value)
    await readWith(deckhand, models, { connection: name, url: `${api.url}/notes` })
    expect(JSON.stringify(models.received)).toContain('paint the fence')
    expect(JSON.stringify(models.received)).not.toContain(value)
    return api.asked.pop()!
  }
  expect(await connect('api-key', 'By key', { Key: 'key-canary-91b2' })).toMatchObject({ authorization: 'Bearer key-canary-91b2' })
  expect(await connect('basic-auth', 'By password', { Username: 'ada', Password: 'password canary 3c' })).toMatchObject({
    authorization: `Basic ${Buffer.from('ada:password canary 3c').toString('base64')}`,
  })
  const sent = await connect('header-auth', 'By header', { Header: 'X-Notes-Key', Value: 'header-canary-77d0' })
  expect(sent).toMatchObject({ 'x-notes-key': 'header-canary-77d0' })
  expect(sent.authorization).toBeUndefined()
})

test('a phone on the network connects an account, and pastes the address that it cannot open', async ({
  deckhand,
  models,
  service,
  elsewhere,
}) => {
  await setUpAgent(deckhand.client, models)
  const phone = await signInOnPhone(deckhand, elsewhere.openTab)
  await phone.goto(`${new URL(phone.url()).origin}/connections?connect=generic-oauth2`)
  const dialog = phone.getByRole('dialog')
  // The address that is registered at the service stays that of this machine.
  const redirectUri = await dialog.getByText(/\/api\/oauth\/oauth2\/callback$/).innerText()
  expect(new URL(redirectUri).hostname).toBe('127.0.0.1')
  await dialog.getByLabel(/^Issuer/).fill(service.url)
  await dialog.getByLabel('Hosts').fill(service.host)
  await dialog.getByLabel(/^Scopes/).fill('openid offline_access notes:read')
  await dialog.getByLabel('Client ID').fill(service.clientId)
  await dialog.getByLabel('Client secret').fill(service.clientSecret)
  const opened = phone.context().waitForEvent('page')
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  const tab = await opened
  await tab.getByRole('button', { name: 'Allow access' }).click()
  // A phone does not reach this machine by its loopback address. This browser does, but has no cookie there, so nothing happens.
  await tab.waitForURL(`${redirectUri}*`)
  await expect(tab.getByRole('heading', { name: 'Not connected' })).toBeVisible()
  await expect(phone.getByText('Waiting for your browser')).toBeVisible()
  await phone.getByText('Browser on another device?').click()
  const paste = phone.getByLabel('Address', { exact: true })
  await paste.fill('https://evil.example/api/oauth/oauth2/callback?code=a&state=b')
  await phone.getByRole('button', { name: 'Continue' }).click()
  await expect(phone.getByText(redirectUri).last()).toBeVisible()
  await paste.fill(tab.url())
  await phone.getByRole('button', { name: 'Continue' }).click()
  await expect(phone.getByText('What the account allows')).toBeVisible()
  await expectNoSidewaysScroll({ page: phone }, 'account on a phone')
  await expect(phone.getByLabel('Access of Ada')).toHaveText('Read')
})

test('an agent uses a tool of a pasted server only after the person has accepted it', async ({ deckhand, page, models, folder }) => {
  test.skip(!(await findSandbox()).works, 'without a sandbox, each call asks')
  const agent = await setUpAgent(deckhand.client, models)
  const program = join(folder.path, 'server.mjs')
  copyFileSync(join(import.meta.dirname, '../fixtures/notes-server.mjs'), program)
  const config = JSON.stringify({ mcpServers: { notes: { command: 'node', args: [program] } } })
  await page.goto('app://deckhand/connections?add=mcp')
  await page.getByLabel('Address, command or JSON').fill(config)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: 'Add server' }).click()
  await expect(page.getByRole('heading', { name: 'This program will run' })).toBeVisible()
  const server = async () => (await deckhand.client.ok('listMcpServers', { query: {} })).servers[0]!
  // The sandbox shows it no folder of the person that was not given to it.
  await deckhand.client.ok('updateMcpServer', {
    params: { mcpServerId: (await server()).id },
    body: { transport: { kind: 'stdio', command: 'node', args: [program], folders: [folder.path] } },
  })
  await page.getByRole('button', { name: 'Start and list tools' }).click()
  await expect(page.getByRole('button', { name: 'Accept send_note' })).toBeVisible()

  const task = async () => {
    models.received.length = 0
    models.play(
      { text: [], toolCalls: [{ id: 'call_1', name: 'notes__find_note', args: { word: 'the fence' } }] },
      { text: ['It is blue.'] },
    )
    const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'What about the fence?', agentId: agent.id } })
    await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')
    return JSON.stringify(models.received)
  }
  expect(await task()).not.toContain('paint it blue')
  await page.getByRole('button', { name: 'Accept 1 reading tool' }).click()
  await expect(page.getByRole('button', { name: 'Accept find_note' })).toBeHidden()
  expect(await task()).toContain('The note about the fence says: paint it blue.')
  await expect(page.getByText('Running', { exact: true })).toBeVisible()
  await lookAt(
    deckhand,
    [
      {
        name: 'server',
        path: `/connections/mcp/${(await server()).id}`,
        shows: (on) => on.getByRole('button', { name: 'Accept send_note' }),
      },
      { name: 'connections', path: '/connections', shows: (on) => on.getByText('1 tool to review') },
    ],
    'running-server',
  )
})
