import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openVault } from '../../src-main/vault/open-vault.ts'
import { expect, test } from '../fixtures/deckhand.ts'

test.describe('with the keyring of the desktop', () => {
  // In this mode every request needs the secret.
  test.use({ vault: 'keychain', env: { AUTH_MODE: 'local-auth' } })

  test('WORKER_SECRET is kept in the keychain and stays the same after a restart', async ({ deckhand }) => {
    expect((await deckhand.state()).vault).toMatchObject({ kind: 'keychain', state: 'ok' })
    const secret = await openVault('keychain', deckhand.dataDir).get('worker_secret')
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(readFileSync(join(deckhand.dataDir, 'vault-keychain.json'), 'utf8')).not.toContain(secret!)

    const ask = (bearer: string) => fetch(`${deckhand.runnerUrl}/api/agents`, { headers: { authorization: `Bearer ${bearer}` } })
    expect((await ask(secret!)).status).toBe(200)
    expect((await ask(`${secret!.slice(0, -1)}!`)).status).toBe(401)

    await deckhand.quit()
    await deckhand.start()
    expect((await ask(secret!)).status).toBe(200)
  })
})

test.describe('without a keyring', () => {
  test.use({ vault: 'keychain', env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' } })

  test('without a keychain the window says what to do, and jobs still run', async ({ deckhand, page }) => {
    const banner = page.getByRole('status').filter({ hasText: 'The keychain cannot be read.' })
    await expect(banner).toContainText('No keychain is running')
    await expect(banner).toContainText('start Deckhand with DECKHAND_VAULT=file')
    await expect(banner.getByRole('button', { name: 'Check again' })).toBeVisible()

    await page.getByRole('button', { name: 'Use demo' }).click()
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('button', { name: 'Run job' }).click()
    await expect(page.getByRole('heading', { name: 'Your first job is done' })).toBeVisible()

    // A key is refused with the reason, not stored elsewhere.
    const { status, body } = await deckhand.client.ask('createProvider', {
      body: { kind: 'anthropic', name: 'Anthropic', apiKey: 'sk-ant-0123456789' },
    })
    expect({ status, body }).toMatchObject({ status: 503, body: { error: 'vault_unavailable' } })
  })
})
