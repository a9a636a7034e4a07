import { screen } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { Storage } from './Storage.tsx'

it('sums up the tables of each kind, the largest first, and the backups', async () => {
  const runner = createFakeRunner()
  const tables = [
    { name: 'messages', rows: 9, bytes: 7_000_000 },
    { name: 'agent_jobs', rows: 5, bytes: 1_000_000 },
    { name: 'job_search_data', rows: 5, bytes: 2_000_000 },
    { name: 'settings', rows: 5, bytes: 4_000 },
  ]
  const backup = { name: 'deckhand-20261123T023000Z.db', at: 0, bytes: 3_000_000 }
  runner.answer({
    getDiagnostics: () => ({ schemaVersion: 2, sqliteVersion: '3.54.1', settings: {}, checks: [], tables }),
    listBackups: () => ({ folder: '/b', lastProblem: null, backups: [backup, { ...backup, name: 'deckhand-20261122T023000Z.db' }] }),
  })
  renderScreen(Storage, { runner })
  await screen.findByText('Conversations and messages')
  const rows = screen.getAllByText(/\d.*B$/).map((size) => size.parentElement!.parentElement!.textContent)
  expect(rows.map((row) => row.replace(/\s/g, ' ')).slice(0, 2)).toEqual(['Conversations and messages7 MB', 'Jobs3 MB'])
  expect(rows.at(-1)!.replace(/\s/g, ' ')).toBe('Backups6 MB')
})
