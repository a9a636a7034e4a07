import { afterEach, describe, expect, it } from 'vitest'
import { createIds } from '../lib/ids.ts'
import { createHandClock } from '../testing/hand-clock.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'

describe('accepted means kept', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  it('every accepted task is on disk when its response arrives, even among hundreds', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    await runner.client.ok('updateSettings', { body: { concurrency: 1 } })
    runner.modelServer.play({ fault: { kind: 'stall', afterFrames: 0 } })
    const submitted = await Promise.all(
      Array.from({ length: 200 }, (_, i) => runner.client.ok('submitTask', { body: { task: `task ${i}`, agentId: agent.id } })),
    )
    // The copy is made in the turn of the last response, so nothing has time to settle.
    await runner.restart({ crash: true, config: { safeMode: true } })
    const kept = new Set<string>()
    for (let cursor: string | undefined; ;) {
      const page = await runner.client.ok('listJobs', { query: { limit: 200, cursor } })
      for (const job of page.jobs) kept.add(job.id)
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    expect(submitted.filter(({ jobId }) => !kept.has(jobId))).toEqual([])
    expect(kept.size).toBe(200)
  })

  it('a task whose commit fails is refused without a trace, and the others are kept', async () => {
    const ids = createIds(() => Date.now())
    let failing = false
    let made = 0
    const faulty = {
      next: () => {
        if (failing && ++made % 2 === 0) throw new Error('the fault of this test')
        return ids.next()
      },
    }
    runner = await createTestRunner({ ids: faulty })
    const agent = await runner.addAgent()
    failing = true
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => runner.client.ask('submitTask', { body: { task: `task ${i}`, agentId: agent.id } })),
    )
    failing = false
    const refused = answers.filter((answer) => answer.status !== 202)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(10)
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 500, body: { error: 'job_creation_failed', message: expect.any(String) } })
      expect(JSON.stringify(answer.body)).not.toContain('the fault of this test')
    }
    expect(runner.logLines.join('')).toContain('the fault of this test')
    const { jobs } = await runner.client.ok('listJobs')
    const accepted = answers.flatMap((answer) => (answer.status === 202 ? [(answer.body as { jobId: string }).jobId] : []))
    expect(jobs.map((job) => job.id).sort()).toEqual(accepted.sort())
  })

  it('a full disk refuses tasks and pauses work until there is room', async () => {
    const clock = createHandClock()
    runner = await createTestRunner({ clock })
    const agent = await runner.addAgent()
    const held = runner.modelServer.holdBefore(0)
    const early = await runner.client.ok('submitTask', { body: { task: 'early', agentId: agent.id } })
    await runner.modelServer.untilReceived(1)
    const makeRoom = runner.fillDisk()
    const big = { task: 'x'.repeat(100_000), agentId: agent.id }
    expect(await runner.client.ask('submitTask', { body: big })).toMatchObject({ status: 503, body: { error: 'disk_full' } })
    held.release()
    expect((await runner.client.ok('listJobs')).jobs.map((job) => job.id)).toEqual([early.jobId])
    makeRoom()
    const late = await runner.client.ok('submitTask', { body: big })
    for (const { jobId } of [early, late]) {
      const ended = runner.ended(jobId)
      let done = false
      void ended.then(() => (done = true))
      // Work that pauses for the full disk tries again after a while.
      while (!done) {
        clock.advance(1000)
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(await ended).toMatchObject({ status: 'completed' })
    }
  })

  it('health answers 503 in the same shape when the database is gone', async () => {
    runner = await createTestRunner()
    expect(await runner.client.ask('health')).toEqual({ status: 200, body: { ok: true, db: 'ok', llm: 'unchecked' } })
    runner.breakDatabase()
    expect(await runner.client.ask('health')).toEqual({ status: 503, body: { ok: false, db: 'unavailable', llm: 'unchecked' } })
    const answer = await runner.client.ask('submitTask', { body: { task: 'x' } })
    expect([answer.status, (answer.body as { error: string }).error]).toEqual([503, 'database_unavailable'])
  })

  it('timers log an unreadable database and end nothing', async () => {
    const clock = createHandClock()
    runner = await createTestRunner({ clock })
    await runner.client.ok('updateSettings', { body: { pauseAll: true } })
    runner.breakDatabase()
    // First the report to the host, then all periodic work.
    for (const ms of [1000, 60_000, 3_600_000, 24 * 3_600_000]) clock.skip(ms)
    expect(runner.logLines.join('\n')).toContain('scheduled work failed this time: The database connection is not open')
    expect((await runner.client.ask('health')).status).toBe(503)
  })
})
