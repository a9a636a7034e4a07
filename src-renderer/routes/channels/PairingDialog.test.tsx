import { screen, waitFor } from '@solidjs/testing-library'
import { createSignal, Show } from 'solid-js'
import { expect, it, vi } from 'vitest'
import type { Pairing } from '../../../src-runner/contract/messenger.ts'
import { type Answers, createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeAgent } from '../../testing/things.ts'
import { PairingDialog } from './PairingDialog.tsx'

const agent = makeAgent({ name: 'Guide' })
const waiting: Pairing = {
  status: 'qr_pending',
  qr: '2@one',
  code: null,
  scanned: false,
  expiresAt: 0,
  number: null,
  channelId: null,
  problem: null,
}

function open(answers: Answers) {
  const [isOpen, setOpen] = createSignal(true)
  const runner = createFakeRunner(answers)
  const dialog = () => (
    <Show when={isOpen()}>
      <PairingDialog agents={[agent]} onClose={() => setOpen(false)} />
    </Show>
  )
  return { ...renderScreen(dialog, { runner }), runner }
}

it('goes on showing how far it is after a number was refused', async () => {
  let pairing = waiting
  const { user, runner } = open({
    startPairing: ({ body }) => (body.phoneNumber === undefined ? pairing : new Refusal('invalid_request')),
    getPairing: () => pairing,
  })
  await user.click(screen.getByRole('button', { name: 'Show code' }))
  await user.click(await screen.findByRole('button', { name: /scan/ }))
  await user.type(screen.getByLabelText('Phone number'), '12')
  await user.click(screen.getByRole('button', { name: 'Get code' }))
  expect((await screen.findAllByRole('alert'))[0]).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Back' }))
  pairing = { ...waiting, status: 'open', qr: null, number: '+49 170 1' }
  expect(await screen.findByRole('dialog', { name: /\+49 170 1/ })).toBeVisible()
  expect(runner.callsOf('startPairing')).toHaveLength(2)
})

it('shows the code to type, and that the phone has accepted it', async () => {
  let pairing: Pairing = { ...waiting, qr: null, code: 'ABCD-1234' }
  const { user } = open({ startPairing: () => pairing, getPairing: () => pairing })
  await user.click(screen.getByRole('button', { name: 'Show code' }))
  expect(await screen.findByText('ABCD-1234')).toBeVisible()
  expect(screen.getByText(/^Valid for/)).toHaveAttribute('aria-live', 'off')
  pairing = { ...waiting, status: 'connecting', qr: null, scanned: true }
  expect(await screen.findByText(/^Confirmed on the phone/)).toBeVisible()
})

it('asks no more when it was closed before it had started', async () => {
  const started = Promise.withResolvers<Pairing>()
  const { user, runner } = open({ startPairing: () => started.promise })
  const timers = vi.spyOn(globalThis, 'setInterval')
  await user.click(screen.getByRole('button', { name: 'Show code' }))
  await waitFor(() => expect(runner.callsOf('startPairing')).toHaveLength(1))
  await user.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  started.resolve(waiting)
  await new Promise((resolve) => setTimeout(resolve))
  await new Promise((resolve) => setTimeout(resolve))
  expect(timers.mock.calls.filter(([, ms]) => ms === 1000)).toEqual([])
  timers.mockRestore()
})
