import { screen } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { DesktopApi, DesktopState } from '../../src-main/contract/desktop-api.ts'
import { renderScreen } from '../testing/render.tsx'
import type { DataTrouble } from './data-trouble.ts'
import { DataTroubleScreen } from './DataTroubleScreen.tsx'

const quoted = (words: string) => ({ code: 'quoted', params: { words } }) as const

function show(code: DataTrouble['code'], updates: DesktopState['updates'] = { state: 'off', reason: 'development' }) {
  const calls: unknown[] = []
  const record = (name: string, result?: unknown) => (argument: unknown) => (calls.push([name, argument]), Promise.resolve(result))
  const api = {
    replaceDatabase: record('replaceDatabase', true),
    restartRunner: record('restartRunner'),
    showFolder: record('showFolder'),
    saveDiagnostics: record('saveDiagnostics', '/home/ada/report.zip'),
    copyDiagnostics: record('copyDiagnostics'),
    update: record('update'),
  } as unknown as DesktopApi
  const trouble: DataTrouble = { code, message: quoted('The words of the runner.'), dataDir: '/data' }
  const state = { updates, settings: { theme: 'system', language: 'system' } } as DesktopState
  const onState = (listener: (next: DesktopState) => void) => (listener(state), () => {})
  return { ...renderScreen(() => <DataTroubleScreen trouble={trouble} />, { desktop: { api, onState } }), calls }
}

it.each([
  ['database_damaged', /is damaged/, ['Restore…', 'Start empty…', 'Try again', 'Show', 'Save…', 'Copy']],
  ['database_newer', /newer version/, ['Restore…', 'Start empty…', 'Try again', 'Show', 'Save…', 'Copy']],
  ['database_locked', /Another program/, ['Try again', 'Show', 'Save…', 'Copy']],
  ['disk_full', /disk is full/, ['Try again', 'Show', 'Save…', 'Copy']],
  ['read_only', /read-only/, ['Try again', 'Show', 'Save…', 'Copy']],
  ['data_dir_unusable', /cannot be used/, ['Try again', 'Show', 'Save…', 'Copy']],
] as const)('%s: says what is wrong and offers the ways out that help', async (code, title, ways) => {
  show(code)
  expect(await screen.findByRole('heading', { name: title })).toBeInTheDocument()
  expect(screen.getByText('The words of the runner.')).toBeInTheDocument()
  expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual(ways)
})

it('does what its buttons say', async () => {
  const { user, calls } = show('database_damaged')
  for (const name of ['Restore…', 'Start empty…', 'Try again', 'Show', 'Save…', 'Copy'])
    await user.click(await screen.findByRole('button', { name }))
  expect(calls).toEqual([
    ['replaceDatabase', { backup: null }],
    ['replaceDatabase', 'empty'],
    ['restartRunner', { safeMode: false }],
    ['showFolder', 'data'],
    ['saveDiagnostics', undefined],
    ['copyDiagnostics', undefined],
  ])
  expect(await screen.findByText('Saved to /home/ada/report.zip')).toBeInTheDocument()
})

it('offers the update first that newer data needs', async () => {
  const offer = { version: '1.3.0', notes: '', bytes: 9, kind: 'app', file: 'Deckhand', page: null, crashed: false } as const
  const { user, calls } = show('database_newer', { state: 'downloaded', offer })
  expect(await screen.findByText('Deckhand 1.3.0 is ready to install')).toBeVisible()
  const [first, second] = screen.getAllByRole('button')
  expect([first, second].map((button) => button?.textContent)).toEqual(['Install and restart', 'Restore…'])
  await user.click(first!)
  expect(calls).toEqual([['update', 'install']])
})
