import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SignedInUser } from '../contract/port.ts'
import { ROUTES, type Route, type RouteName } from '../contract/routes.ts'
import { createIds } from '../lib/ids.ts'
import { systemClock } from '../lib/clock.ts'
import { insertCodeTask } from '../domain/code-tasks/code-tasks.ts'
import { insertChannel } from '../domain/channels/channels.ts'
import { addRequest } from '../domain/channels/people.ts'
import { insertCredential } from '../domain/credentials/credentials.ts'
import { examineSkill } from '../domain/skills/examine-skill.ts'
import { packSkill } from '../domain/skills/skill-package.ts'
import { insertSkill, selectSkill } from '../domain/skills/skills.ts'
import type { Noun } from '../domain/entities/entity-of.sql.ts'
import { writeOutbound } from '../domain/outbox/write-message.ts'
import { NOUN_OF_FIELD } from '../adapters/http/workspace-scope.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createRunnerClient, type RunnerClient } from '../testing/runner-client.ts'

/** What each workspace has. */
type Things = Record<Noun, string>
type Workspace = { word: string; bearer: string; client: RunnerClient; things: Things }
type Request = { params: Record<string, unknown>; query: Record<string, unknown>; body: Record<string, unknown> | undefined }

const NAMES = Object.keys(ROUTES) as RouteName[]
const OPEN = NAMES.filter((name) => ROUTES[name].access === 'runner' && ROUTES[name].reach === 'workspace')
const UNKNOWN = '018f4e9a-7b1c-7c3d-8e4f-0123456789ab'
const PARTS = ['params', 'query', 'body'] as const

/** What a route needs besides ids. A new route that needs more than this says so here. */
const SAMPLES: Partial<Record<RouteName, Partial<Request>>> = {
  submitTask: { body: { task: 'Look' } },
  chat: { body: { message: 'Hello' } },
  chatStream: { body: { message: 'Hello' } },
  createAgent: { body: { name: 'Another' } },
  updateAgent: { body: { avatar: 'A' } },
  resolveApproval: { body: { decision: 'reject' } },
  undoFile: { body: { path: 'Docs/a' } },
  getFileDiff: { query: { path: 'Docs/a' } },
  getCodeTaskDiff: { query: { path: 'src/main.ts' } },
  getKeptResult: { params: { number: '1' } },
  createMemory: { body: { text: 'Tea at four' } },
  updateMemory: { body: { text: 'Tea at five' } },
  createTrigger: { body: { name: 'Orders', taskTemplate: 'Look' } },
  testTrigger: { body: { payload: '{}' } },
  createSchedule: { body: { name: 'Digest', cron: '0 9 * * *', timezone: 'UTC', task: 'Look' } },
  sumUpSchedules: { query: { from: 0 } },
  createToken: { body: { name: 'Script', expiresAt: null } },
}
/** Fields that no other id belongs to, or that would change what the others mean. */
const LEFT_OUT: Partial<Record<RouteName, string[]>> = { submitTask: ['conversationId', 'parentJobId'], createAgent: ['entityId'] }

function shapeOf(route: Route, part: (typeof PARTS)[number]): Record<string, z.ZodType> {
  return (route[part] as z.ZodObject | undefined)?.shape ?? {}
}

/** A filter. */
function isOptional(route: Route, field: string): boolean {
  return shapeOf(route, 'query')[field]!.safeParse(undefined).success
}

function idFieldsOf(route: Route): [part: (typeof PARTS)[number], field: string][] {
  return PARTS.flatMap((part) =>
    Object.keys(shapeOf(route, part)).flatMap((field): [typeof part, string][] => (NOUN_OF_FIELD[field] == null ? [] : [[part, field]])),
  )
}

describe('the things of two workspaces', () => {
  let runner: TestRunner
  const users = new Map<string, SignedInUser>()
  let workspaces: [Workspace, Workspace]

  beforeAll(async () => {
    users.set('session-of-ada', { userId: 'ada', name: 'Ada', isOwner: true })
    users.set('session-of-bo', { userId: 'bo', name: 'Bo', isOwner: false })
    runner = await createTestRunner({
      config: { authMode: 'bearer-token' },
      resolveUser: async (about) =>
        ('token' in about ? users.get(about.token) : [...users.values()].find(({ userId }) => userId === about.userId)) ?? null,
    })
    const { id: providerId } = await runner.addProvider()
    workspaces = [await fill('session-of-ada', 'quince', providerId), await fill('session-of-bo', 'medlar', providerId)]
  })
  afterAll(() => runner.stop())

  /** A workspace with one thing of every noun, each of which has the word in it. */
  async function fill(bearer: string, word: string, providerId: string): Promise<Workspace> {
    const owner = runner.client
    const client = createRunnerClient(runner.url, bearer)
    const ids = createIds(Date.now)
    const { agent } = await client.ok('createAgent', { body: { name: `Agent ${word}`, model: { providerId, model: 'small' } } })
    const agentId = agent.id
    runner.modelServer.play({ text: [`Hello ${word}`] })
    const chat = await client.ok('chat', { body: { agentId, message: `Say ${word}` } })
    runner.modelServer.play({ toolCalls: [{ id: `ask_${word}`, name: 'ask_person', args: { question: `Which ${word}?` } }] })
    const waiting = await client.ok('submitTask', { body: { agentId, task: `Ask about ${word}` } })
    await runner.ended(waiting.jobId)
    const { approvals } = await owner.ok('listApprovals', { query: { jobId: waiting.jobId } })
    const { rule } = await owner.ok('createRule', {
      body: { effect: 'ask', tool: 'web_fetch', pattern: `https://${word}.example/*`, agentId },
    })
    const { memory } = await client.ok('createMemory', { body: { agentId, text: `Likes ${word}` } })
    const { trigger } = await client.ok('createTrigger', { body: { agentId, name: `Orders of ${word}`, taskTemplate: `Look at ${word}` } })
    const { delivery } = await client.ok('testTrigger', { params: { triggerId: trigger.id }, body: { payload: `{"a":"${word}"}` } })
    const { schedule } = await client.ok('createSchedule', {
      body: { agentId, name: `Digest of ${word}`, cron: '0 9 * * *', timezone: 'UTC', task: `Sum up ${word}` },
    })
    runner.modelServer.play({ text: [`Summed up ${word}`] })
    await runner.ended((await client.ok('runScheduleNow', { params: { scheduleId: schedule.id } })).jobId)
    const { accessToken } = await client.ok('createToken', { body: { name: `Script ${word}`, expiresAt: null } })
    const mcp = await owner.ok('createMcpServer', {
      body: {
        name: `Tools ${word}`,
        transport: { kind: 'http', url: `https://${word}.example/mcp` },
        entityId: agent.entityId,
        agents: [{ agentId }],
      },
    })
    const channelId = ids.next()
    const { person, messageId } = runner.write((tx) => {
      const channel = {
        id: channelId,
        agentId,
        kind: 'telegram' as const,
        account: { accountId: word, name: `@${word}_bot`, link: null },
        baseUrl: null,
      }
      insertChannel(tx, { clock: systemClock }, channel)
      const sender = { externalId: '7', chatId: '7', displayName: `Friend ${word}`, handle: null, isRoom: false }
      const asking = addRequest(tx, { clock: systemClock, ids }, { id: channelId, agentId }, sender)!
      const to = { channelId, personId: asking.id, chatId: '7' }
      writeOutbound(
        tx,
        { clock: systemClock, ids },
        { key: word, kind: 'notification', agentId, jobId: waiting.jobId, text: `News of ${word}`, to },
      )
      return { person: asking, messageId: tx.prepare<{ id: string }>('SELECT id FROM outbox WHERE channel_id = ?').get(channelId)!.id }
    })
    const credentialId = ids.next()
    runner.write((tx) => {
      const account = { id: credentialId, entityId: agent.entityId, connector: 'api-key', kind: 'api_key' as const, name: `Shop ${word}` }
      const rest = { accountName: null, hosts: ['shop.example'], scopes: [], agents: [{ agentId, access: 'read' as const }] }
      return insertCredential(tx, { clock: systemClock }, { ...account, ...rest })
    })
    runner.write((tx) => {
      const base = { baseCommit: '0'.repeat(40), baseBranch: 'main', internet: false }
      insertCodeTask(tx, waiting.jobId, { cli: 'claude', repository: `/repositories/${word}`, branch: `deckhand/${word}`, ...base })
    })
    const skillId = ids.next()
    const skillText = Buffer.from(`---\nname: shop-${word}\ndescription: Sorts ${word}.\n---\n`)
    const contents = await examineSkill(packSkill([{ path: 'SKILL.md', bytes: skillText }]))
    runner.write((tx) => {
      insertSkill(tx, { clock: systemClock }, { id: skillId, entityId: agent.entityId, source: `/skills/${word}`, contents })
      return selectSkill(tx, skillId, [agentId])
    })
    await owner.ok('updateChannel', { params: { channelId }, body: { enabled: false } })
    await client.ok('startPairing', { body: { agentId } })
    const things: Things = {
      entity: agent.entityId,
      agent: agentId,
      job: waiting.jobId,
      conversation: chat.conversationId,
      approval: approvals[0]!.id,
      rule: rule.id,
      memory: memory.id,
      trigger: trigger.id,
      delivery: delivery.id,
      schedule: schedule.id,
      channel: channelId,
      // No route of a workspace takes the id of a sign-in.
      credential: credentialId,
      authorization: UNKNOWN,
      skill: skillId,
      person: person.id,
      message: messageId,
      token: accessToken.id,
      mcpServer: mcp.server.id,
    }
    return { word, bearer, client, things }
  }

  /** A valid request of a workspace, with its own things for all ids. */
  function requestFor(name: RouteName, { things }: Workspace): Request {
    const route: Route = ROUTES[name]
    const sample = SAMPLES[name] ?? {}
    const idsOf = (part: (typeof PARTS)[number]) =>
      Object.fromEntries(
        Object.keys(shapeOf(route, part)).flatMap((field) => {
          const noun = NOUN_OF_FIELD[field]
          return noun == null || LEFT_OUT[name]?.includes(field) || (part === 'query' && isOptional(route, field))
            ? []
            : [[field, things[noun]]]
        }),
      )
    const request = {
      params: { ...idsOf('params'), ...sample.params },
      query: { ...idsOf('query'), ...sample.query },
      body: route.body === undefined ? undefined : { ...idsOf('body'), ...sample.body },
    }
    for (const part of PARTS) {
      const parsed = route[part]?.safeParse(request[part])
      expect(parsed === undefined || parsed.success, `SAMPLES needs a valid ${part} for ${name}: ${parsed?.error?.message}`).toBe(true)
    }
    return request
  }

  /** All of a response but its date, and the text that is not there. */
  async function send(bearer: string, name: RouteName, { params, query, body }: Request): Promise<string> {
    const route: Route = ROUTES[name]
    const path = route.path.replace(/:(\w+)/g, (_, key: string) => String(params[key]))
    const search = new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]))
    const closing = new AbortController()
    const response = await fetch(`${runner.url}${path}?${search.toString()}`, {
      method: route.method,
      headers: { authorization: `Bearer ${bearer}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: closing.signal,
    })
    const headers = [...response.headers].filter(([header]) => header !== 'date')
    // The stream of events never ends: its head is compared here, and its content in a test of its own.
    const endless = response.ok && name === 'streamEvents'
    const text = endless ? '' : await response.text()
    if (endless) closing.abort()
    expect(response.status, `${name}: ${text}`).toBeLessThan(500)
    return JSON.stringify({ status: response.status, headers, text })
  }

  /** What the job of a workspace does not have. */
  const ABSENT: Partial<Record<RouteName, string>> = {
    getFileDiff: 'file_not_written',
    getCodeTaskDiff: 'code_not_available',
    getKeptResult: 'result_not_kept',
    getSkillDraft: 'skill_draft_not_found',
  }

  const CASES = OPEN.flatMap((name) => idFieldsOf(ROUTES[name]).map(([part, field]) => ({ name, part, field })))

  it('has a case for every id that a route takes', () => {
    const named = (schema: z.core.JSONSchema.BaseSchema): string[] =>
      [...JSON.stringify(schema).matchAll(/"(\w+Ids?)":/g)].map(([, field]) => field!)
    for (const name of NAMES) {
      const route: Route = ROUTES[name]
      for (const part of PARTS) {
        const schema = route[part]
        if (schema === undefined) continue
        const fields = named(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })).filter((field) => field !== 'clientId')
        expect(
          fields.filter((field) => !(field in NOUN_OF_FIELD)),
          `${name} takes an id that NOUN_OF_FIELD does not know`,
        ).toEqual([])
        const owned = fields.filter((field) => NOUN_OF_FIELD[field] !== null)
        if (OPEN.includes(name))
          expect(CASES.filter((one) => one.name === name && one.part === part).map(({ field }) => field)).toEqual(owned)
      }
    }
    expect(new Set(CASES.map(({ field }) => NOUN_OF_FIELD[field]))).toEqual(
      // The owner decides on rules and on people, and signs in; their ids occur in events only.
      new Set(Object.values(NOUN_OF_FIELD).filter((noun) => noun !== null && !['rule', 'person', 'authorization'].includes(noun))),
    )
  })

  it('answer each other exactly like things that do not exist', async () => {
    for (const [me, other] of [workspaces, workspaces.toReversed() as [Workspace, Workspace]]) {
      for (const { name, part, field } of CASES) {
        const noun = NOUN_OF_FIELD[field]!
        const having = (id: string): Request => {
          const request = requestFor(name, me)
          // A task names its agent and its workspace either way.
          return { ...request, [part]: { ...request[part], [field]: id } }
        }
        const foreign = await send(me.bearer, name, having(other.things[noun]))
        expect(foreign, `${name}, ${part}.${field}`).toBe(await send(me.bearer, name, having(UNKNOWN)))
        expect(foreign, `${name}, ${part}.${field}`).not.toContain(other.word)
      }
    }
  })

  it('are closed to others on every route about the machine', async () => {
    const [, bo] = workspaces
    const closed = NAMES.filter((name) => ROUTES[name].access === 'runner' && ROUTES[name].reach === 'machine')
    expect(closed.length).toBeGreaterThan(20)
    for (const name of closed) {
      const route: Route = ROUTES[name]
      const response = await fetch(`${runner.url}${route.path.replace(/:\w+/g, UNKNOWN)}`, {
        method: route.method,
        headers: { authorization: `Bearer ${bo.bearer}` },
      })
      expect({ name, status: response.status, body: await response.json() }).toMatchObject({
        status: 403,
        body: { error: 'owner_only' },
      })
    }
  })

  it('appear in no list, count, search or stream of the other', async () => {
    for (const [me, other] of [workspaces, workspaces.toReversed() as [Workspace, Workspace]]) {
      const foreign = [other.word, ...Object.values(other.things)]
      for (const name of OPEN.filter((one) => ROUTES[one].method === 'GET')) {
        const request = requestFor(name, me)
        for (const q of 'q' in shapeOf(ROUTES[name], 'query') ? [undefined, other.word, me.word] : [undefined]) {
          const answer = await send(me.bearer, name, { ...request, query: { ...request.query, ...(q === undefined ? {} : { q }) } })
          expect(answer, name).toContain(ABSENT[name] ?? '"status":200')
          for (const trace of foreign) expect(answer, name).not.toContain(trace)
        }
      }
      for (const by of ['day', 'agent', 'model', 'channel'] as const) {
        expect((await me.client.ok('getSpend', { query: { by } })).rows.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(4)
      }
      expect(await me.client.ok('countJobs')).toMatchObject({ awaiting_approval: 1 })
      expect((await me.client.ok('listApprovals')).pending).toBe(1)
      expect((await me.client.ok('listUpcomingRuns')).runs).toHaveLength(1)
      expect((await me.client.ok('listAttention')).items.map(({ kind }) => kind)).toEqual(['channel_request'])
    }
  })

  it('are out of reach over /mcp', async () => {
    const callTool = async (bearer: string, name: string, args: object): Promise<string> => {
      const response = await fetch(`${runner.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
      })
      expect(response.status).toBe(200)
      return response.text()
    }
    for (const [me, other] of [workspaces, workspaces.toReversed() as [Workspace, Workspace]]) {
      for (const [name, having] of [
        ['get_job', (id: string) => ({ jobId: id, steps: true })],
        ['run_agent', (id: string) => ({ agent: id, task: 'Look' })],
        ['list_jobs', (id: string) => ({ agent: id })],
        ['answer_approval', (id: string) => ({ approvalId: id, decision: 'approve' })],
      ] as [string, (id: string) => object][]) {
        for (const id of Object.values(other.things)) {
          expect(await callTool(me.bearer, name, having(id)), name).toBe(await callTool(me.bearer, name, having(UNKNOWN)))
        }
      }
      for (const [name, args] of [
        ['list_agents', {}],
        ['list_jobs', {}],
        ['list_jobs', { search: other.word }],
        ['get_job', { jobId: me.things.job, steps: true }],
      ] as [string, object][]) {
        const answer = await callTool(me.bearer, name, args)
        expect(answer).not.toContain('isError')
        for (const trace of [other.word, ...Object.values(other.things)]) expect(answer, name).not.toContain(trace)
      }
      expect(await callTool(me.bearer, 'get_job', { jobId: me.things.job })).toContain(me.word)
    }
  })

  it('are told in the events of their own workspace only', async () => {
    for (const [me, other] of [workspaces, workspaces.toReversed() as [Workspace, Workspace]]) {
      const { events, close } = await me.client.stream('streamEvents', { query: { after: 0 } })
      await me.client.ok('updateAgent', {
        params: { agentId: me.things.agent },
        body: { avatar: me.word.slice(0, 2) },
      })
      const seen: string[] = []
      for await (const { event, data } of events) {
        seen.push(`${event} ${JSON.stringify(data)}`)
        if (event === 'agent.changed') break
      }
      close()
      const text = seen.join('\n')
      for (const trace of [other.word, ...Object.values(other.things)]) expect(text).not.toContain(trace)
      for (const type of [
        'agent.created',
        'job.finished',
        'approval.asked',
        'rule.created',
        'trigger.created',
        'schedule.created',
        'token.created',
      ])
        expect(text).toContain(type)
      expect(text).not.toContain('provider.created')
    }
  })

  it('are reached by their own callers, so the comparisons above mean something', async () => {
    const [, bo] = workspaces
    const isLast = ({ name }: { name: RouteName }) => ROUTES[name].method === 'DELETE'
    const same: string[] = []
    for (const { name, part, field } of [...CASES.filter((one) => !isLast(one)), ...CASES.filter(isLast).toReversed()]) {
      const request = requestFor(name, bo)
      const having = (id: string): Request => ({ ...request, [part]: { ...request[part], [field]: id } })
      const unknown = await send(bo.bearer, name, having(UNKNOWN))
      runner.modelServer.play({ text: ['Yes.'] })
      if ((await send(bo.bearer, name, having(bo.things[NOUN_OF_FIELD[field]!]))) === unknown) same.push(`${name} ${part}.${field}`)
    }
    expect(same).toEqual([])
  })
})
