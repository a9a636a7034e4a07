import type { Page } from '@playwright/test'
import { startWhatsAppServer, type WhatsAppServer } from '../../src-runner/testing/whatsapp-server/whatsapp-server.ts'
import { expect, test as base } from '../fixtures/deckhand.ts'
import { asPhone, changeTheme, expectAccessible, expectNoSidewaysScroll, takePicture } from '../fixtures/screen-shots.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const test = base.extend<{ whatsapp: WhatsAppServer }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  whatsapp: async ({}, use) => {
    const server = await startWhatsAppServer()
    await use(server)
    await server.close()
  },
  env: async ({ whatsapp }, use) => {
    await use({ DECKHAND_TEST_MESSENGER: `${whatsapp.url}#${Buffer.from(whatsapp.rootKey).toString('hex')}` })
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
  await dialog.getByRole('button', { name: 'Cannot scan?' }).click()
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
