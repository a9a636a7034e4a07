import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HistoryLine, Setup } from '../contract/export.ts'
import { addChannel } from '../testing/add-channel.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { postWebhook } from '../testing/webhook-sender.ts'

const runners: TestRunner[] = []
const open = async () => {
  const runner = await createTestRunner()
  runners.push(runner)
  return runner
}
afterEach(() => Promise.all(runners.splice(0).map((runner) => runner.stop())))

const DEMO = { providerId: 'demo', model: 'demo' }

/** Everything that can be exported, in one of each kind. */
async function setUp(runner: TestRunner, folders: string[]): Promise<{ agentId: string; address: string }> {
  const { client } = runner
  const { agent } = await client.ok('createAgent', {
    body: { name: 'Ada', avatar: '🦉', instructions: 'Be brief.', model: DEMO, autonomy: 'on_its_own', folders, budgets: { dayUsd: 3 } },
  })
  await client.ok('createAgent', { body: { name: 'Ben', fallbacks: [DEMO] } })
  const agentId = agent.id
  const signature = { scheme: 'github' as const, secret: 'signing-secret-0123456789' }
  const { url } = await client.ok('createTrigger', {
    body: { name: 'Orders', agentId, taskTemplate: 'Pack {order}.', dedupe: true, signature },
  })
  await client.ok('createTrigger', { body: { name: 'Nobody', taskTemplate: 'x' } })
  const task = { agentId, cron: '0 9 * * 1', timezone: 'Europe/Berlin', task: 'Water the plants.' }
  addChannel(runner, agentId)
  await client.ok('createSchedule', { body: { ...task, name: 'Plants', dailyBudgetUsd: 2, catchUpHours: 3, notifyOnSuccess: true } })
  await client.ok('createRule', { body: { effect: 'allow', tool: 'read_file', folder: folders[0]! } })
  await client.ok('createRule', { body: { effect: 'deny', tool: 'web_fetch', agentId } })
  await client.ok('createMemory', { body: { agentId, text: 'Likes tea.' } })
  await client.ok('createMemory', { body: { agentId: null, text: 'The office is in Kiel.' } })
  await client.ok('updateSettings', { body: { concurrency: 7, dayBudgetUsd: 12.5 } })
  return { agentId, address: url }
}

const headOf = async ({ client }: TestRunner) => client.ok('exportSetup')
const importInto = ({ client }: TestRunner, head: object, dryRun = false) => client.ask('importSetup', { body: { head, dryRun } })

describe('an export', () => {
  let old: TestRunner
  let folder: string
  let made: { agentId: string; address: string }
  beforeEach(async () => {
    old = await open()
    folder = old.makeFolder()
    made = await setUp(old, [folder])
  })

  it('is the same again after it was imported into a fresh installation', async () => {
    const fresh = await open()
    const head = await headOf(old)
    const preview = await importInto(fresh, head, true)
    expect(preview).toMatchObject({
      status: 200,
      body: {
        result: {
          ...{ agents: ['Ada', 'Ben'], triggers: ['Orders', 'Nobody'], schedules: ['Plants'], rules: 2, allowRules: 1, memories: 2 },
          ...{ settings: true, rulesLeftOut: 0, modelsUnknown: 0 },
        },
      },
    })
    expect((await headOf(fresh)).setup.agents, 'a preview makes nothing').toEqual([])
    expect(await importInto(fresh, head)).toEqual(preview)
    expect((await headOf(fresh)).setup).toEqual(head.setup)
    expect(JSON.stringify(head)).not.toMatch(/signing-secret|"id"/)
  })

  it('makes nothing that runs by itself: webhooks get new secrets, and they and schedules are paused', async () => {
    const fresh = await open()
    await importInto(fresh, await headOf(old))
    const { triggers } = await fresh.client.ok('listTriggers')
    expect(triggers.map(({ status }) => status)).toEqual(['paused', 'paused'])
    expect((await fresh.client.ok('listSchedules')).schedules.map(({ status }) => status)).toEqual(['paused'])
    const old404 = await postWebhook(new URL(new URL(made.address).pathname, fresh.url).href)
    await fresh.client.ok('resumeTrigger', { params: { triggerId: triggers.find(({ name }) => name === 'Orders')!.id } })
    expect([old404.status, (await postWebhook(new URL(new URL(made.address).pathname, fresh.url).href)).status]).toEqual([404, 404])
  })

  it('is imported beside what is there under new names, and gives the others no new permission', async () => {
    const head = await headOf(old)
    expect(await importInto(old, head)).toMatchObject({ body: { result: { rules: 1, rulesLeftOut: 1, settings: false } } })
    const { agents } = await old.client.ok('listAgents')
    expect(agents.map(({ slug }) => slug).toSorted()).toEqual(['ada', 'ada-2', 'ben', 'ben-2'])
    const { triggers } = await old.client.ok('listTriggers')
    expect(new Set(triggers.map(({ slug }) => slug)).size).toBe(4)
    const shared = (await old.client.ok('listMemories', { query: { agentId: 'shared' } })).memories
    expect(shared.map(({ untrusted }) => untrusted)).toEqual([true, false])
  })

  it('holds conversations and jobs with their steps, page by page', async () => {
    const { agentId } = made
    for (let n = 0; n < 25; n++) await old.client.ok('chat', { body: { agentId, message: `Hello ${n}` } })
    const lines: HistoryLine[] = []
    let pages = 0
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const page = await old.client.ok('exportHistory', { query: cursor === undefined ? {} : { cursor } })
      lines.push(...page.lines)
      cursor = page.nextCursor
    }
    expect(pages).toBe(4)
    const jobs = lines.flatMap((line) => (line.kind === 'job' ? [line] : []))
    const conversations = lines.flatMap((line) => (line.kind === 'conversation' ? [line] : []))
    expect(new Set(jobs.map(({ job }) => job.task)).size).toBe(25)
    expect(jobs.every(({ steps }) => steps.some(({ kind }) => kind === 'reply'))).toBe(true)
    expect(conversations.map(({ messages }) => messages.length)).toEqual(Array(25).fill(2))
  })

  it('is refused, with the reason and all or nothing, if it is hostile', async () => {
    const fresh = await open()
    const head = await headOf(old)
    const { setup } = head
    const changed = (change: Partial<Record<keyof Setup, unknown>>) => ({ ...head, setup: { ...setup, ...change } })
    const [ada] = setup.agents
    const [plants] = setup.schedules
    const cases: [string, object, number, string][] = [
      ['a newer version', { ...head, version: 2 }, 422, 'import_refused'],
      ['another file', { hello: 'world' }, 400, 'invalid_request'],
      ['no set-up', { ...head, setup: 7 }, 422, 'import_refused'],
      ['an unknown field', changed({ secrets: [] } as never), 422, 'import_refused'],
      ['too many agents', changed({ agents: Array(501).fill({ ...ada, folders: [] }) }), 422, 'import_refused'],
      ['an agent that is not there', changed({ schedules: [{ ...plants, agent: 9 }] }), 422, 'import_refused'],
      ['a place before the first', changed({ schedules: [{ ...plants, agent: -1 }] }), 422, 'import_refused'],
      ['no real time zone', changed({ schedules: [{ ...plants, timezone: 'Moon/Base' }] }), 400, 'invalid_request'],
      ['our own folder', changed({ agents: [{ ...ada, folders: [fresh.dataDir] }] }), 422, 'folder_not_usable'],
      [
        'a prototype',
        JSON.parse(JSON.stringify(head).replace('"agents":[', '"__proto__":{"agents":[]},"agents":[')) as object,
        422,
        'import_refused',
      ],
    ]
    for (const [name, file, status, error] of cases) {
      const answer = await importInto(fresh, file)
      expect([name, answer.status, (answer.body as { error: string }).error]).toEqual([name, status, error])
    }
    // The last memory does not fit any more, after everything else was made.
    const full = changed({ memories: Array.from({ length: 5001 }, (_, n) => ({ agent: 0, text: `m${n}`, untrusted: false })) })
    expect(await importInto(fresh, full)).toMatchObject({ status: 409, body: { error: 'memory_full' } })
    expect((await headOf(fresh)).setup.agents).toEqual([])
  })
})
