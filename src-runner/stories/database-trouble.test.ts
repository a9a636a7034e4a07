import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROUTES, type Route, type RouteName } from '../contract/routes.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'

describe('a database in trouble', () => {
  let runner: TestRunner
  let clock: HandClock
  beforeEach(async () => {
    clock = createHandClock()
    runner = await createTestRunner({ clock })
  })
  afterEach(() => runner.stop())

  const health = async () => {
    const { status, body } = await runner.client.ask('health')
    return [status, (body as { db: string }).db]
  }

  it('reports damage in health, the health checks and the attention list from the first error', async () => {
    const live = await runner.client.stream('streamEvents')
    runner.damage('agent_jobs')
    expect(await runner.client.ask('listJobs')).toMatchObject({ status: 503, body: { error: 'database_unavailable' } })
    expect(await health()).toEqual([503, 'damaged'])
    const { checks } = await runner.client.ok('getDoctor')
    expect(checks.find(({ name }) => name === 'database')).toMatchObject({
      state: 'problem',
      finding: { code: 'database_damaged' },
      fix: { code: 'database_damaged_fix' },
    })
    const { items } = await runner.client.ok('listAttention')
    expect(items).toMatchObject([{ kind: 'database_trouble', title: { code: 'database_damaged' } }])
    expect(runner.notifications).toMatchObject([
      { kind: 'database_trouble', title: { code: 'database_damaged' }, path: '/settings/health' },
    ])
    for await (const { event, data } of live.events) {
      if (event !== 'database.changed') continue
      expect(data).toEqual({ trouble: 'damaged' })
      break
    }
    live.close()
  })

  it('goes on when the timer that reports to the desktop cannot read, and logs why', async () => {
    await runner.client.ok('updateSettings', { body: { concurrency: 2 } })
    runner.breakDatabase()
    clock.advance(50)
    expect(runner.reports).toEqual([])
    expect(runner.logLines.filter((line) => line.includes('scheduled work failed')).join('\n')).toContain(
      'The database connection is not open',
    )
    expect(await health()).toEqual([503, 'unavailable'])
  })

  it('finds damage above 64 MB when the app is idle, and says so in health', async () => {
    runner.write((tx) => {
      for (let i = 0; i < 70; i++) tx.emit({ type: 'settings.changed', payload: { keys: ['x'.repeat(1_000_000)] } })
    })
    await runner.restart()
    // Nothing of what people do reads this table.
    runner.damage('webhook_refusals')
    expect(await health()).toEqual([200, 'ok'])
    clock.advance(60_000)
    clock.advance(60_000)
    await expect.poll(health).toEqual([503, 'damaged'])
    const { checks } = await runner.client.ok('getDoctor')
    expect(checks.find(({ name }) => name === 'database')).toMatchObject({ state: 'problem', finding: { code: 'database_damaged' } })
    expect(runner.notifications).toMatchObject([{ kind: 'database_trouble' }])
  })

  it('serves every read while the file is read-only', async () => {
    const agent = await runner.addAgent()
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    await runner.ended(jobId)
    runner.forbidWriting()
    // Streams do not end, and paths with parameters need an id.
    const names = (Object.keys(ROUTES) as RouteName[]).filter((name) => {
      const route: Route = ROUTES[name]
      return route.method === 'GET' && route.stream !== true && !route.path.includes(':')
    })
    expect(names.length).toBeGreaterThan(15)
    const refused: string[] = []
    for (const name of names) {
      const { status } = await fetch(`${runner.url}${ROUTES[name].path}`)
      if (status >= 500) refused.push(`${name} ${status}`)
    }
    expect(refused).toEqual([])
    expect((await runner.client.ok('listJobs', { query: { q: 'hel' } })).jobs).toMatchObject([{ id: jobId }])
    expect(await runner.client.ok('getJob', { params: { jobId } })).toMatchObject({ job: { id: jobId } })
  })

  it('takes no work while its file is moved away, and goes on a second after it is back', async () => {
    const agent = await runner.addAgent()
    const file = join(runner.dataDir, 'deckhand.db')
    renameSync(file, `${file}.away`)
    expect(await health()).toEqual([503, 'unavailable'])
    const body = { task: 'x', agentId: agent.id }
    expect(await runner.client.ask('submitTask', { body })).toMatchObject({ status: 503, body: { error: 'database_unavailable' } })
    expect(runner.notifications).toMatchObject([{ kind: 'database_trouble' }])
    renameSync(`${file}.away`, file)
    clock.advance(1000)
    expect(await health()).toEqual([200, 'ok'])
    expect((await runner.client.ok('listJobs')).jobs).toEqual([])
    expect((await runner.client.ask('submitTask', { body })).status).toBe(202)
  })

  it('reports a read-only file in health, keeps reading, and recovers a second after it is writable', async () => {
    const agent = await runner.addAgent()
    const allow = runner.forbidWriting()
    expect(await runner.client.ask('submitTask', { body: { task: 'x', agentId: agent.id } })).toMatchObject({ status: 503 })
    expect(await health()).toEqual([503, 'read_only'])
    expect((await runner.client.ok('listAttention')).items).toMatchObject([
      { kind: 'database_trouble', title: { code: 'database_read_only' } },
    ])
    expect(await runner.client.ok('listAgents')).toMatchObject({ agents: [{ id: agent.id }] })
    // Maintenance writes nothing now, so its success proves nothing.
    clock.advance(60_000)
    expect(await health()).toEqual([503, 'read_only'])
    expect(runner.notifications).toMatchObject([{ kind: 'database_trouble' }])
    allow()
    clock.advance(1000)
    expect(await health()).toEqual([200, 'ok'])
    expect((await runner.client.ok('listAttention')).items).toEqual([])
  })
})
