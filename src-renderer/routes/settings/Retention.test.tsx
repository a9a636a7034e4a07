import { screen, waitFor, within } from '@solidjs/testing-library'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../../src-runner/contract/settings.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { Retention } from './Retention.tsx'

const NOTHING = { count: 0, bytes: 0 }

function open(jobs: number | null) {
  const runner = createFakeRunner()
  const settings = { ...DEFAULT_SETTINGS, retention: { ...DEFAULT_SETTINGS.retention, jobs } }
  runner.answer({
    getSettings: () => ({ settings }),
    getRetained: ({ query }) => {
      const isOld = query.kind === 'jobs' && query.days !== undefined && Number(query.days) <= 90
      return { all: { count: 5, bytes: 9_000_000 }, due: isOld ? { count: 3, bytes: 4_000_000 } : NOTHING, isDeleting: false }
    },
    updateSettings: () => ({ settings, unpricedModels: [] }),
    deleteDue: () => ({ ok: true as const, status: 'accepted' as const }),
  })
  renderScreen(Retention, { runner })
  return runner
}

it('says what a shorter time deletes, and sets it only after a confirmation', async () => {
  const runner = open(null)
  const user = userEvent.setup()
  await user.click(await screen.findByRole('button', { name: /Jobs and conversations/ }))
  await user.click(await screen.findByRole('option', { name: '90 days' }))
  const dialog = await screen.findByRole('alertdialog', { name: 'Keep for 90 days?' })
  expect(dialog.textContent.replace(/\s/g, ' ')).toContain('This deletes 3 items and frees about 4 MB.')
  expect(runner.callsOf('updateSettings')).toEqual([])
  await user.click(within(dialog).getByRole('button', { name: 'Keep for 90 days' }))
  await waitFor(() => expect(runner.callsOf('updateSettings')).toHaveLength(1))
  expect(runner.callsOf('updateSettings')[0]).toMatchObject({ body: { retention: { ...DEFAULT_SETTINGS.retention, jobs: 90 } } })
})

it('deletes at once what is older than its time, and offers that only if there is any', async () => {
  const runner = open(90)
  const user = userEvent.setup()
  await user.click(await screen.findByRole('button', { name: 'Delete now' }))
  const dialog = await screen.findByRole('alertdialog', { name: 'Delete what is older than 90 days?' })
  await user.click(within(dialog).getByRole('button', { name: 'Delete now' }))
  await waitFor(() => expect(runner.callsOf('deleteDue')[0]).toMatchObject({ body: { kind: 'jobs' } }))
  expect(screen.getAllByText(/Total: .*9\sMB/)).toHaveLength(5)
})
