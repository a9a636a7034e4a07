import { expect, test as base } from '../fixtures/deckhand.ts'
import { startBrowser, type Browser } from '../fixtures/browser.ts'
import { createOwner, OWNER } from '../fixtures/share-on-network.ts'

const PASSWORD = OWNER.password

const test = base.extend<{ elsewhere: Browser }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  elsewhere: async ({}, use) => {
    const browser = await startBrowser({ trustsAll: true })
    await use(browser)
    await browser.close()
  },
})

test('sharing needs an owner, shows where to sign in, asks every browser to sign in, and ends', async ({ deckhand, page, elsewhere }) => {
  await deckhand.client.ok('updateSettings', { body: { firstStart: 'done' } })
  await page.goto('app://deckhand/settings/computer')
  const share = page.getByText('Share on this network')
  await share.click()
  await page.getByRole('link', { name: 'Create owner account…' }).click()
  await createOwner(deckhand)

  await page.goto('app://deckhand/settings/computer')
  await share.click()
  await expect(page.getByRole('img', { name: /^QR code of http/ })).toBeVisible()
  // In the dark theme too, a camera needs dark on white.
  await expect(page.getByRole('img', { name: /^QR code of http/ }).locator('rect')).toHaveAttribute('fill', '#fff')
  const { sharing, dashboard } = await deckhand.state()
  const phone = await elsewhere.openTab(sharing.urls[0]!)
  await expect(phone.getByRole('textbox', { name: 'Password' })).toBeVisible()
  await phone.setViewportSize({ width: 390, height: 800 })
  await phone.getByLabel('Name').fill(OWNER.name)
  await phone.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await phone.keyboard.press('Enter')
  await expect(phone.getByRole('link', { name: 'Chat' })).toBeVisible()

  const encrypt = page.getByText('Encrypt (HTTPS)')
  await encrypt.click()
  await expect(page.getByRole('img', { name: /^QR code of https/ })).toBeVisible()
  const { fingerprint } = (await deckhand.state()).sharing.certificate!
  await expect(page.getByText(fingerprint.slice(0, 23).replaceAll(':', ' '))).toBeVisible()
  // The open page of the phone finds out with its next request.
  await expect(phone.getByText('Open it again with https:// at the beginning of the address.')).toBeVisible()
  await phone.reload()
  await expect(phone.getByText('click into the address bar and press Enter')).toBeVisible()
  const encrypted = await elsewhere.openTab(phone.url())
  await encrypted.setViewportSize({ width: 390, height: 800 })
  await encrypted.getByLabel('Name').fill(OWNER.name)
  await encrypted.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await encrypted.keyboard.press('Enter')
  await expect(encrypted.getByRole('link', { name: 'Chat' })).toBeVisible()
  expect((await encrypted.context().cookies()).filter(({ name }) => name.startsWith('__Host-')).map(({ secure }) => secure)).toEqual([true])
  const plain = await elsewhere.openTab(sharing.urls[0]!)
  expect(plain.url()).toMatch(/^https:/)
  await encrypt.click()
  await expect(page.getByRole('img', { name: /^QR code of http:/ })).toBeVisible()
  const again = await elsewhere.openTab(sharing.urls[0]!)
  // Nobody is signed in any more, also not with the cookie from before it was turned on.
  await expect(again.getByRole('textbox', { name: 'Password' })).toBeVisible()

  await share.click()
  await expect(page.getByRole('img', { name: /^QR code of http/ })).toBeHidden()
  const left = await elsewhere.openTab(sharing.urls[0]!).then((tab) => tab.url())
  expect(left).toMatch(/^chrome-error:/)
  const closed = await elsewhere.openTab((dashboard as { dashboardUrl: string }).dashboardUrl)
  await expect(closed.getByRole('heading', { name: 'Open Deckhand from its menu' })).toBeVisible()
})
