import { expect, test } from '../fixtures/deckhand.ts'

test.use({
  awaits: 'window',
  // The port comes from the machine's settings, where the choice is saved.
  env: { RUNNER_PORT: undefined },
  machineSettings: async ({ stranger }, use) => use({ runnerPort: stranger.port }),
})

test('a taken port is reported, another one is offered and saved, and the other program receives nothing', async ({
  deckhand,
  page,
  stranger,
}) => {
  const banner = page.getByRole('status').first()
  await expect(banner).toContainText(`Another program uses port ${stranger.port}, so the runner cannot start.`)
  const offer = page.getByRole('button', { name: /^Use port \d+$/ })
  const port = Number((await offer.innerText()).match(/\d+/)![0])
  expect(port).not.toBe(stranger.port)

  await offer.click()
  await deckhand.untilReady()
  await expect(banner).not.toContainText('Port')
  await expect(page.getByRole('heading', { name: 'Choose a model' })).toBeVisible()
  expect(deckhand.runnerUrl).toBe(`http://127.0.0.1:${port}`)
  expect((await fetch(`${deckhand.runnerUrl}/api/health`)).status).toBe(200)

  await deckhand.quit()
  await deckhand.start()
  await deckhand.untilReady()
  expect(deckhand.runnerUrl).toBe(`http://127.0.0.1:${port}`)
  await deckhand.client.ok('updateSettings', { body: { firstStart: 'done' } })
  await deckhand.page.goto('app://deckhand/settings/computer')
  await expect(deckhand.page.getByRole('main')).toContainText(`http://127.0.0.1:${port}`)

  expect({ connections: stranger.connections(), received: stranger.received() }).toEqual({ connections: 0, received: '' })
})
