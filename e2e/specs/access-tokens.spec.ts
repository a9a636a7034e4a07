import { expect, test } from '../fixtures/deckhand.ts'
import { asPhone, changeTheme, expectAccessible, expectNoSidewaysScroll, takePicture } from '../fixtures/screen-shots.ts'

test.use({ env: { AUTH_MODE: 'bearer-token' }, scenario: 'busy-day' })

test('an access token is created in the window, used by a script, and revoked', async ({ deckhand, page }) => {
  await page.goto('app://deckhand/settings/tokens')
  await expect(page.getByText('No access tokens yet')).toBeVisible()
  await expect(page.getByText(`claude mcp add --transport http deckhand ${deckhand.runnerUrl}/mcp --header`)).toBeVisible()
  await page.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Backup script')
  await takePicture(deckhand, 'access-tokens-create')
  await dialog.getByRole('button', { name: 'Create token' }).click()

  const token = await page
    .locator('code')
    .filter({ hasText: /^dkh_[0-9a-f]{64}$/ })
    .innerText()
  const ask = (path: string) => fetch(`${deckhand.runnerUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const { agents } = (await (await ask('/api/agents')).json()) as { agents: { name: string }[] }
  expect(agents.map(({ name }) => name)).toContain('Ada')
  expect((await ask('/api/settings')).status).toBe(403)
  const listed = await fetch(`${deckhand.runnerUrl}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect(await listed.text()).toContain('run_agent')

  await page.reload()
  await expect(page.getByText(/^Last used/)).toBeVisible()
  await expect(page.getByText(token)).toHaveCount(0)
  for (const theme of ['light', 'dark'] as const) {
    await changeTheme(deckhand, theme)
    await expectAccessible(deckhand, 'access-tokens', theme)
    await takePicture(deckhand, `access-tokens-${theme}`)
  }
  await asPhone(deckhand, async () => {
    await expectNoSidewaysScroll(deckhand, 'access-tokens')
    await takePicture(deckhand, 'access-tokens-phone')
  })

  await page.getByRole('button', { name: 'Revoke Backup script' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByText('No access tokens yet')).toBeVisible()
  expect((await ask('/api/agents')).status).toBe(401)
})
