import { expect, test } from '../fixtures/deckhand.ts'

test('the app starts: a window with a page, and two healthy servers', async ({ deckhand }) => {
  await expect(deckhand.page).toHaveTitle(/Deckhand/)
  await expect(deckhand.page.getByRole('main')).toBeVisible()

  for (const url of [deckhand.runnerUrl, deckhand.dashboardUrl]) {
    const answer = await fetch(`${url}/api/health`)
    expect(answer.status, url).toBe(200)
    expect(await answer.json(), url).toMatchObject({ ok: true })
  }
})

test.describe('after a crash', () => {
  test.use({ scenario: 'after-a-crash' })

  test('interrupted jobs finish by themselves after a restart', async ({ deckhand }) => {
    await expect
      .poll(async () => {
        const { jobs } = await deckhand.client.ok('listJobs', {})
        return jobs.filter((job) => job.status !== 'completed').map((job) => job.title)
      })
      .toEqual([])
  })

  test('accepted jobs survive a power cut', async ({ deckhand }) => {
    const { jobId } = await deckhand.client.ok('submitTask', { body: { task: 'Say hello' } })
    await deckhand.kill()
    await deckhand.start()
    await expect.poll(async () => (await deckhand.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')
  })
})
