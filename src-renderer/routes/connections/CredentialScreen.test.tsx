import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { Credential } from '../../../src-runner/contract/credentials.ts'
import { type Answers, createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen, type RenderOptions } from '../../testing/render.tsx'
import { makeAgent, makeConnector, makeCredential, makeId, quote } from '../../testing/things.ts'
import { CredentialScreen } from './CredentialScreen.tsx'

const ada = makeAgent({ name: 'Ada' })
const emil = makeAgent({ name: 'Emil' })

function open(credential: Credential | null, answers: Answers = {}, options: RenderOptions = {}) {
  let current = credential
  const runner = createFakeRunner({
    listAgents: () => ({ agents: [ada, emil], nextCursor: null }),
    listConnectors: () => ({ connectors: [makeConnector()], nextCursor: null }),
    getCredential: () => (current === null ? new Refusal('credential_not_found') : { credential: current }),
    updateCredential: ({ body }) => {
      const agents = (body.agents ?? current!.agents).map((grant) => ({ ...grant, agentName: grant.agentId === ada.id ? 'Ada' : 'Emil' }))
      current = { ...current!, ...body, agents }
      queueMicrotask(() => runner.happen({ type: 'credential.changed', payload: { credentialId: current!.id } }))
      return { credential: current }
    },
    ...answers,
  })
  const path = `/connections/${credential?.id ?? makeAgent().id}`
  return { ...renderScreen(CredentialScreen, { route: '/connections/:credentialId', path, runner, ...options }), runner }
}

it('shows a member an account without anything to change', async () => {
  const credential = makeCredential({ status: 'needs_sign_in' })
  open(credential, {}, { person: { id: makeId(), name: 'Bo', role: 'member', createdAt: 0 } })
  await screen.findByRole('heading', { name: credential.name })
  for (const name of [/^Test/, /^Actions for/, /^Sign in again/]) expect(screen.queryByRole('button', { name })).toBeNull()
  expect(await screen.findByRole('button', { name: /Ada/ })).toBeDisabled()
})

it('shows what an account allows in words, and gives an agent access', async () => {
  const credential = makeCredential({ name: 'Work', agents: [{ agentId: ada.id, agentName: 'Ada', access: 'read' }] })
  const { user, runner } = open(credential)
  expect(await screen.findByRole('heading', { name: 'Work' })).toBeVisible()
  expect(await screen.findByText('See your profile')).toBeVisible()
  // A permission that the catalogue does not know is shown as the service spells it.
  expect(screen.getByText('gist')).toBeVisible()
  expect(screen.getByText('api.github.com')).toBeVisible()
  const choice = await screen.findByRole('button', { name: /Access of Emil/ })
  await user.click(choice)
  await user.click(await screen.findByRole('option', { name: 'Read and write' }))
  await waitFor(() =>
    expect(runner.callsOf('updateCredential')[0]!.body).toEqual({
      agents: [
        { agentId: ada.id, access: 'read' },
        { agentId: emil.id, access: 'write' },
      ],
    }),
  )
  await waitFor(() => expect(screen.getByRole('button', { name: /Access of Emil/ })).toHaveTextContent('Read and write'))
})

it.each<[Partial<Credential>, RegExp, string]>([
  [{ expiresAt: Date.UTC(2099, 0, 5), renews: false, lastUsedAt: null }, /^Expires(?!Never|Renewed)./, 'Never used'],
  [{ expiresAt: Date.UTC(2099, 0, 5), renews: true, lastUsedAt: Date.now() - 1000 }, /^ExpiresRenewed automatically$/, 'now'],
  [{ expiresAt: null, renews: false, lastUsedAt: null }, /^ExpiresNever$/, 'Never used'],
])('shows when it expires and when it was used (%#)', async (fields, expires, used) => {
  open(makeCredential({ kind: 'oauth2', ...fields }))
  const value = (label: string) => screen.getByText(label, { exact: true }).parentElement!.parentElement!
  expect(await screen.findByText('Expires')).toBeVisible()
  expect(value('Expires')).toHaveTextContent(expires)
  expect(value('Last used')).toHaveTextContent(used)
})

it('offers to sign in again where the service refuses the account', async () => {
  const { user, runner } = open(makeCredential({ name: 'Work', status: 'needs_sign_in', problem: quote('GitHub refused the renewal.') }), {
    createAuthorization: () => new Refusal('authorization_refused', undefined, undefined, quote('No answer.')),
  })
  expect(await screen.findByRole('alert')).toHaveTextContent('GitHub refused the renewal.')
  await user.click(await screen.findByRole('button', { name: 'Sign in again' }))
  const dialog = await screen.findByRole('dialog', { name: 'Sign in to Work again' })
  await user.click(within(dialog).getByRole('button', { name: 'Sign in' }))
  expect(await within(dialog).findByText('No answer.')).toBeVisible()
  expect(runner.callsOf('createAuthorization')[0]!.body).toMatchObject({ connector: 'github', credentialId: expect.any(String) })
})

it.each([
  [true, 'The service revoked the access.'],
  [false, 'did not confirm the revocation'],
  [null, 'does not support revocation'],
])('asks before it disconnects, and says what the service did (%s)', async (revoked, words) => {
  const { user, runner, path } = open(makeCredential({ name: 'Work' }), { deleteCredential: () => ({ ok: true, revoked }) })
  await user.click(await screen.findByRole('button', { name: 'Actions for Work' }))
  await user.click(await screen.findByRole('menuitem', { name: 'Disconnect' }))
  const question = await screen.findByRole('alertdialog', { name: 'Disconnect Work?' })
  expect(runner.callsOf('deleteCredential')).toEqual([])
  await user.click(within(question).getByRole('button', { name: 'Disconnect' }))
  expect(await screen.findByText(new RegExp(words))).toBeVisible()
  await waitFor(() => expect(path()).toBe('/connections'))
})

it('says that an account is gone', async () => {
  open(null)
  expect(await screen.findByText('Account not found')).toBeVisible()
})

it.each<[string, Parameters<typeof makeConnector>[0], Credential['kind'], string]>([
  [
    'Enter a new key',
    { slug: 'api-key', kind: 'api_key', oauth: null, scopes: [], hosts: [] },
    'api_key',
    'The credentials are sent to tasks.example.',
  ],
  [
    'Sign in again',
    { slug: 'gitlab', hosts: ['{domain}'], fields: [{ name: 'domain', label: { en: 'Domain', de: 'Domain' }, preset: 'gitlab.com' }] },
    'oauth2',
    'The credentials are sent to tasks.example.',
  ],
])('says where the credentials are sent before a person enters them: %s', async (button, service, kind, words) => {
  const connector = makeConnector(service)
  const credential = makeCredential({ connector: connector.slug, kind, hosts: ['tasks.example'], status: 'needs_sign_in' })
  const { user } = open(credential, { listConnectors: () => ({ connectors: [connector], nextCursor: null }) })
  await user.click(await screen.findByRole('button', { name: button }))
  expect(within(await screen.findByRole('dialog')).getByText(words)).toBeVisible()
})

it('gives an account a new key, and keeps the rest', async () => {
  const credential = makeCredential({ name: 'Tasks', connector: 'todoist', kind: 'api_key', status: 'needs_sign_in' })
  const todoist = makeConnector({ slug: 'todoist', name: 'Todoist', kind: 'api_key', oauth: null, scopes: [] })
  const { user, runner } = open(credential, {
    listConnectors: () => ({ connectors: [todoist], nextCursor: null }),
    createCredential: () => ({ credential: { ...credential, status: 'connected' } }),
  })
  await user.click(await screen.findByRole('button', { name: 'Enter a new key' }))
  const dialog = await screen.findByRole('dialog', { name: 'New key for Tasks' })
  await user.type(within(dialog).getByLabelText('Key'), 'next')
  await user.click(within(dialog).getByRole('button', { name: 'Connect' }))
  await waitFor(() =>
    expect(runner.callsOf('createCredential')[0]!.body).toEqual({
      connector: 'todoist',
      credentialId: credential.id,
      secret: { key: 'next' },
    }),
  )
})
