import type { Page } from '@playwright/test'
import { expect, test } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

const PIECES = ['Once ', 'there ', 'was ', 'a ', 'lighthouse ', 'that ', 'never ', 'slept.']

async function ask(page: Page, message: string): Promise<void> {
  await page.goto('app://deckhand/chat')
  await page.getByRole('textbox', { name: 'Message' }).fill(message)
  await page.keyboard.press('Enter')
}

test('a reloaded page continues with the streaming reply', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  models.play({ text: PIECES, usage: { input: 50, output: 8 } })
  const held = models.holdBefore(4)
  await ask(page, 'Tell me a story')
  const answers = page.getByRole('group', { name: 'Chat' })
  await expect(answers).toContainText('Once there was')

  await page.reload()
  await expect(answers).toContainText('Tell me a story')
  await expect(answers).toContainText('Once there was')
  held.release()
  // The whole text, once.
  await expect(answers.getByText(PIECES.join(''), { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden()
  await expect(answers.getByText(PIECES.join(''), { exact: true })).toHaveCount(1)

  // The same again from the record alone.
  await page.reload()
  await expect(answers.getByText(PIECES.join(''), { exact: true })).toHaveCount(1)
  expect(models.received.filter(({ path }) => path.endsWith('/chat/completions'))).toHaveLength(1)
})

test('Stop ends the reply and keeps the text so far', async ({ deckhand, page, models }) => {
  await setUpAgent(deckhand.client, models)
  models.play({ text: PIECES })
  const held = models.holdBefore(6)
  await ask(page, 'Tell me a story')
  const answers = page.getByRole('group', { name: 'Chat' })
  await expect(answers).toContainText('Once there was a lighthouse')

  const hungUp = models.untilHungUp()
  await page.getByRole('button', { name: 'Stop' }).click()
  await hungUp
  await expect(answers).toContainText('Stopped. The partial reply is kept.')
  await page.reload()
  await expect(answers).toContainText('Once there was a lighthouse')
  await expect(answers).toContainText('Stopped. The partial reply is kept.')

  // The conversation goes on from there.
  held.release()
  models.play({ text: ['Where was I?'] })
  await page.getByRole('textbox', { name: 'Message' }).fill('Go on')
  await page.keyboard.press('Enter')
  await expect(answers).toContainText('Where was I?')
  expect(JSON.stringify(models.received.findLast(({ path }) => path.endsWith('/chat/completions'))!.body)).toContain(
    'Once there was a lighthouse',
  )
})
