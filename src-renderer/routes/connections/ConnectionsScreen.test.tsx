import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { Credential } from '../../../src-runner/contract/credentials.ts'
import type { McpServer } from '../../../src-runner/contract/mcp.ts'
import type { McpDraft, McpImport } from '../../../src-runner/contract/mcp-drafts.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent, makeConnector, makeCredential, makeMcpServer, makeMcpTool, quote } from '../../testing/things.ts'
import { ConnectionsScreen } from './ConnectionsScreen.tsx'

const agent = makeAgent({ name: 'File guide', isDefault: true })
function open(credentials: Credential[], servers: McpServer[]) {
  const runner = createFakeRunner({
    listAgents: () => ({ agents: [agent], nextCursor: null }),
    listConnectors: () => ({ connectors: [makeConnector()] }),
    listCredentials: () => ({ credentials }),
    listMcpServers: () => ({ servers }),
    createMcpServer: () => ({ server: makeMcpServer() }),
  })
  return renderScreen(ConnectionsScreen, { route: '/connections', path: '/connections', runner })
}

it('explains connections when there are none, and adds an MCP server that is not started', async () => {
  const { user, runner, path } = open([], [])
  expect(await screen.findByText('Let agents work with your services')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Add MCP server' }))
  await user.click(await screen.findByRole('button', { name: 'Program on this machine' }))
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

it('lists accounts and MCP servers together, first what needs the person', async () => {
  const refused = makeCredential({ name: 'Work', accountName: 'ada@example.com', status: 'needs_sign_in', problem: quote('Expired.') })
  const fine = makeCredential({ name: 'Home', agents: [{ agentId: agent.id, agentName: 'File guide', access: 'read' }] })
  const server = makeMcpServer({ name: 'Notes\u202E', tools: [makeMcpTool({ status: 'new', effect: null })] })
  open([fine, refused, makeCredential({ name: 'Hidden', mcpServerId: server.id })], [server])
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

it('adds a pasted MCP server after it was shown what would run', async () => {
  const draft: McpDraft = {
    name: 'memory\u200B',
    description: null,
    transport: {
      ...{ kind: 'stdio', command: 'npx', args: ['-y', 'server memory'], envNames: ['MEMORY_KEY'] },
      ...{ folders: [], hosts: ['registry.npmjs.org'], allowsUnsandboxed: false },
    },
    values: [{ place: 'env', name: 'MEMORY_KEY', value: 'hush', description: 'From the settings.', isRequired: true }],
    notes: [quote('It downloads itself from npm.')],
  }
  const { user, runner } = open([], [])
  runner.answer({
    readMcpPaste: () => ({ servers: [draft], skipped: [{ name: 'other', problem: quote('It has no command.') }] }),
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
  await user.click(screen.getByRole('button', { name: 'Add server' }))
  await waitFor(() =>
    expect(runner.callsOf('createMcpServer')[0]!.body).toMatchObject({ transport: draft.transport, env: { MEMORY_KEY: 'hush' } }),
  )
})

it('takes over servers of another app one by one, and none by itself', async () => {
  const server = (name: string, isAdded: boolean): McpImport['servers'][number] => ({
    ...{ id: name.padEnd(64, '0'), isAdded, name, description: null, values: [], notes: [] },
    transport: { kind: 'http', url: `https://${name}.example/mcp`, headerNames: [], credentialId: null },
  })
  const { user, runner, path } = open([], [])
  runner.answer({
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

it('searches the registry, and leads to the review', async () => {
  const draft: McpDraft = {
    ...{ name: 'io.example/notes', description: 'Keeps\u202E notes.', values: [], notes: [] },
    transport: { kind: 'http', url: 'https://notes.example/mcp', headerNames: [], credentialId: null },
  }
  const { user, runner } = open([], [])
  runner.answer({ searchMcpRegistry: () => ({ servers: [draft], skipped: [], nextCursor: null }) })
  await user.click(await screen.findByRole('button', { name: 'Add MCP server' }))
  await user.click(await screen.findByRole('tab', { name: 'Registry' }))
  await user.type(await screen.findByRole('searchbox', { name: 'Search the MCP registry' }), 'notes')
  const card = await screen.findByRole('article')
  expect(card).toHaveTextContent('Keeps⟨U+202E⟩ notes.')
  await waitFor(() => expect(runner.callsOf('searchMcpRegistry').at(-1)!.query).toMatchObject({ q: 'notes' }))
  await user.click(within(card).getByRole('button', { name: /^Review/ }))
  expect(await screen.findByText('https://notes.example/mcp')).toBeVisible()
})
