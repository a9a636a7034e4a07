import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '../fixtures/deckhand.ts'
import { asPhone, expectAccessible, expectNoSidewaysScroll, takePicture } from '../fixtures/screen-shots.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

test('everything is saved to a file, and its set-up is imported after a preview', async ({ deckhand, page, models }) => {
  const agent = await setUpAgent(deckhand.client, models)
  await deckhand.client.ok('createTrigger', { body: { name: 'Orders', agentId: agent.id, taskTemplate: 'Pack {order}.' } })
  await deckhand.client.ok('createRule', { body: { effect: 'allow', tool: 'read_file' } })
  models.play({ text: ['Done.'], usage: { input: 1, output: 1 } })
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Water the plants.', agentId: agent.id } })
  await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')

  const file = join(deckhand.dataDir, 'export.ndjson')
  // A test cannot use the system's dialog.
  await deckhand.app.evaluate(({ session }, path) => {
    session.defaultSession.on('will-download', (_event, item) => item.setSavePath(path))
  }, file)
  await page.goto('app://deckhand/settings/computer#export')
  await page.getByRole('button', { name: 'Export…' }).click()
  const lines = () => {
    try {
      return readFileSync(file, 'utf8').trim().split('\n')
    } catch {
      return []
    }
  }
  await expect.poll(() => lines().length).toBe(2)
  expect(lines()[1]).toContain('Water the plants.')

  await page.getByLabel('Export file').setInputFiles(file)
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await expect(dialog).toContainText('This adds 1 agent and 1 webhook.')
  await expect(dialog).toContainText('1 rule for all agents is left out')
  await takePicture(deckhand, 'import')
  await asPhone(deckhand, async () => {
    await takePicture(deckhand, 'import-phone')
    await expectNoSidewaysScroll(deckhand, 'import-phone')
  })
  await dialog.getByRole('button', { name: 'Import' }).click()
  await expect(page.getByText('Imported. Webhooks and schedules are paused.')).toBeVisible()
  expect((await deckhand.client.ok('listAgents')).agents.map(({ slug }) => slug).toSorted()).toEqual(['ada', 'ada-2'])
  const { triggers } = await deckhand.client.ok('listTriggers')
  expect(triggers.map(({ status }) => status)).toEqual(['paused', 'active'])
  await expectAccessible(deckhand, 'export', 'light')
  await takePicture(deckhand, 'export')
})
