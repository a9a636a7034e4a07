import { screen } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS, type McpEndpoint, type UpdateSettings } from '../../../src-runner/contract/settings.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { OtherPrograms } from './OtherPrograms.tsx'

const URL = 'http://127.0.0.1:3001/mcp'

function open(bearer: McpEndpoint['bearer'] = 'none') {
  const copied: string[] = []
  const changes: UpdateSettings[] = []
  const runner = createFakeRunner({
    getMcpEndpoint: () => ({ url: URL, bearer }),
    getSettings: () => ({ settings: DEFAULT_SETTINGS }),
    updateSettings({ body }) {
      changes.push(body)
      return { settings: { ...DEFAULT_SETTINGS, ...body }, unpricedModels: [] }
    },
  })
  const desktop = { copyText: async (text: string) => void copied.push(text) }
  return { ...renderScreen(OtherPrograms, { route: '/', path: '/', runner, desktop }), copied, changes }
}

it('shows one line for each program to copy', async () => {
  const { user, copied } = open()
  await user.click(await screen.findByRole('button', { name: 'Copy for Claude Code' }))
  await user.click(screen.getByRole('button', { name: 'Copy for Cursor' }))
  await user.click(screen.getByRole('button', { name: 'Copy for VS Code' }))
  await user.click(screen.getByRole('button', { name: 'Copy for Address' }))
  expect(copied).toEqual([
    `claude mcp add --transport http deckhand ${URL}`,
    `{"mcpServers":{"deckhand":{"url":"${URL}"}}}`,
    `code --add-mcp '{"name":"deckhand","type":"http","url":"${URL}"}'`,
    URL,
  ])
  expect(screen.queryByText(/^Replace/)).not.toBeInTheDocument()
})

it('says what to send where a secret or a token is needed', async () => {
  const { user, copied } = open('secret_or_token')
  await user.click(await screen.findByRole('button', { name: 'Copy for Claude Code' }))
  expect(copied).toEqual([`claude mcp add --transport http deckhand ${URL} --header "Authorization: Bearer YOUR_TOKEN"`])
  expect(screen.getByText('Replace YOUR_TOKEN with an access token.')).toBeInTheDocument()
})

it('lets these programs answer approvals only when that is turned on', async () => {
  const { user, changes } = open()
  const toggle = await screen.findByRole('switch', { name: /answer approvals/ })
  expect(toggle).not.toBeChecked()
  await user.click(toggle)
  expect(changes).toEqual([{ mcpApprovals: true }])
})
