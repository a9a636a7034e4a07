import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { postWebhook } from '../testing/webhook-sender.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'

/** The other program runs in this process, so a call that waited for the lock inside SQLite would never return. */
describe('another program that locks the database', () => {
  let runner: TestRunner
  let clock: HandClock
  let other: Sqlite.Database
  let agentId: string
  let hookUrl: string

  beforeEach(async () => {
    clock = createHandClock()
    runner = await createTestRunner({ clock })
    agentId = (await runner.addAgent()).id
    hookUrl = (await runner.client.ok('createTrigger', { body: { name: 'Hook', agentId, taskTemplate: 'Do {a}' } })).url
    other = new Sqlite(join(runner.dataDir, 'deckhand.db'))
  })
  afterEach(async () => {
    other.close()
    await runner.stop()
  })

  /** A job through group commit, a change in its own transaction, and a delivery. */
  const writes = () => [
    runner.client.ask('submitTask', { body: { task: 'Wait', agentId } }).then(({ status }) => status),
    runner.client.ask('createAgent', { body: { name: 'Another' } }).then(({ status }) => status),
    postWebhook(hookUrl, { body: { a: 1 } }).then(({ status }) => status),
  ]

  async function passTime(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 25) {
      clock.advance(25)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  it('makes writes wait and blocks no read while it is short', async () => {
    other.exec('BEGIN IMMEDIATE')
    const answers = Promise.all(writes())
    expect(await runner.client.ok('listAgents')).toMatchObject({ agents: [{ id: agentId }] })
    await passTime(3000)
    expect(await runner.client.ok('listJobs')).toEqual({ jobs: [], nextCursor: null })
    expect(await runner.client.ask('health')).toMatchObject({ status: 200 })
    other.exec('COMMIT')
    const ticking = setInterval(() => clock.advance(25), 1)
    expect(await answers).toEqual([202, 201, 202])
    clearInterval(ticking)
  })

  it('makes writes fail with 503 after five seconds, and they work when the lock is gone', async () => {
    other.exec('BEGIN IMMEDIATE')
    const answers = Promise.all(writes())
    const ticking = setInterval(() => clock.advance(25), 1)
    expect(await answers).toEqual([503, 503, 503])
    clearInterval(ticking)
    expect(await runner.client.ask('health')).toMatchObject({ status: 503, body: { db: 'locked' } })
    expect((await runner.client.ok('listAttention')).items).toMatchObject([
      { kind: 'database_trouble', title: { code: 'database_locked' } },
    ])
    other.exec('COMMIT')
    clock.advance(1000)
    expect(await runner.client.ask('health')).toMatchObject({ status: 200 })
    expect(await Promise.all(writes())).toEqual([202, 201, 202])
  })
})
