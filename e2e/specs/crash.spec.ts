import { expect, test } from '../fixtures/deckhand.ts'
import { createRealFolder } from '../fixtures/real-folder.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'

test('a job survives a crash of the runner and repeats no recorded step', async ({ deckhand, page, models }) => {
  const folder = createRealFolder({ 'plan.md': 'Paint the fence on Saturday.\n' })
  const agent = await setUpAgent(deckhand.client, models, { folders: [folder.path] })
  models.play(
    {
      text: ['I read the plan.'],
      toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: `${folder.path}/plan.md` } }],
      usage: { input: 100, output: 10 },
    },
    ...Array(2).fill({ text: [...'You paint the fence on Saturday.'], usage: { input: 200, output: 20 } }),
  )
  // The process dies in the middle of the second reply.
  const held = models.holdBefore(1 + 'You paint the'.length)
  const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'What is the plan?', agentId: agent.id } })
  await page.goto(`app://deckhand/jobs/${jobId}`)
  await expect(page.getByText('You paint the', { exact: true })).toBeVisible()

  const before = await deckhand.runnerPid()
  const banner = page.getByRole('status').filter({ hasText: 'The runner stopped and is restarting' })
  const told = banner.waitFor({ state: 'visible' })
  process.kill(before, 'SIGKILL')
  held.release()
  await told
  await expect(banner).toBeHidden()
  await deckhand.untilReady()
  expect(await deckhand.runnerPid()).not.toBe(before)

  const main = page.getByRole('main')
  await expect(main.getByText('Completed', { exact: true })).toBeVisible()
  await expect(main).toContainText('You paint the fence on Saturday.')
  await expect(page.getByText('Attempt 2')).toBeVisible()
  await expect(page.getByRole('button', { name: /^Read .*plan\.md/ })).toHaveCount(1)

  const asked = models.received.filter(({ path }) => path.endsWith('/chat/completions'))
  expect(asked).toHaveLength(3)
  // The next attempt repeats the last request, which contains the file that was read.
  expect(JSON.stringify(asked[2]!.body)).toContain('Paint the fence on Saturday.')
  expect(asked[2]!.body).toEqual(asked[1]!.body)

  const { steps } = await deckhand.client.ok('listSteps', { params: { jobId } })
  expect(steps.map(({ seq, kind, attempt }) => [seq, kind, attempt])).toEqual([
    [1, 'reply', 1],
    [2, 'tool_result', 1],
    [3, 'reply', 2],
  ])
  folder.remove()
})
