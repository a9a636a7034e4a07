import { expect, test } from '../fixtures/deckhand.ts'

test.use({ scenario: 'busy-day' })

test('palette, help and search open with a key', async ({ deckhand, page }) => {
  await deckhand.client.ok('updateSettings', { body: { firstStart: 'done' } })
  await page.goto('app://deckhand/')
  await expect(page.getByRole('heading', { name: 'Home' })).toBeVisible()

  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  await expect(palette.getByRole('combobox')).toBeFocused()
  await page.keyboard.type('bruno')
  await expect(palette.getByRole('option')).toHaveCount(1)
  await page.keyboard.press('Enter')
  await expect(palette).toBeHidden()
  await expect(page.getByRole('heading', { name: 'What should Bruno do?' })).toBeVisible()

  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('activ')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Activity' })).toBeVisible()

  await page.keyboard.press('/')
  const search = page.getByRole('searchbox')
  await expect(search).toBeFocused()
  await page.keyboard.type('1042')
  await expect(page.getByText('Answer about order 1042')).toBeVisible()
  await expect(page.getByText('Morning summary')).toBeHidden()
  // In a field, letters are text.
  await page.keyboard.type('?')
  await expect(search).toHaveValue('1042?')

  await page.getByRole('heading', { name: 'Activity' }).click()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(help).toContainText('Command palette')
  await page.keyboard.press('Escape')
  await expect(help).toBeHidden()

  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible()
})
