import type { Page } from '@playwright/test'
import { startWhatsAppServer, type WhatsAppServer } from '../../src-runner/testing/whatsapp-server/whatsapp-server.ts'
import { type Browser, startBrowser } from '../fixtures/browser.ts'
import { expect, test as base } from '../fixtures/deckhand.ts'
import {
  asPhone,
  changeTheme,
  expectAccessible,
  expectNoSidewaysScroll,
  expectTouchTargets,
  takePicture,
} from '../fixtures/screen-shots.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'
import { OWNER, signInOnPhone } from '../fixtures/share-on-network.ts'

const test = base.extend<{ whatsapp: WhatsAppServer; elsewhere: Browser; qrShownMs: string }>({
  // How long a code is shown; empty: as long as the service shows it.
  qrShownMs: ['', { option: true }],
  // oxlint-disable-next-line no-empty-pattern -- as below.
  elsewhere: async ({}, use) => {
    const browser = await startBrowser()
    await use(browser)
    await browser.close()
  },
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  whatsapp: async ({}, use) => {
    const server = await startWhatsAppServer()
    await use(server)
    await server.close()
  },
  env: async ({ whatsapp, qrShownMs }, use) => {
    const parts = [whatsapp.url, Buffer.from(whatsapp.rootKey).toString('hex'), ...(qrShownMs === '' ? [] : [qrShownMs])]
    await use({ DECKHAND_TEST_MESSENGER: parts.join('#') })
  },
})

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Connect WhatsApp' })

test('a person links their phone from an empty app, gets an answer in their own chat, unlinks it and links it again', async ({
  deckhand,
  page,
  models,
  whatsapp,
}) => {
  const agent = await setUpAgent(deckhand.client, models)
  await page.goto('app://deckhand/channels')
  await page.getByRole('button', { name: 'Connect channel' }).click()
  await page.getByRole('button', { name: /^WhatsApp/ }).click()
  const dialog = dialogOf(page)
  await expect(dialog).toContainText('A second number is safer')
  await takePicture(deckhand, 'whatsapp-begin')
  await dialog.getByRole('button', { name: 'Show code' }).click()
  await expect(dialog.getByRole('img', { name: 'QR code for WhatsApp' })).toBeVisible()
  await expect(dialog).toContainText(/New code in \d+ s/)
  await takePicture(deckhand, 'whatsapp-code')
  await expectAccessible(deckhand, 'whatsapp-code', 'light')
  await changeTheme(deckhand, 'dark')
  await expectAccessible(deckhand, 'whatsapp-code-dark', 'dark')
  await asPhone(deckhand, async () => {
    await expectNoSidewaysScroll(deckhand, 'whatsapp-code-phone')
    await takePicture(deckhand, 'whatsapp-code-phone')
  })
  await changeTheme(deckhand, 'light')

  // What the window shows, as a camera reads it.
  whatsapp.scan((await deckhand.client.ok('getPairing', { query: { agentId: agent.id } })).qr!)
  const linked = page.getByRole('dialog', { name: `${whatsapp.account.number} is linked` })
  await expect(linked).toContainText('open “Message yourself”')
  await takePicture(deckhand, 'whatsapp-linked')
  await linked.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('region', { name: whatsapp.account.number })).toContainText('Connected')

  models.play({ text: ['The fence is blue.'] })
  whatsapp.sayOnPhone('What colour is the fence?')
  await whatsapp.until(() => whatsapp.sent.some(({ text }) => text === 'The fence is blue.'))

  whatsapp.unlink()
  const card = page.getByRole('region', { name: whatsapp.account.number })
  await expect(card).toContainText('removed from the linked devices on the phone')
  await takePicture(deckhand, 'whatsapp-unlinked')
  await card.getByRole('button', { name: 'Link again' }).click()
  await dialog.getByRole('button', { name: 'Show code' }).click()
  await dialog.getByRole('button', { name: 'Cannot scan, or reading' }).click()
  await dialog.getByLabel('Phone number').fill(whatsapp.account.number)
  await dialog.getByRole('button', { name: 'Get code' }).click()
  await expect(dialog).toContainText(/[0-9A-Z]{4}-[0-9A-Z]{4}/)
  await takePicture(deckhand, 'whatsapp-type-code')
  const { code } = await deckhand.client.ok('getPairing', { query: { agentId: agent.id } })
  await whatsapp.typeCode(code!)
  await page
    .getByRole('dialog', { name: /is linked/ })
    .getByRole('button', { name: 'Done' })
    .click()
  await expect(card).toContainText('Connected')
  models.play({ text: ['Still blue.'] })
  whatsapp.sayOnPhone('And now?')
  await whatsapp.until(() => whatsapp.sent.some(({ text }) => text === 'Still blue.'))
})

test.describe('on another device of the network', () => {
  test.use({ qrShownMs: '2500' })

  test('an owner links WhatsApp by a renewed code and by a typed one, and a member sees the same state', async ({
    deckhand,
    models,
    whatsapp,
    elsewhere,
  }) => {
    const agent = await setUpAgent(deckhand.client, models)
    const phone = await signInOnPhone(deckhand, elsewhere.openTab)
    const pairing = () =>
      phone.evaluate(async (agentId) => {
        const headers = { 'x-deckhand-page': localStorage.getItem('deckhand.page-key')! }
        const response = await fetch(`/api/messenger/pairing?agentId=${agentId}`, { headers })
        return (await response.json()) as { qr: string | null; code: string | null }
      }, agent.id)
    const { origin } = new URL(phone.url())
    expect(new URL(origin).hostname).not.toBe('127.0.0.1')
    const at = { ...deckhand, page: phone }
    const dialog = dialogOf(phone)
    const code = dialog.getByRole('img', { name: 'QR code for WhatsApp' })

    await phone.goto(`${origin}/channels`)
    await phone.getByRole('button', { name: 'Connect channel' }).click()
    await phone.getByRole('button', { name: /^WhatsApp/ }).click()
    await takePicture(at, 'whatsapp-lan-begin')
    // The service is slow to give out a code.
    whatsapp.faults.connect.push('stall')
    await dialog.getByRole('button', { name: 'Show code' }).click()
    await expect(dialog.getByRole('status')).toContainText('Preparing a code…')
    whatsapp.cut()
    await expect(dialog.getByRole('alert')).toBeVisible()
    await dialog.getByRole('button', { name: 'Start again' }).click()
    await expect(code).toBeVisible()
    await expect(dialog).toContainText(/New code in \d+ s/)
    await expectNoSidewaysScroll(at, 'code on a phone')
    await expectTouchTargets(at, 'code on a phone')
    await takePicture(at, 'whatsapp-lan-code')
    const first = await code.locator('path').getAttribute('d')
    await expect(code.locator('path')).not.toHaveAttribute('d', first!)
    // Nobody scans the last one.
    await expect(dialog.getByRole('alert')).toContainText('The codes have expired', { timeout: 60_000 })
    await takePicture(at, 'whatsapp-lan-expired')
    await dialog.getByRole('button', { name: 'Start again' }).click()
    await expect(code).toBeVisible()
    // The login after the scan stands still until it is cut off.
    whatsapp.faults.connect.push('stall')
    whatsapp.scan((await pairing()).qr!)
    await expect(dialog.getByRole('status')).toContainText('Confirmed on the phone')
    await takePicture(at, 'whatsapp-lan-scanned')
    whatsapp.cut()
    const linked = phone.getByRole('dialog', { name: `${whatsapp.account.number} is linked` })
    await linked.getByRole('button', { name: 'Done' }).click()
    const card = phone.getByRole('region', { name: whatsapp.account.number })
    await expect(card).toContainText('Connected')
    await takePicture(at, 'whatsapp-lan-card')

    whatsapp.unlink()
    await card.getByRole('button', { name: 'Link again' }).click()
    await dialog.getByRole('button', { name: 'Show code' }).click()
    await dialog.getByRole('button', { name: 'Cannot scan, or reading' }).click()
    await dialog.getByLabel('Phone number').fill(whatsapp.account.number)
    await takePicture(at, 'whatsapp-lan-number')
    await dialog.getByRole('button', { name: 'Get code' }).click()
    await expect(dialog).toContainText(/[0-9A-Z]{4}-[0-9A-Z]{4}/)
    await takePicture(at, 'whatsapp-lan-type')
    await whatsapp.typeCode((await pairing()).code!)
    await linked.getByRole('button', { name: 'Done' }).click()
    await expect(card).toContainText('Connected')

    await phone.goto(`${origin}/settings/people`)
    await phone.getByRole('button', { name: 'Invite' }).click()
    await phone.getByRole('button', { name: 'Create link' }).click()
    const invitation = (await phone.locator('[data-link]').innerText()).trim()
    await phone.context().clearCookies()
    await phone.goto(invitation)
    await phone.getByLabel('Name').fill('Ben')
    await phone.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
    await phone.getByRole('button', { name: 'Create account' }).click()
    await expect(phone.getByRole('link', { name: 'Chat' })).toBeVisible()
    await phone.goto(`${origin}/channels`)
    await expect(card).toContainText('Connected')
    // Without the code, and with nothing to decide.
    await expect(card).not.toContainText('pairing code')
    await expect(phone.getByRole('button', { name: 'Connect channel' })).toHaveCount(0)
    expect(await pairing()).toEqual({ error: 'owner_only' })
    await expectNoSidewaysScroll(at, 'channels of a member')
    await takePicture(at, 'whatsapp-lan-member')
  })
})
