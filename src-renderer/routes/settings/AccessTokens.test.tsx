import { screen, waitFor, within } from '@solidjs/testing-library'
import { expect, it } from 'vitest'
import type { AccessToken, CreateToken } from '../../../src-runner/contract/tokens.ts'
import { createFakeRunner } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { AccessTokens } from './AccessTokens.tsx'

const ID = '018f4e9a-7b1c-7c3d-8e4f-0123456789ab'
const TOKEN = `dkh_${'0123456789abcdef'.repeat(4)}`
const DAY_MS = 24 * 3_600_000

function tokenWith(fields: Partial<AccessToken> = {}): AccessToken {
  return {
    id: ID,
    name: 'Backup script',
    hint: 'dkh_012345',
    entityId: ID,
    entityName: 'Personal',
    userId: null,
    createdAt: Date.now(),
    expiresAt: null,
    lastUsedAt: null,
    ...fields,
  }
}

function open({ tokens = [] as AccessToken[], accepted = true } = {}) {
  const copied: string[] = []
  const created: CreateToken[] = []
  const revoked: string[] = []
  const runner = createFakeRunner({
    listTokens: () => ({ tokens, accepted, nextCursor: null }),
    createToken({ body }) {
      created.push(body)
      return { accessToken: tokenWith({ name: body.name }), token: TOKEN }
    },
    revokeToken({ params }) {
      revoked.push(params.tokenId)
      return { ok: true }
    },
  })
  const desktop = { copyText: async (text: string) => void copied.push(text) }
  return { ...renderScreen(AccessTokens, { route: '/', path: '/', runner, desktop }), copied, created, revoked }
}

it('creates a token, shows it once and copies it', async () => {
  const { user, copied, created } = open()
  await user.click(await screen.findByRole('button', { name: 'Create token' }))
  const dialog = within(await screen.findByRole('dialog'))
  await user.click(dialog.getByRole('button', { name: 'Create token' }))
  expect(dialog.getByText('Enter a name.')).toBeInTheDocument()
  await user.type(dialog.getByLabelText('Name'), 'Backup script')
  const before = Date.now()
  await user.click(dialog.getByRole('button', { name: 'Create token' }))
  expect(await screen.findByText(TOKEN)).toBeInTheDocument()
  expect(created).toEqual([{ name: 'Backup script', expiresAt: expect.any(Number) as number }])
  expect(created[0]!.expiresAt! - before).toBeGreaterThanOrEqual(90 * DAY_MS)
  await user.click(await screen.findByRole('button', { name: 'Copy token' }))
  expect(copied).toEqual([TOKEN])
  await user.click(screen.getByRole('button', { name: 'Done' }))
  expect(screen.queryByText(TOKEN)).not.toBeInTheDocument()
})

it('keeps a token that was not copied when another is created', async () => {
  const { user } = open()
  for (const name of ['Backup script', 'Shop']) {
    await user.click(await screen.findByRole('button', { name: 'Create token' }))
    const dialog = within(await screen.findByRole('dialog'))
    await user.type(dialog.getByLabelText('Name'), name)
    await user.click(dialog.getByRole('button', { name: 'Create token' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  }
  const first = await screen.findByRole('region', { name: 'Your new access token “Backup script”' })
  await user.click(within(first).getByRole('button', { name: 'Done' }))
  expect(screen.queryByText(/“Backup script”/)).toBeNull()
  expect(screen.getByRole('region', { name: 'Your new access token “Shop”' })).toBeVisible()
})

it('lists tokens with their last use and expiry, and revokes one after a question', async () => {
  const { user, revoked } = open({
    tokens: [
      tokenWith({ lastUsedAt: Date.now() - 2 * DAY_MS, expiresAt: Date.now() - DAY_MS }),
      tokenWith({ id: ID.replace('018f', '019f'), name: 'New' }),
    ],
  })
  expect(await screen.findByText(/^Last used/)).toHaveTextContent('2 days ago')
  expect(screen.getByText(/^Expired/)).toHaveTextContent(/day/)
  expect(screen.getByText('Never used')).toBeInTheDocument()
  expect(screen.getByText('Never expires')).toBeInTheDocument()
  await user.click(screen.getByRole('button', { name: 'Revoke Backup script' }))
  const dialog = within(await screen.findByRole('alertdialog', { name: 'Revoke the token “Backup script”?' }))
  await user.click(dialog.getByRole('button', { name: 'Revoke' }))
  expect(revoked).toEqual([ID])
})

it('says when tokens are not accepted, and that there are none', async () => {
  open({ accepted: false })
  expect(await screen.findByText(/accepted only if Deckhand runs with AUTH_MODE=bearer-token/)).toBeInTheDocument()
  expect(screen.getByText('No access tokens yet')).toBeInTheDocument()
})
