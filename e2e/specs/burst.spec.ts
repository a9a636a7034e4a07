import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

test.use({ env: { LOG_LEVEL: 'debug' } })

test('after a burst of writes a separate thread checkpoints the database', async ({ deckhand, models }) => {
  const { id: agentId } = await setUpAgent(deckhand.client, models, {})
  await deckhand.client.ok('updateSettings', { body: { pauseAll: true } })
  const task = 'Look at this. '.repeat(6000)
  for (let i = 0; i < 200; i++) await deckhand.client.ok('submitTask', { body: { task, agentId } })
  const folder = join(deckhand.dataDir, 'logs')
  const logged = () =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('')
  await expect.poll(logged).toContain('copied outside the event loop')
  expect(logged()).not.toContain('without a thread of its own')
  const { jobs } = await deckhand.client.ok('listJobs', { query: { status: 'pending', limit: 5 } })
  expect(jobs).toHaveLength(5)
})
