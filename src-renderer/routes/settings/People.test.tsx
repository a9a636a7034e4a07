import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { DesktopApi, DesktopState } from '../../../src-main/contract/desktop-api.ts'
import { createFakeRunner, Refusal, type Answers } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { People } from './People.tsx'

const id = (last: number) => `019a0000-0000-7000-8000-00000000000${last}`
const person = (last: number, name: string, role: 'owner' | 'member') => ({ id: id(last), name, role, createdAt: 1_700_000_000_000 })

function open(answers: Answers, isShared = true) {
  const runner = createFakeRunner(answers)
  const state = {
    dashboard: { state: 'ready', dashboardUrl: 'http://192.0.2.7:3000' },
    sharing: { isOn: isShared, fixedBy: null, urls: [] },
    settings: { theme: 'system' },
  } as unknown as DesktopState
  const desktop = {
    api: { changeSettings: async () => state.settings } as unknown as DesktopApi,
    onState(listener: (state: DesktopState) => void) {
      listener(state)
      return () => undefined
    },
  }
  return renderScreen(() => <People />, { runner, desktop })
}

it('creates the owner account in the window, with a password of ten characters', async () => {
  let hasOwner = false
  const { user, runner } = open({
    getSignIn: () => ({ hasOwner, person: null, damagedFile: null }),
    createOwner: ({ body }) => {
      hasOwner = true
      return { person: person(1, body.name, 'owner') }
    },
  })
  await user.click(await screen.findByRole('button', { name: 'Create owner account' }))
  const form = within(screen.getByRole('dialog'))
  await user.type(form.getByLabelText('Name'), 'Anna')
  await user.type(form.getByLabelText('Password'), 'too short')
  await user.click(form.getByRole('button', { name: 'Create account' }))
  expect(form.getByText('Use at least 10 characters.')).toBeVisible()
  expect(runner.callsOf('createOwner')).toEqual([])
  await user.type(form.getByLabelText('Password'), ' no more')
  await user.click(form.getByRole('button', { name: 'Create account' }))
  expect(await screen.findByRole('button', { name: 'Invite' })).toBeVisible()
  expect(runner.callsOf('createOwner')[0]!.body).toEqual({ name: 'Anna', password: 'too short no more' })
})

it('sets another password for somebody who forgot theirs, in the window only', async () => {
  const { user, runner } = open({
    listPeople: () => ({ people: [person(1, 'Anna', 'owner')], invitations: [] }),
    resetPassword: () => ({ ok: true }),
  })
  await user.click(await screen.findByRole('button', { name: 'Reset the password of Anna' }))
  const form = within(screen.getByRole('dialog'))
  await user.type(form.getByLabelText('New password'), 'too short')
  await user.click(form.getByRole('button', { name: 'Set password' }))
  expect(form.getByText('Use at least 10 characters.')).toBeVisible()
  await user.type(form.getByLabelText('New password'), ' no more')
  await user.click(form.getByRole('button', { name: 'Set password' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(runner.callsOf('resetPassword')).toMatchObject([{ params: { personId: id(1) }, body: { password: 'too short no more' } }])
})

it('invites with a link to the dashboard, and removes people after a question', async () => {
  let people = [person(1, 'Anna', 'owner'), person(2, 'Ben', 'member')]
  const { user, runner } = open({
    listPeople: () => ({ people, invitations: [] }),
    invite: ({ body }) => ({
      invitation: { id: id(3), role: body.role, invitedBy: null, createdAt: 1, expiresAt: 2 },
      link: 'x'.repeat(43),
    }),
    removePerson: ({ params }) => {
      if (params.personId === id(1)) return new Refusal('last_owner')
      people = people.slice(0, 1)
      return { ok: true }
    },
  })
  await user.click(await screen.findByRole('button', { name: 'Invite' }))
  await user.click(screen.getByRole('button', { name: 'Create link' }))
  expect(await screen.findByText(`http://192.0.2.7:3000/sign-in#invite=${'x'.repeat(43)}`)).toBeVisible()
  expect(runner.callsOf('invite')[0]!.body).toEqual({ role: 'member' })
  await user.click(screen.getByRole('button', { name: 'Done' }))

  await user.click(await screen.findByRole('button', { name: 'Remove Anna' }))
  await user.click(await screen.findByRole('button', { name: 'Delete account' }))
  expect(await screen.findByText('This is the only owner. Make someone else an owner first.')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  await user.click(await screen.findByRole('button', { name: 'Remove Ben' }))
  await user.click(await screen.findByRole('button', { name: 'Delete account' }))
  await waitFor(() => expect(screen.queryByText('Ben')).toBeNull())
})

it('says that sign-in is off where nobody signs in', async () => {
  open({ getSignIn: () => new Refusal('not_found') })
  expect(await screen.findByText('Sign-in is off')).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Invite' })).toBeNull()
})

it('names the file in which damaged accounts are kept', async () => {
  open({ getSignIn: () => ({ hasOwner: false, person: null, damagedFile: '/data/auth.db.damaged-1' }) })
  expect(await screen.findByText(/\/data\/auth\.db\.damaged-1/)).toBeVisible()
  expect(screen.getByRole('button', { name: 'Create owner account' })).toBeVisible()
})

it.each([
  [false, '/settings/computer#share'],
  [true, null],
])('leads to the switch that lets devices sign in, if it is off (shared: %s)', async (isShared, href) => {
  open({ listPeople: () => ({ people: [person(1, 'Anna', 'owner')], invitations: [] }), listDevices: () => ({ devices: [] }) }, isShared)
  expect(await screen.findByText('No device is signed in.')).toBeVisible()
  expect(screen.queryByRole('link', { name: 'Set up sharing' })?.getAttribute('href') ?? null).toBe(href)
})
