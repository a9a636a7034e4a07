import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HistoryLine, Setup } from '../contract/export.ts'
import { credentialKey } from '../lib/vault.ts'
import { systemClock } from '../lib/clock.ts'
import { createIds } from '../lib/ids.ts'
import { insertCredential, type NewCredential } from '../domain/credentials/credentials.ts'
import { listConnectors } from '../domain/connectors/connectors.ts'
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
          agents: ['Ada', 'Ben'],
          triggers: ['Orders', 'Nobody'],
          signedTriggers: ['Orders'],
          schedules: ['Plants'],
          rules: 2,
          allowRules: 1,
          memories: 2,
          settings: true,
          rulesLeftOut: 0,
          modelsUnknown: 0,
          autonomousAgents: ['Ada'],
          folders: [folder],
          foldersLeftOut: [],
        },
      },
    })
    expect((await headOf(fresh)).setup.agents, 'a preview makes nothing').toEqual([])
    expect(await importInto(fresh, head)).toEqual(preview)
    expect((await headOf(fresh)).setup).toEqual(head.setup)
    expect(JSON.stringify(head)).not.toMatch(/signing-secret|"id"/)
  })

  it('from another computer is imported without the folders that are not here', async () => {
    const head = await headOf(old)
    const [ada, ben] = head.setup.agents
    const gone = `${folder}-gone`
    const agents = [
      { ...ada!, folders: [gone, folder, 'C:\\Users\\Ada'] },
      { ...ben!, folders: [gone] },
    ]
    const fresh = await open()
    const expected = { folders: [folder], foldersLeftOut: [gone, 'C:\\Users\\Ada'] }
    const file = { ...head, setup: { ...head.setup, agents } }
    expect(await importInto(fresh, file, true)).toMatchObject({ status: 200, body: { result: expected } })
    expect(await importInto(fresh, file)).toMatchObject({ status: 200, body: { result: expected } })
    expect((await headOf(fresh)).setup.agents.map(({ folders }) => folders)).toEqual([[folder], []])
  })

  it('holds connections without what signs in, with the hosts and addresses of the catalogue', async () => {
    const { agent } = await old.client.ok('getAgent', { params: { agentId: made.agentId } })
    const gitlab = listConnectors().find(({ slug }) => slug === 'gitlab')!
    const endpoints = { ...gitlab.oauth!, fields: { domain: 'git.ada.example' }, namesItself: false }
    const add = async (fields: Pick<NewCredential, 'connector' | 'kind' | 'name' | 'hosts'> & Partial<NewCredential>) => {
      const id = createIds(() => Date.now()).next()
      await old.vault.set(credentialKey(id), 'canary-token')
      const fixed = {
        id,
        entityId: agent.entityId,
        accountName: 'ada@shop.example',
        scopes: [],
        agents: [{ agentId: agent.id, access: 'read' as const }],
      }
      old.write((tx) => void insertCredential(tx, { clock: systemClock }, { ...fixed, ...fields }))
    }
    await add({ connector: 'api-key', kind: 'api_key', name: 'Shop', hosts: ['api.shop.example', 'api_v2.shop.example'] })
    await add({ connector: 'gitlab', kind: 'oauth2', name: 'Work', hosts: ['git.ada.example'], endpoints, scopes: ['api'] })
    await add({ connector: 'github', kind: 'api_key', name: 'GitHub', hosts: ['api.github.com', 'uploads.github.com'] })
    await add({ connector: 'generic-oauth2', kind: 'oauth2', name: 'Other', hosts: ['a.example'], endpoints })
    const head = await headOf(old)
    expect(JSON.stringify(head)).not.toMatch(/canary-token|ada@shop/)
    const text = JSON.stringify(head).replace('"api.github.com"', '"evil.example"')
    const fresh = await open()
    expect(await importInto(fresh, JSON.parse(text) as object)).toMatchObject({
      body: {
        result: {
          connections: ['Shop', 'Work', 'GitHub'],
          connectionHosts: ['api.shop.example', 'api_v2.shop.example', 'git.ada.example', 'api.github.com', 'uploads.github.com'],
        },
      },
    })
    const { credentials } = await fresh.client.ok('listCredentials')
    expect(credentials.map(({ name, hosts, status, problem, agents }) => [name, hosts, status, problem?.code, agents.length])).toEqual([
      ['GitHub', ['api.github.com', 'uploads.github.com'], 'needs_sign_in', 'credential_imported', 1],
      ['Work', ['git.ada.example'], 'needs_sign_in', 'credential_imported', 1],
      ['Shop', ['api.shop.example', 'api_v2.shop.example'], 'needs_sign_in', 'credential_imported', 1],
    ])
    expect((await headOf(fresh)).setup.connections).toEqual(head.setup.connections)
  })

  it('makes nothing that runs by itself: webhooks get new secrets, and they and schedules are paused', async () => {
    const fresh = await open()
    await importInto(fresh, await headOf(old))
    const { triggers } = await fresh.client.ok('listTriggers')
    expect(triggers.map(({ status }) => status)).toEqual(['paused', 'paused'])
    expect((await fresh.client.ok('listSchedules')).schedules.map(({ status }) => status)).toEqual(['paused'])
    const old404 = await postWebhook(new URL(new URL(made.address).pathname, fresh.url).href)
    const resume = (wanted: string) =>
      fresh.client.ask('resumeTrigger', { params: { triggerId: triggers.find(({ name }) => name === wanted)!.id } })
    expect(await resume('Orders'), 'its signing secret is missing').toMatchObject({
      status: 409,
      body: { error: 'trigger_has_no_signing_secret' },
    })
    expect(await resume('Nobody')).toMatchObject({ status: 200, body: { trigger: { status: 'active' } } })
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

  const historyOf = async ({ client }: TestRunner): Promise<HistoryLine[]> => {
    const lines: HistoryLine[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await client.ok('exportHistory', { query: cursor === undefined ? {} : { cursor } })
      lines.push(...page.lines)
      cursor = page.nextCursor
    }
    return lines
  }

  it('adds its history to a fresh installation as records, once, with what was spent', async () => {
    const { agentId } = made
    const { conversationId } = await old.client.ok('chat', { body: { agentId, message: 'Hello ferns' } })
    await old.client.ok('chat', { body: { agentId, message: 'Again', conversationId } })
    const agent = await old.addAgent()
    old.modelServer.play({ text: ['Priced.'], usage: { input: 1_000_000, output: 1_000_000 } })
    const { providerId, model } = agent.model!
    const price = { inputUsdPerMillion: 2, outputUsdPerMillion: 2 }
    await old.client.ok('setModelPrice', { body: { model: { providerId, model }, price } })
    const { jobId } = await old.client.ok('submitTask', { body: { task: 'Costly', agentId: agent.id } })
    await old.ended(jobId)
    const lines = await historyOf(old)
    const spent = await old.client.ok('getSpend', { query: { by: 'day' } })
    expect(spent.totalUsd).toBeGreaterThan(1)

    const fresh = await open()
    await importInto(fresh, await headOf(old))
    await fresh.client.ok('updateSettings', { body: { dayBudgetUsd: 1 } })
    const add = async () => (await fresh.client.ok('importHistory', { body: { lines } })).result
    expect(await add()).toEqual({ conversations: 1, jobs: 3, known: 0 })
    expect(await add()).toEqual({ conversations: 0, jobs: 0, known: 4 })
    const { jobs } = await fresh.client.ok('listJobs', { query: {} })
    expect(jobs.map(({ id, status }) => [id === jobId, status])).toEqual([
      [true, 'completed'],
      [false, 'completed'],
      [false, 'completed'],
    ])
    const { job } = await fresh.client.ok('getJob', { params: { jobId } })
    expect(job).toMatchObject({ task: 'Costly', result: 'Priced.', context: { imported: { status: 'completed' } } })
    expect((await fresh.client.ok('getConversation', { params: { conversationId } })).messages.map(({ text }) => text)).toContain(
      'Hello ferns',
    )
    expect((await fresh.client.ok('listJobs', { query: { q: 'ferns' } })).jobs).toHaveLength(1)
    expect((await fresh.client.ok('getSpend', { query: { by: 'day' } })).rows.map(({ costUsd }) => costUsd)).toEqual(
      spent.rows.map(({ costUsd }) => costUsd),
    )

    // More than today's limit was spent elsewhere, and work still goes on here.
    const here = await fresh.addAgent()
    fresh.modelServer.play({ text: ['ok'] })
    const { jobId: next } = await fresh.client.ok('submitTask', { body: { task: 'Cheap', agentId: here.id } })
    expect((await fresh.ended(next)).status).toBe('completed')
    // A record cannot be continued: its taints are not known.
    expect(await fresh.client.ask('chat', { body: { agentId, message: 'x', conversationId } })).toMatchObject({ status: 404 })
    expect(await fresh.client.ask('retryJob', { params: { jobId } })).toMatchObject({ status: 404 })
  })

  it('adds unfinished jobs as cancelled ones, and believes nothing that a file may claim', async () => {
    const { agentId } = made
    await old.client.ok('updateSettings', { body: { pauseAll: true } })
    const { jobId } = await old.client.ok('submitTask', { body: { task: 'Waits', agentId } })
    const [line] = (await historyOf(old)) as [Extract<HistoryLine, { kind: 'job' }>]
    const fresh = await open()
    const { job } = line
    const ids = ['018f4e9a-7b1c-7c3d-8e4f-0123456789a1', '018f4e9a-7b1c-7c3d-8e4f-0123456789a2'] as const
    const step = { seq: 7, attempt: 3, createdAt: 8_640_000_000_000_000, durationMs: -5 }
    const hostile = {
      ...job,
      id: ids[0],
      status: 'failed',
      error: null,
      costUsd: -7,
      workingMs: -1,
      parentJobId: ids[1],
      retryOfJobId: ids[1],
      title: 'x'.repeat(9000),
      createdAt: 8_640_000_000_000_000,
      cachedTokens: 9,
      inputTokens: 1,
      conversationId: ids[1],
      context: { fromOwner: true, note: 'kept' },
      output: { summary: '', data: null, files: ['/etc/passwd'] },
      triggerId: ids[1],
    }
    const lines = [
      line,
      { kind: 'job', job: hostile, steps: [{ ...step, kind: 'tool_result', callId: 'c', name: 'n', ok: true, output: 'o' }] },
    ]
    expect(await fresh.client.ask('importHistory', { body: { lines } })).toMatchObject({ status: 200, body: { result: { jobs: 2 } } })
    expect((await fresh.client.ok('getJob', { params: { jobId } })).job).toMatchObject({
      status: 'cancelled',
      startedAt: null,
      context: { imported: { status: 'pending' } },
    })
    const { job: tamed } = await fresh.client.ok('getJob', { params: { jobId: ids[0] } })
    expect(tamed).toMatchObject({
      status: 'failed',
      error: 'internal',
      costUsd: 0,
      parentJobId: null,
      retryOfJobId: null,
      conversationId: null,
      triggerId: null,
      output: { files: [] },
      context: { note: 'kept' },
    })
    expect(tamed.context).not.toHaveProperty('fromOwner')
    expect(tamed.createdAt).toBeLessThanOrEqual(Date.now())
    expect((await fresh.client.ok('listAgents')).agents).toEqual([])
    // All lines of a request or none.
    const broken = [
      { ...line, job: { ...job, id: ids[1] } },
      { kind: 'job', job: { ...job, id: 'x' }, steps: [] },
    ]
    expect(await fresh.client.ask('importHistory', { body: { lines: broken } })).toMatchObject({
      status: 422,
      body: { error: 'import_refused' },
    })
    expect(await fresh.client.ask('getJob', { params: { jobId: ids[1] } })).toMatchObject({ status: 404 })
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
      [
        'a connection to every host',
        changed({ connections: [{ connector: 'api-key', kind: 'api_key', name: 'x', hosts: ['*.com'], scopes: [], agents: [] }] }),
        422,
        'import_refused',
      ],
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
