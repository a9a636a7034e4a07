import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openVault } from '../../src-main/vault/open-vault.ts'
import type { ModelServer } from '../../src-runner/testing/model-servers/model-server.ts'
import { type Deckhand, expect, test } from '../fixtures/deckhand.ts'
import { type Keyring, startKeyring } from '../fixtures/keyring.ts'

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

test.describe('with a keyring that a person must unlock', () => {
  test.skip(process.platform !== 'linux', 'the keychain of this system cannot be locked from outside')

  const withKeyring = test.extend<{ keyring: Keyring }>({
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
    keyring: async ({}, use) => {
      const keyring = await startKeyring()
      await use(keyring)
      await keyring.close()
    },
    env: async ({ keyring }, use) => use({ DBUS_SESSION_BUS_ADDRESS: keyring.busAddress }),
    vault: 'keychain',
  })

  const bannerOf = ({ page }: Deckhand) => page.getByRole('status').filter({ hasText: 'The keychain cannot be read.' })

  /** An agent whose model needs a key that is in the keyring. Returns the function that gives it a job. */
  async function setUpKey({ client }: Deckhand, models: ModelServer) {
    const body = { kind: 'openai-compatible', name: 'Paid', baseUrl: `${models.url}/v1`, apiKey: 'a-key-of-somebody' } as const
    const { provider } = await client.ok('createProvider', { body })
    const model = { providerId: provider.id, model: 'small' }
    await client.ok('updateSettings', { body: { defaultModel: model, firstStart: 'done' } })
    const { agent } = await client.ok('createAgent', { body: { name: 'Ada', model } })
    return async (deckhand: Deckhand) => (await deckhand.client.ok('submitTask', { body: { task: 'Say hello.', agentId: agent.id } })).jobId
  }

  const recovered = async (deckhand: Deckhand) => {
    const again = bannerOf(deckhand).getByRole('button', { name: 'Check again' })
    // A job that tries its key again has the same effect, and may be first.
    await expect(async () => {
      if (await again.isVisible()) await again.click({ timeout: 1000 })
      await expect(again).toBeHidden({ timeout: 1000 })
    }).toPass()
    expect((await deckhand.state()).vault).toEqual({ kind: 'keychain', state: 'ok', message: null })
  }
  /** The job has tried to get its key, the person was notified, and nothing has failed. */
  async function untilPostponed(deckhand: Deckhand, jobId: string): Promise<void> {
    await expect.poll(async () => (await deckhand.hooks()).notifications).toEqual(['“Say hello.” is waiting'])
    expect((await deckhand.client.ok('getJob', { params: { jobId } })).job).toMatchObject({ status: 'pending', error: null })
  }
  const untilCompleted = (deckhand: Deckhand, jobId: string) =>
    expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')

  withKeyring('a locked keychain makes jobs wait, and they go on when it is unlocked', async ({ deckhand, keyring, models }) => {
    const submit = await setUpKey(deckhand, models)
    const file = join(deckhand.dataDir, 'vault-keychain.json')
    const before = readFileSync(file)
    await deckhand.quit()
    await keyring.lock()
    await deckhand.start()
    await expect(bannerOf(deckhand)).toContainText('The keychain is locked. Unlock it')
    const waiting = await submit(deckhand)
    await untilPostponed(deckhand, waiting)
    await bannerOf(deckhand).getByRole('button', { name: 'Check again' }).click()
    await expect(bannerOf(deckhand)).toContainText('The keychain is locked. Unlock it')
    expect(readFileSync(file)).toEqual(before)

    await keyring.unlock()
    await recovered(deckhand)
    await untilCompleted(deckhand, await submit(deckhand))
    // The waiting job tries again a minute after its first try.
    await deckhand.quit()
    await deckhand.start({ DECKHAND_TEST_CLOCK_AHEAD_MS: '61000' })
    await untilCompleted(deckhand, waiting)
    const keys = models.received.filter(({ method }) => method === 'POST').map(({ headers }) => headers['authorization'])
    expect(keys).toEqual(['Bearer a-key-of-somebody', 'Bearer a-key-of-somebody'])
  })

  withKeyring(
    'with a keychain that does not respond the app starts, and uses it once it responds',
    async ({ deckhand, keyring, models }) => {
      const submit = await setUpKey(deckhand, models)
      await deckhand.quit()
      keyring.stall()
      await deckhand.start()
      await expect(bannerOf(deckhand)).toContainText('The keychain does not respond.')
      const waiting = await submit(deckhand)
      await untilPostponed(deckhand, waiting)

      keyring.goOn()
      await recovered(deckhand)
      await untilCompleted(deckhand, await submit(deckhand))
    },
  )
})
