import { screen, waitFor } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { DesktopApi } from '../../../src-main/contract/desktop-api.ts'
import type { Message } from '../../../src-runner/contract/messages.ts'
import type { Replacement } from '../../../src-runner/contract/port.ts'
import { DEFAULT_SETTINGS } from '../../../src-runner/contract/settings.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { Backups } from './Backups.tsx'

const NEWEST = { name: 'deckhand-20261123T023000Z.db', at: Date.UTC(2026, 10, 23, 2, 30), bytes: 3_200_000 }
const OLDER = { name: 'deckhand-20261122T023000Z.db', at: Date.UTC(2026, 10, 22, 2, 30), bytes: 3_100_000 }

function open(answers: Parameters<typeof createFakeRunner>[0] = {}) {
  const replaced: Replacement[] = []
  const api = { replaceDatabase: (replacement: Replacement) => Promise.resolve(replaced.push(replacement) > 0) }
  const runner = createFakeRunner({
    listBackups: () => ({ folder: '/data/backups', backups: [NEWEST, OLDER], lastProblem: null }),
    getSettings: () => ({ settings: DEFAULT_SETTINGS }),
    ...answers,
  })
  const desktop = { api: api as unknown as DesktopApi, pickFolder: () => Promise.resolve('/media/disk') }
  return { ...renderScreen(Backups, { route: '/', path: '/', runner, desktop }), replaced, runner }
}

it('shows the last backup, and restores the newest one unless another is chosen', async () => {
  const { user, replaced } = open()
  expect(await screen.findByText(/Last backup: .*3\.2\sMB/)).toBeInTheDocument()
  await user.click(await screen.findByRole('button', { name: 'Restore…' }))
  expect(replaced).toEqual([{ backup: NEWEST.name }])
})

it('makes one now and shows it', async () => {
  let backups = [OLDER]
  const { user } = open({
    listBackups: () => ({ folder: '/data/backups', backups, lastProblem: null }),
    makeBackup: () => {
      backups = [NEWEST, OLDER]
      return { backup: NEWEST }
    },
  })
  expect(await screen.findByText(/Last backup: .*3\.1\sMB/)).toBeInTheDocument()
  await user.click(screen.getByRole('button', { name: 'Back up now' }))
  expect(await screen.findByText(/Last backup: .*3\.2\sMB/)).toBeInTheDocument()
})

it('says that one was made, but not its copy', async () => {
  let lastProblem: Message | null = null
  const { user } = open({
    listBackups: () => ({ folder: '/data/backups', backups: [NEWEST], lastProblem }),
    makeBackup: () => {
      lastProblem = { code: 'backup_copy_failed', params: { folder: '/media/disk', why: 'no such folder' } }
      return { backup: NEWEST }
    },
  })
  await user.click(await screen.findByRole('button', { name: 'Back up now' }))
  const told = 'The backup was made, but could not be copied to /media/disk: no such folder'
  // Beside the button and as a toast.
  await waitFor(() => expect(screen.getAllByText(told)).toHaveLength(2))
})

it('says why the last one failed, and that there is none', async () => {
  open({
    listBackups: () => ({
      folder: '/data/backups',
      backups: [],
      lastProblem: { code: 'backup_copy_failed', params: { folder: '/media/disk', why: 'no space left' } },
    }),
  })
  expect(await screen.findByText('The backup was made, but could not be copied to /media/disk: no space left')).toBeInTheDocument()
  expect(screen.getByText('No backup yet')).toBeInTheDocument()
})

it('sets a second folder, and shows why it was refused', async () => {
  const { user, runner } = open()
  runner.answer({
    updateSettings: () => {
      return new Refusal('folder_not_usable', undefined, undefined, { code: 'folder_read_only', params: {} })
    },
  })
  await user.click(await screen.findByRole('button', { name: 'Choose…' }))
  expect(await screen.findByText('You are not allowed to write to this folder.')).toBeInTheDocument()
})
