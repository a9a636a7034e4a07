import { screen } from '@solidjs/testing-library'
import { expect, it, vi } from 'vitest'
import type { ImportResult } from '../../../src-runner/contract/export.ts'
import { DEFAULT_SETTINGS } from '../../../src-runner/contract/settings.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { ExportImport } from './ExportImport.tsx'

const { concurrency, dayBudgetUsd, notifications } = DEFAULT_SETTINGS
const EMPTY = {
  agents: [],
  triggers: [],
  schedules: [],
  rules: [],
  memories: [],
  connections: [],
  skills: [],
  settings: { concurrency, dayBudgetUsd, notifications },
}
const HEAD = { deckhand: 'export' as const, version: 1, at: Date.UTC(2026, 10, 23), setup: EMPTY }
const RESULT: ImportResult = {
  agents: ['Ada'],
  triggers: ['Orders'],
  signedTriggers: ['Orders'],
  schedules: [],
  connections: ['GitHub'],
  connectionHosts: ['api.github.com'],
  skills: [],
  rules: 2,
  allowRules: 1,
  memories: 0,
  settings: false,
  rulesLeftOut: 3,
  modelsUnknown: 1,
  autonomousAgents: ['Ada'],
  folders: ['/home/ada/notes', '/home/ada/work'],
  foldersLeftOut: ['/mnt/old'],
}

function show() {
  const runner = createFakeRunner()
  runner.answer({
    exportSetup: () => HEAD,
    exportHistory: () => ({ lines: [], nextCursor: null }),
    importSetup: () => ({ result: RESULT }),
    importHistory: ({ body }) => ({ result: { jobs: body.lines.length, conversations: 0, known: 0 } }),
  })
  return { ...renderScreen(ExportImport, { runner }), runner }
}
const file = (text: string) => new File([text], 'deckhand.ndjson')

it('saves the set-up and the history as lines of JSON', async () => {
  const saved: Blob[] = []
  vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: (blob: Blob) => (saved.push(blob), 'blob:x'), revokeObjectURL: () => {} }))
  const names: string[] = []
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    names.push(this.download)
  })
  const { user } = show()
  await user.click(await screen.findByRole('button', { name: 'Export…' }))
  await expect.poll(() => names).toEqual(['deckhand-2026-11-23.ndjson'])
  expect(JSON.parse((await saved[0]!.text()).trim())).toEqual(HEAD)
  click.mockRestore()
})

it('shows what an import would make, and makes it after a confirmation', async () => {
  const { user, runner } = show()
  await user.upload(await screen.findByLabelText('Export file'), file(`${JSON.stringify(HEAD)}\n{"kind":"job"}\n`))
  expect(await screen.findByText('This adds 1 agent, 1 webhook, and 2 rules.')).toBeInTheDocument()
  expect(screen.getByText(/1 rule permits/)).toBeInTheDocument()
  expect(screen.getByText('1 agent works without asking you: Ada.')).toBeInTheDocument()
  expect(screen.getByText('The agents can access these folders: /home/ada/notes, /home/ada/work.')).toBeInTheDocument()
  expect(screen.getByText('1 connection must be signed in again. It sends its credentials to: api.github.com.')).toBeInTheDocument()
  expect(screen.getByText(/^Webhooks that check signatures .* secret: Orders\./)).toBeInTheDocument()
  expect(screen.getByText(/without these folders.*: \/mnt\/old\./)).toBeInTheDocument()
  expect(screen.getByText(/3 rules for all agents/)).toBeInTheDocument()
  expect(runner.callsOf('importSetup').map(({ body }) => body.dryRun)).toEqual([true])
  await user.click(screen.getByRole('button', { name: 'Import' }))
  expect(await screen.findByText('Imported. Webhooks and schedules are paused.')).toBeInTheDocument()
  expect(runner.callsOf('importSetup').map(({ body }) => body.dryRun)).toEqual([true, false])
  expect(await screen.findByText(/^1 job and 0 conversations added/)).toBeInTheDocument()
  expect(runner.callsOf('importHistory').map(({ body }) => body.lines)).toEqual([[{ kind: 'job' }]])
})

it('adds only the history if wanted, a few lines at a time', async () => {
  const { user, runner } = show()
  const lines = Array.from({ length: 250 }, (_, n) => JSON.stringify({ kind: 'job', n, text: 'ü'.repeat(n === 3 ? 1_200_000 : 10) }))
  await user.upload(await screen.findByLabelText('Export file'), file([JSON.stringify(HEAD), ...lines].join('\n')))
  await user.click(await screen.findByRole('checkbox', { name: /^Agents, webhooks/ }))
  await user.click(screen.getByRole('button', { name: 'Import' }))
  expect(await screen.findByText(/^250 jobs/)).toBeInTheDocument()
  const sent = runner.callsOf('importHistory').map(({ body }) => body.lines as { n: number }[])
  expect(sent.map(({ length }) => length)).toEqual([3, 1, 100, 100, 46])
  expect(sent.flat().map(({ n }) => n)).toEqual(Array.from({ length: 250 }, (_, n) => n))
  expect(runner.callsOf('importSetup').map(({ body }) => body.dryRun)).toEqual([true])
})

it('says why the history could not be added, and does not make the set-up again', async () => {
  const { user, runner } = show()
  runner.answer({ importHistory: () => new Refusal('import_refused', 'The file is not valid at “lines.0”.') })
  await user.upload(await screen.findByLabelText('Export file'), file(`${JSON.stringify(HEAD)}\n{}\n`))
  await user.click(await screen.findByRole('button', { name: 'Import' }))
  expect(await screen.findByText(/cannot be imported/)).toBeInTheDocument()
  await user.click(screen.getByRole('button', { name: 'Import' }))
  expect(runner.callsOf('importSetup').map(({ body }) => body.dryRun)).toEqual([true, false])
})

it.each(['', 'not JSON', '{"deckhand":"backup"}', '[]'])('refuses %j, which is not an export', async (text) => {
  const { user, runner } = show()
  await user.upload(await screen.findByLabelText('Export file'), file(text))
  expect(await screen.findByText('This is not an export of Deckhand.')).toBeInTheDocument()
  expect(runner.callsOf('importSetup')).toEqual([])
})

it('writes out the hidden characters of an export before it is imported', async () => {
  const { user, runner } = show()
  runner.answer({
    importSetup: () => ({ result: { ...RESULT, autonomousAgents: ['Ada\u202E'], folders: ['/tmp/\u202E', '/home/ada/.ssh'] } }),
  })
  await user.upload(await screen.findByLabelText('Export file'), file(`${JSON.stringify(HEAD)}\n`))
  expect(await screen.findByText('The agents can access these folders: /tmp/⟨U+202E⟩, /home/ada/.ssh.')).toBeInTheDocument()
  expect(screen.getByText(/Ada⟨U\+202E⟩/)).toBeInTheDocument()
})
