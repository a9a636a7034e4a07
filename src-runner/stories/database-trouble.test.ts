import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROUTES, type Route, type RouteName } from '../contract/routes.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'

describe('a database in trouble', { timeout: 30_000 }, () => {
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

  it('that is damaged: health, the health checks and the list of what needs the person say so from the first error on', async () => {
    const live = await runner.client.stream('streamEvents')
    runner.damage('agent_jobs')
    expect(await runner.client.ask('listJobs')).toMatchObject({ status: 503, body: { error: 'database_unavailable' } })
    expect(await health()).toEqual([503, 'damaged'])
    const { checks } = await runner.client.ok('getDoctor')
    expect(checks.find(({ name }) => name === 'database')).toMatchObject({
      ...{ state: 'problem', fixKind: 'database_damaged', finding: { code: 'database_trouble', trouble: 'damaged' } },
    })
    const { items } = await runner.client.ok('listAttention')
    expect(items).toMatchObject([{ kind: 'database_trouble', about: { trouble: 'damaged' }, title: 'The database is damaged' }])
    expect(runner.notices).toMatchObject([{ kind: 'database_trouble', about: { trouble: 'damaged' }, path: '/settings/health' }])
    for await (const { event, data } of live.events) {
      if (event !== 'database.changed') continue
      expect(data).toEqual({ trouble: 'damaged' })
      break
    }
    live.close()
  })

  it('that may only be read: everything can be read', async () => {
    const agent = await runner.addAgent()
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    await runner.ended(jobId)
    runner.forbidWriting()
    // A stream does not end; a path with a name in it needs that.
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

  it('that may only be read: health says so, reading goes on, and it works again a second after it may be written', async () => {
    const agent = await runner.addAgent()
    const allow = runner.forbidWriting()
    expect(await runner.client.ask('submitTask', { body: { task: 'x', agentId: agent.id } })).toMatchObject({ status: 503 })
    expect(await health()).toEqual([503, 'read_only'])
    expect((await runner.client.ok('listAttention')).items).toMatchObject([{ kind: 'database_trouble', about: { trouble: 'read_only' } }])
    expect(await runner.client.ok('listAgents')).toMatchObject({ agents: [{ id: agent.id }] })
    // Upkeep writes nothing now, so that it does not fail says nothing.
    clock.advance(60_000)
    expect(await health()).toEqual([503, 'read_only'])
    expect(runner.notices).toMatchObject([{ kind: 'database_trouble' }])
    allow()
    clock.advance(1000)
    expect(await health()).toEqual([200, 'ok'])
    expect((await runner.client.ok('listAttention')).items).toEqual([])
  })
})
