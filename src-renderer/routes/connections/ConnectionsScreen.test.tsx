import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { ListedConnector } from '../../../src-runner/contract/connectors.ts'
import type { Authorization, Credential } from '../../../src-runner/contract/credentials.ts'
import type { McpServer } from '../../../src-runner/contract/mcp.ts'
import type { McpDraft, McpImport } from '../../../src-runner/contract/mcp-drafts.ts'
import { type Answers, createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen, type RenderOptions } from '../../testing/render.tsx'
import { makeAgent, makeConnector, makeCredential, makeId, makeMcpServer, makeMcpTool, quote } from '../../testing/things.ts'
import { ConnectionsScreen } from './ConnectionsScreen.tsx'

const agent = makeAgent({ name: 'File guide', isDefault: true })
const github = makeConnector()
const todoist = makeConnector({
  slug: 'todoist',
  name: 'Todoist',
  category: 'tasks',
  kind: 'api_key',
  oauth: null,
  scopes: [],
  steps: [],
  description: { en: 'Read and change tasks.', de: 'Aufgaben lesen und ändern.' },
  keyHeader: { name: 'Authorization', value: 'Bearer {key}' },
})

function makeAuthorization(fields: Partial<Authorization> = {}): Authorization {
  return {
    id: makeId(),
    connector: 'github',
    method: 'browser',
    status: 'waiting',
    problem: null,
    device: null,
    redirectUri: 'http://127.0.0.1:3000/api/oauth/github/callback',
    credentialId: null,
    mcpServerId: null,
    createdAt: 1_700_000_000_000,
    expiresAt: 1_700_000_600_000,
    ...fields,
  }
}

type Given = { connectors?: ListedConnector[]; credentials?: Credential[]; servers?: McpServer[]; answers?: Answers }

function open({ connectors = [github, todoist], credentials = [], servers = [], answers = {} }: Given = {}, options: RenderOptions = {}) {
  const runner = createFakeRunner({
    listAgents: () => ({ agents: [agent], nextCursor: null }),
    listConnectors: () => ({ connectors, nextCursor: null }),
    listCredentials: () => ({ credentials, nextCursor: null }),
    listMcpServers: () => ({ servers, nextCursor: null }),
    ...answers,
  })
  return { ...renderScreen(ConnectionsScreen, { route: '/connections', path: '/connections', runner, ...options }), runner }
}

it('offers a member nothing to connect', async () => {
  const person = { id: makeId(), name: 'Bo', role: 'member' as const, createdAt: 0 }
  open({}, { path: '/connections?connect=todoist', person })
  expect(await screen.findByText(/Only owners can connect them/)).toBeVisible()
  expect(screen.queryByRole('region', { name: 'Catalogue' })).toBeNull()
  expect(screen.queryByRole('button', { name: 'Add MCP server' })).toBeNull()
  expect(screen.queryByRole('dialog')).toBeNull()
})

it('explains connections when there are none, and finds a service by words and category', async () => {
  const { user, path } = open()
  expect(await screen.findByText('Let agents work with your services')).toBeVisible()
  const catalogue = await screen.findByRole('region', { name: 'Catalogue' })
  expect(within(catalogue).getByRole('button', { name: /GitHub/ })).toHaveTextContent('Read and change repositories.')
  await user.type(within(catalogue).getByRole('searchbox'), 'tasks')
  await waitFor(() => expect(within(catalogue).queryByRole('button', { name: /GitHub/ })).toBeNull())
  expect(path()).toBe('/connections?q=tasks')
  await user.clear(within(catalogue).getByRole('searchbox'))
  await user.click(within(catalogue).getByRole('button', { name: 'Code' }))
  expect(await within(catalogue).findByRole('button', { name: /GitHub/ })).toBeVisible()
  expect(within(catalogue).queryByRole('button', { name: /Todoist/ })).toBeNull()
  await user.type(within(catalogue).getByRole('searchbox'), 'zzz')
  expect(await within(catalogue).findByText(/No matching services/)).toBeVisible()
  expect(within(catalogue).getByRole('button', { name: /^MCP server/ })).toBeVisible()
})

it('lists accounts and MCP servers together, first what needs the person', async () => {
  const refused = makeCredential({ name: 'Work', accountName: 'ada@example.com', status: 'needs_sign_in', problem: quote('Expired.') })
  const fine = makeCredential({ name: 'Home', agents: [{ agentId: agent.id, agentName: 'File guide', access: 'read' }] })
  const server = makeMcpServer({ name: 'Notes\u202E', tools: [makeMcpTool({ status: 'new', effect: null })] })
  open({ credentials: [fine, refused, makeCredential({ name: 'Hidden', mcpServerId: server.id })], servers: [server] })
  const list = await screen.findByRole('list', { name: 'Connected' })
  const rows = within(list).getAllByRole('link')
  expect(rows.map((row) => row.getAttribute('href'))).toEqual([
    `/connections/mcp/${server.id}`,
    `/connections/${refused.id}`,
    `/connections/${fine.id}`,
  ])
  expect(rows[0]).toHaveTextContent('Notes⟨U+202E⟩')
  expect(rows[0]).toHaveTextContent('1 tool to review')
  expect(rows[1]).toHaveTextContent('Sign-in needed')
  expect(rows[1]).toHaveTextContent('GitHub · ada@example.com')
  expect(rows[2]).toHaveTextContent('File guide')
  expect(list).not.toHaveTextContent('Hidden')
})

it('connects an account in the browser, and goes on by itself', async () => {
  const credential = makeCredential()
  const authorization = makeAuthorization()
  const opened: string[] = []
  let current: Authorization = authorization
  const { user, runner, path } = open(
    {
      answers: {
        createAuthorization: ({ body }) =>
          body.clientId === 'wrong'
            ? new Refusal('authorization_refused', undefined, undefined, quote('GitHub does not know this client ID.'))
            : { authorization },
        getAuthorization: () => ({ authorization: current }),
      },
    },
    {
      desktop: {
        openSignIn: (id) => {
          opened.push(id)
          return Promise.resolve()
        },
      },
    },
  )
  await user.click(await screen.findByRole('button', { name: /GitHub/ }))
  const dialog = await screen.findByRole('dialog', { name: 'Connect GitHub' })
  expect(dialog).toHaveTextContent('Register an app with the address below.')
  expect(within(dialog).getByText('https://deck.example.org/api/oauth/github/callback')).toBeVisible()
  expect(within(dialog).getByRole('checkbox', { name: 'See your profile' })).toBeChecked()
  await user.click(within(dialog).getByRole('checkbox', { name: 'Change your repositories' }))
  await user.click(within(dialog).getByRole('button', { name: 'Sign in' }))
  expect(await within(dialog).findByText('Enter the client ID.')).toBeVisible()
  expect(runner.callsOf('createAuthorization')).toEqual([])

  await user.type(within(dialog).getByLabelText('Client ID'), 'wrong')
  const secret = within(dialog).getByLabelText(/Client secret/)
  expect(secret).toHaveAttribute('type', 'password')
  await user.type(secret, 'hush')
  await user.click(within(dialog).getByRole('button', { name: 'Sign in' }))
  expect(await within(dialog).findByText('GitHub does not know this client ID.')).toBeVisible()
  await user.clear(within(dialog).getByLabelText('Client ID'))
  await user.type(within(dialog).getByLabelText('Client ID'), 'right')
  await user.click(within(dialog).getByRole('button', { name: 'Sign in' }))

  expect(await screen.findByText('Waiting for your browser')).toBeVisible()
  expect(runner.callsOf('createAuthorization').at(-1)!.body).toMatchObject({
    connector: 'github',
    method: 'browser',
    clientId: 'right',
    clientSecret: 'hush',
    scopes: ['read:user', 'repo'],
    agents: [{ agentId: agent.id, access: 'read' }],
  })
  expect(opened).toEqual([authorization.id])
  await user.click(screen.getByRole('button', { name: 'Open again' }))
  expect(opened).toEqual([authorization.id, authorization.id])

  current = { ...authorization, status: 'connected', credentialId: credential.id }
  runner.happen({ type: 'authorization.changed', payload: { authorizationId: authorization.id } })
  await waitFor(() => expect(path()).toBe(`/connections/${credential.id}`))
  expect(screen.queryByRole('dialog')).toBeNull()
})

it('opens no browser for a form that was closed while the runner was asked, and takes the sign-in back', async () => {
  const authorization = makeAuthorization()
  const asked = Promise.withResolvers<{ authorization: Authorization }>()
  const opened: string[] = []
  const { user, runner } = open(
    { answers: { createAuthorization: () => asked.promise, cancelAuthorization: () => ({ authorization }) } },
    { path: '/connections?connect=github', desktop: { openSignIn: async (id) => void opened.push(id) } },
  )
  await user.type(await screen.findByLabelText('Client ID'), 'mine')
  await user.click(screen.getByRole('button', { name: 'Sign in' }))
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  asked.resolve({ authorization })
  await waitFor(() => expect(runner.callsOf('cancelAuthorization')).toMatchObject([{ params: { authorizationId: authorization.id } }]))
  expect(opened).toEqual([])
})

it('says why a sign-in failed, keeps what was typed, and takes a cancelled one back', async () => {
  const authorization = makeAuthorization({ status: 'failed', problem: quote('You denied the access.') })
  let current = authorization
  const { user, runner } = open(
    {
      answers: {
        createAuthorization: () => ({ authorization: current }),
        getAuthorization: () => ({ authorization: current }),
        cancelAuthorization: () => ({ authorization: current }),
      },
    },
    { path: '/connections?connect=github', desktop: { openSignIn: () => Promise.resolve() } },
  )
  await user.type(await screen.findByLabelText('Client ID'), 'mine')
  await user.click(screen.getByRole('button', { name: 'Sign in' }))
  expect(await screen.findByText('You denied the access.')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  expect(await screen.findByLabelText('Client ID')).toHaveValue('mine')

  current = makeAuthorization({ method: 'device', device: { userCode: 'WDJB-MJHT', verificationUrl: 'https://github.com/login/device' } })
  await user.click(screen.getByRole('button', { name: 'Sign in' }))
  expect(await screen.findByText('WDJB-MJHT')).toBeVisible()
  expect(screen.getByText('https://github.com/login/device')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(runner.callsOf('cancelAuthorization').map(({ params }) => params)).toEqual([{ authorizationId: current.id }]))
  expect(screen.queryByRole('dialog')).toBeNull()
})

it('connects an account by a key, and shows why the service refuses one', async () => {
  const credential = makeCredential({ connector: 'todoist', kind: 'api_key' })
  const { user, runner, path } = open({
    answers: {
      createCredential: ({ body }) =>
        'key' in body.secret && body.secret.key === 'good'
          ? { credential }
          : new Refusal('credential_refused', undefined, undefined, quote('Todoist does not accept this key.')),
    },
  })
  await user.click(await screen.findByRole('button', { name: /Todoist/ }))
  const dialog = await screen.findByRole('dialog', { name: 'Connect Todoist' })
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  expect(await within(dialog).findByText('Enter the key.')).toBeVisible()
  await user.type(within(dialog).getByLabelText('Key'), 'bad')
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  expect(await within(dialog).findByText('Todoist does not accept this key.')).toBeVisible()
  await user.clear(within(dialog).getByLabelText('Key'))
  await user.type(within(dialog).getByLabelText('Key'), 'good')
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await waitFor(() => expect(path()).toBe(`/connections/${credential.id}`))
  expect(runner.callsOf('createCredential').at(-1)!.body).toEqual({
    connector: 'todoist',
    secret: { key: 'good' },
    agents: [{ agentId: agent.id, access: 'read' }],
  })
})

it('offers a token first where a service takes one, because it needs no app', async () => {
  const { user } = open({
    connectors: [
      makeConnector({
        keyHeader: { name: 'Authorization', value: 'Bearer {key}' },
        keySteps: [{ en: 'Create a token.', de: 'Erstelle ein Token.' }],
        keyUrl: 'https://github.com/settings/tokens',
      }),
    ],
  })
  await user.click(await screen.findByRole('button', { name: /GitHub/ }))
  const dialog = await screen.findByRole('dialog', { name: 'Connect GitHub' })
  expect(within(dialog).getByLabelText('Access token', { selector: '[type=password]' })).toBeVisible()
  expect(dialog).toHaveTextContent('Create a token.')
  expect(within(dialog).getByRole('button', { name: 'Open github.com' })).toBeVisible()
  await user.click(within(dialog).getByRole('radio', { name: 'Sign in' }))
  expect(await screen.findByLabelText('Client ID')).toBeVisible()
  expect(screen.getByRole('dialog')).toHaveTextContent('You register your own app at GitHub once')
})

it('adds an MCP server that is not started', async () => {
  const { user, runner, path } = open({ answers: { createMcpServer: () => ({ server: makeMcpServer() }) } })
  await user.click(await screen.findByRole('button', { name: 'Add MCP server' }))
  await user.click(await screen.findByRole('button', { name: 'Program on this computer' }))
  await user.type(await screen.findByLabelText('Program'), 'npx')
  await user.type(screen.getByLabelText(/Arguments/), '-y{Enter}notes server')
  await user.click(screen.getByRole('button', { name: 'Add variable' }))
  await user.type(screen.getAllByLabelText('Name').at(-1)!, 'NOTES_KEY')
  await user.type(screen.getByLabelText('Value'), 'hush')
  await user.click(screen.getByRole('button', { name: 'Add server' }))
  await waitFor(() => expect(path()).toMatch(/^\/connections\/mcp\//))
  expect(runner.callsOf('createMcpServer')[0]!.body).toMatchObject({
    transport: { kind: 'stdio', command: 'npx', args: ['-y', 'notes server'], envNames: ['NOTES_KEY'], hosts: [], folders: [] },
    env: { NOTES_KEY: 'hush' },
    agents: [{ agentId: agent.id, tools: null }],
  })
})

it('adds a pasted MCP server after it was shown what would run', async () => {
  const draft: McpDraft = {
    name: 'memory\u200B',
    description: null,
    transport: {
      kind: 'stdio',
      command: 'npx',
      args: ['-y', 'server memory', '/usr/share/x', '/data/notes'],
      envNames: ['MEMORY_KEY'],
      folders: [],
      hosts: ['registry.npmjs.org'],
      allowsUnsandboxed: false,
    },
    values: [{ place: 'env', name: 'MEMORY_KEY', value: 'hush', description: 'From the settings.', isRequired: true }],
    notes: [quote('It downloads itself from npm.')],
  }
  const { user, runner } = open({
    answers: {
      readMcpPaste: () => ({ servers: [draft], skipped: [{ name: 'other', problem: quote('It has no command.') }] }),
      createMcpServer: () => ({ server: makeMcpServer() }),
    },
  })
  await user.click(await screen.findByRole('button', { name: 'Add MCP server' }))
  await user.type(await screen.findByLabelText('Address, command or JSON'), 'npx -y memory')
  const card = await screen.findByRole('article')
  expect(card).toHaveTextContent('memory⟨U+200B⟩')
  expect(within(card).getByText('server memory')).toBeVisible()
  expect(card).toHaveTextContent('It downloads itself from npm.')
  expect(card).not.toHaveTextContent('hush')
  expect(screen.getByText(/It has no command/)).toBeVisible()
  await user.click(within(card).getByRole('button', { name: /^Review/ }))
  expect(await screen.findByText('Nothing is started yet.')).toBeVisible()
  expect(screen.getByLabelText('Value')).toHaveValue('hush')
  expect(screen.getByText(/^An argument names/)).toHaveTextContent('/data/notes. The program cannot see it')
  await user.click(screen.getByRole('button', { name: 'Add server' }))
  await waitFor(() =>
    expect(runner.callsOf('createMcpServer')[0]!.body).toMatchObject({ transport: draft.transport, env: { MEMORY_KEY: 'hush' } }),
  )
})

it('takes over servers of another app one by one, and none by itself', async () => {
  const server = (name: string, isAdded: boolean): McpImport['servers'][number] => ({
    id: name.padEnd(64, '0'),
    isAdded,
    name,
    description: null,
    values: [],
    notes: [],
    transport: { kind: 'http', url: `https://${name}.example/mcp`, headerNames: [], credentialId: null },
  })
  const { user, runner, path } = open({
    answers: {
      listMcpImports: () => ({
        found: [
          {
            app: 'cursor',
            path: '/home/ada/.cursor/mcp.json',
            servers: [server('tickets', false), server('notes', true)],
            skipped: [],
            problem: null,
          },
        ],
      }),
      importMcpServers: () => ({ servers: [makeMcpServer(), makeMcpServer()] }),
    },
  })
  await user.click(await screen.findByRole('button', { name: 'Add MCP server' }))
  await user.click(await screen.findByRole('tab', { name: 'From other apps' }))
  const cursor = await screen.findByRole('region', { name: 'Cursor' })
  expect(within(cursor).getByText('https://tickets.example/mcp')).toBeVisible()
  expect(within(cursor).getByRole('checkbox', { name: 'tickets' })).not.toBeChecked()
  expect(within(cursor).getByRole('checkbox', { name: /notes/ })).toBeDisabled()
  await user.click(within(cursor).getByRole('checkbox', { name: 'tickets' }))
  await user.click(screen.getByRole('button', { name: 'Add 1 server' }))
  await waitFor(() =>
    expect(runner.callsOf('importMcpServers')[0]!.body).toEqual({
      chosen: ['tickets'.padEnd(64, '0')],
      agents: [{ agentId: agent.id, tools: null }],
    }),
  )
  await waitFor(() => expect(path()).toBe('/connections'))
})

it('shows further pages of the registry below, and those of the last words only', async () => {
  const draft = (name: string): McpDraft => ({
    name,
    description: '',
    values: [],
    notes: [],
    transport: { kind: 'http', url: `https://${name}.example/mcp`, headerNames: [], credentialId: null },
  })
  const { user, runner } = open({
    answers: {
      searchMcpRegistry: ({ query: { q, cursor } }) => ({
        servers: [draft(`${q}-${cursor ?? 'first'}`)],
        skipped: [],
        nextCursor: cursor === undefined ? 'two' : cursor === 'two' ? 'three' : null,
      }),
    },
  })
  await user.click(await screen.findByRole('button', { name: 'Add MCP server' }))
  await user.click(await screen.findByRole('tab', { name: 'Registry' }))
  const field = await screen.findByRole('searchbox', { name: 'Search the MCP registry' })
  await user.type(field, 'notes')
  const shown = () => screen.getAllByRole('article').map((card) => within(card).getByRole('heading').textContent)
  await waitFor(() => expect(shown()).toEqual(['notes-first']))
  await user.click(screen.getByRole('button', { name: 'More' }))
  await waitFor(() => expect(shown()).toEqual(['notes-first', 'notes-two']))
  await user.click(screen.getByRole('button', { name: 'More' }))
  await waitFor(() => expect(shown()).toEqual(['notes-first', 'notes-two', 'notes-three']))
  expect(screen.queryByRole('button', { name: 'More' })).toBeNull()
  expect(runner.callsOf('searchMcpRegistry').at(-1)!.query).toEqual({ q: 'notes', cursor: 'three' })
  await user.type(field, 'x')
  await waitFor(() => expect(shown()).toEqual(['notesx-first']))
})

it('searches the registry, and leads to the review', async () => {
  const draft: McpDraft = {
    name: 'io.example/notes',
    description: 'Keeps\u202E notes.',
    values: [],
    notes: [],
    transport: { kind: 'http', url: 'https://notes.example/mcp', headerNames: [], credentialId: null },
  }
  const { user, runner } = open({ answers: { searchMcpRegistry: () => ({ servers: [draft], skipped: [], nextCursor: null }) } })
  await user.click(await screen.findByRole('button', { name: 'Add MCP server' }))
  await user.click(await screen.findByRole('tab', { name: 'Registry' }))
  await user.type(await screen.findByRole('searchbox', { name: 'Search the MCP registry' }), 'notes')
  const card = await screen.findByRole('article')
  expect(card).toHaveTextContent('Keeps⟨U+202E⟩ notes.')
  await waitFor(() => expect(runner.callsOf('searchMcpRegistry').at(-1)!.query).toMatchObject({ q: 'notes' }))
  await user.click(within(card).getByRole('button', { name: /^Review/ }))
  expect(await screen.findByText('https://notes.example/mcp')).toBeVisible()
})
