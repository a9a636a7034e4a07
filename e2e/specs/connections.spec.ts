import type { Page } from '@playwright/test'
import { expect, test } from '../fixtures/deckhand.ts'
import { lookAt } from '../fixtures/look-at.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

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
