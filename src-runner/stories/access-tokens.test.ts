import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { SignedInUser } from '../contract/port.ts'
import { createMessage } from '../lib/messages.ts'
import { HEARTBEAT_MS } from '../adapters/http/stream.ts'
import { ANSWER_HOLDS_MS, LONGEST_SESSION_TOKEN, type ResolveUser } from '../adapters/http/identify-caller.ts'
import { defineTool } from '../agent/tools/tool.ts'
import { createTestRunner, TEST_SECRET, type TestRunner, type TestRunnerOptions } from '../testing/create-test-runner.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'
import { sendRaw } from '../testing/raw-http.ts'
import { createRunnerClient, type RunnerClient } from '../testing/runner-client.ts'

const DAY_MS = 24 * 3_600_000

/** Runs code, or sends something. */
const program = defineTool({
  name: 'program',
  description: 'Runs a program.',
  args: z.object({ runs: z.boolean() }),
  effect: 'once',
  parallel: false,
  facts: ({ runs }) => ({
    paths: [],
    costsMoney: false,
    deletes: false,
    overwrites: false,
    subject: 'x',
    summary: 'Run x',
    runsCode: runs,
    leavesMachine: !runs,
  }),
  run: async () => ({ ok: true, output: 'done' }),
})

describe('API clients', () => {
  let runner: TestRunner
  let clock: HandClock
  /** The sessions of the sign-in database. */
  let sessions: Map<string, SignedInUser>
  /** Replaces the sign-in database. */
  let resolveUser: ResolveUser
  let asked: number
  afterEach(() => runner.stop())

  async function open(options: TestRunnerOptions = {}): Promise<void> {
    asked = 0
    clock = createHandClock()
    sessions = new Map([
      ['session-of-ada', { userId: 'ada', name: 'Ada', isOwner: true, tokensSince: 0 }],
      ['session-of-bo', { userId: 'bo', name: 'Bo', isOwner: false, tokensSince: 0 }],
    ])
    resolveUser = async (about) =>
      ('token' in about ? sessions.get(about.token) : [...sessions.values()].find(({ userId }) => userId === about.userId)) ?? null
    runner = await createTestRunner({
      clock,
      config: { authMode: 'bearer-token' },
      resolveUser(about) {
        asked++
        return resolveUser(about)
      },
      ...options,
    })
  }

  const as = (bearer: string): RunnerClient => createRunnerClient(runner.url, bearer)
  const statusFor = async (bearer: string): Promise<number> => (await as(bearer).ask('listAgents')).status
  const create = (client = runner.client, expiresAt: number | null = null) =>
    client.ok('createToken', { body: { name: 'Script', expiresAt } })

  describe('with an access token', () => {
    it('reach their workspace, and the list shows the last use to the minute', async () => {
      await open()
      const { token, accessToken } = await create()
      expect(token).toMatch(/^dkh_[0-9a-f]{64}$/)
      expect(accessToken).toMatchObject({ name: 'Script', hint: token.slice(0, 10), userId: null, expiresAt: null, lastUsedAt: null })
      const usedAt = clock.now()
      expect((await as(token).ok('listAgents')).agents).toEqual([])
      clock.advance(59_000)
      await as(token).ok('listAgents')
      expect(await runner.client.ok('listTokens')).toEqual({
        tokens: [{ ...accessToken, lastUsedAt: usedAt }],
        accepted: true,
        nextCursor: null,
      })
      clock.advance(1000)
      await as(token).ok('listAgents')
      expect((await runner.client.ok('listTokens')).tokens[0]!.lastUsedAt).toBe(usedAt + 60_000)
    })

    it('are refused with one that is expired, revoked, changed or of another installation', async () => {
      await open()
      const { token: expiring } = await create(runner.client, clock.now() + DAY_MS)
      const { token: revoked, accessToken } = await create()
      clock.advance(DAY_MS - 1)
      expect(await statusFor(expiring)).toBe(200)
      clock.advance(1)
      expect(await statusFor(expiring)).toBe(401)
      expect(await statusFor(revoked)).toBe(200)
      await runner.client.ok('revokeToken', { params: { tokenId: accessToken.id } })
      expect(await statusFor(revoked)).toBe(401)
      expect((await runner.client.ok('listTokens')).tokens.map(({ hint }) => hint)).toEqual([expiring.slice(0, 10)])
      expect((await runner.client.ask('revokeToken', { params: { tokenId: accessToken.id } })).body).toMatchObject({
        error: 'token_not_found',
      })
      const { token } = await create()
      for (const wrong of [token.slice(0, -1), `${token}0`, token.toUpperCase(), `dkh_${'0'.repeat(64)}`, `x${token}`])
        expect(await statusFor(wrong)).toBe(401)
    })

    it('create no tokens, and see those of nobody else', async () => {
      await open()
      const { token } = await create()
      expect(await as(token).ask('createToken', { body: { name: 'Another', expiresAt: null } })).toEqual({
        status: 403,
        body: expect.objectContaining({ error: 'owner_only', detail: createMessage('token_by_token') }) as unknown,
      })
      const own = await create(as('session-of-ada'))
      expect((await as('session-of-ada').ok('listTokens')).tokens).toEqual([own.accessToken])
      expect((await as(token).ok('listTokens')).tokens).toHaveLength(1)
      expect((await as(token).ask('revokeToken', { params: { tokenId: own.accessToken.id } })).status).toBe(404)
      expect((await runner.client.ok('listTokens')).tokens).toHaveLength(2)
    })

    it('are refused with one of an account from before its password was reset, which leaves the list then', async () => {
      await open()
      const [before, other, installations] = [await create(as('session-of-ada')), await create(as('session-of-bo')), await create()]
      const unused = await create(as('session-of-ada'))
      expect(await statusFor(before.token)).toBe(200)
      clock.advance(60_000)
      sessions.set('session-of-ada', { userId: 'ada', name: 'Ada', isOwner: true, tokensSince: clock.now() })
      expect(await statusFor(before.token)).toBe(401)
      const listed = async () => (await runner.client.ok('listTokens')).tokens.map(({ id }) => id)
      await expect.poll(listed).not.toContain(unused.accessToken.id)
      for (const { token } of [other, installations]) expect(await statusFor(token)).toBe(200)
      clock.advance(1)
      const after = await create(as('session-of-ada'))
      expect(await statusFor(after.token)).toBe(200)
      expect((await listed()).toSorted()).toEqual([other, installations, after].map(({ accessToken }) => accessToken.id).toSorted())
    })

    it('are refused a time of expiry that is over', async () => {
      await open()
      const { status, body } = await runner.client.ask('createToken', { body: { name: 'Script', expiresAt: clock.now() } })
      expect({ status, body }).toMatchObject({ status: 400, body: { issues: [{ path: 'expiresAt' }] } })
    })

    it('are refused in the other modes, which know only the secret', async () => {
      await open()
      const { token } = await create()
      await runner.restart({ config: { authMode: 'local-auth' } })
      expect(await statusFor(token)).toBe(401)
      expect(await statusFor('session-of-ada')).toBe(401)
      expect((await runner.client.ok('listTokens')).accepted).toBe(false)
      expect(asked).toBe(0)
    })

    it('stay, and stay revoked, over a restart and a crash', async () => {
      await open()
      const { token } = await create()
      const { token: revoked, accessToken } = await create()
      await runner.client.ok('revokeToken', { params: { tokenId: accessToken.id } })
      const { agent } = await as('session-of-bo').ok('createAgent', { body: { name: 'Bo’s' } })
      for (const crash of [false, true]) {
        await runner.restart({ crash })
        expect([await statusFor(token), await statusFor(revoked), await statusFor('session-of-bo')]).toEqual([200, 401, 200])
        expect((await as('session-of-bo').ok('listAgents')).agents).toEqual([agent])
      }
    })

    it('end with the account that created it, and with its place in the workspace', async () => {
      await open()
      const [{ token: ofAda }, { token: ofBo }] = [await create(as('session-of-ada')), await create(as('session-of-bo'))]
      expect([await statusFor(ofAda), await statusFor(ofBo)]).toEqual([200, 200])
      sessions.set('session-of-ada', { userId: 'ada', name: 'Ada', isOwner: false })
      sessions.delete('session-of-bo')
      clock.advance(ANSWER_HOLDS_MS)
      expect([await statusFor(ofAda), await statusFor(ofBo)]).toEqual([401, 401])
    })

    it('leave no token in the database, the log or a response', async () => {
      await open()
      const { token } = await create()
      await as(token).ok('listAgents')
      const files = readdirSync(runner.dataDir).filter((name) => name.startsWith('deckhand.db'))
      expect(files).not.toEqual([])
      for (const secret of [token, token.slice(4)]) {
        for (const name of files) expect(readFileSync(join(runner.dataDir, name)).includes(secret), name).toBe(false)
        expect(runner.logLines.join('')).not.toContain(secret)
        expect(JSON.stringify(await runner.client.ok('listTokens'))).not.toContain(secret)
      }
      expect(runner.scrubber.scrub(`A request with ${token} failed`)).toBe('A request with *** failed')
    })
  })

  describe('with a session', () => {
    it('get a workspace of their own with the first change, and none by looking', async () => {
      await open()
      await runner.client.ok('createAgent', { body: { name: 'The owner’s' } })
      const bo = as('session-of-bo')
      expect((await bo.ok('listAgents')).agents).toEqual([])
      expect(await bo.ask('submitTask', { body: { task: 'Look' } })).toMatchObject({ status: 404, body: { error: 'agent_not_found' } })
      const { agent } = await bo.ok('createAgent', { body: { name: 'Bo’s' } })
      const { accessToken } = await create(bo)
      expect(accessToken).toMatchObject({ entityId: agent.entityId, entityName: 'Bo', userId: 'bo' })
      expect((await as('session-of-ada').ok('listAgents')).agents.map(({ name }) => name)).toEqual(['The owner’s'])
      expect((await runner.client.ok('listAgents')).agents).toHaveLength(2)
    })

    it('are refused within two seconds after it has ended', async () => {
      await open()
      expect(await statusFor('session-of-ada')).toBe(200)
      sessions.clear()
      clock.advance(ANSWER_HOLDS_MS - 1)
      expect(await statusFor('session-of-ada')).toBe(200)
      expect(asked).toBe(1)
      clock.advance(1)
      expect(await statusFor('session-of-ada')).toBe(401)
    })

    it('wait for nobody, and get in nowhere, when the accounts cannot be read', async () => {
      await open()
      resolveUser = () => Promise.reject(new Error('the file is locked'))
      for (const bearer of ['session-of-ada', 'anything']) {
        const { status, body } = await as(bearer).ask('listAgents')
        expect({ status, body }).toMatchObject({ status: 503, body: { error: 'sign_in_unavailable' } })
      }
      expect(await statusFor(TEST_SECRET)).toBe(200)
      resolveUser = async (about) => ('token' in about ? (sessions.get(about.token) ?? null) : null)
      expect(await statusFor('session-of-ada')).toBe(200)
    })

    it('are asked about once for many requests, and a flood of guesses is refused', async () => {
      await open()
      const { promise, resolve } = Promise.withResolvers<null>()
      resolveUser = () => promise
      const same = Array.from({ length: 30 }, () => statusFor('one'))
      let refused = 0
      const guesses = Array.from({ length: 100 }, async (_, i) => {
        if ((await statusFor(`guess-${i}`)) === 503) refused++
      })
      // 64 questions are open. The others were never asked.
      await expect.poll(() => refused).toBe(37)
      expect(asked).toBe(64)
      resolve(null)
      expect(new Set(await Promise.all(same))).toEqual(new Set([401]))
      await Promise.all(guesses)
    })

    it('are not asked about with a token that is too long to be one', async () => {
      await open()
      expect(await statusFor('x'.repeat(LONGEST_SESSION_TOKEN + 1))).toBe(401)
      expect(asked).toBe(0)
    })
  })

  it('lose an open stream when their token is revoked', async () => {
    await open()
    const { token, accessToken } = await create()
    const { events } = await as(token).stream('streamEvents')
    await runner.client.ok('revokeToken', { params: { tokenId: accessToken.id } })
    clock.advance(HEARTBEAT_MS)
    const seen: string[] = []
    for await (const { event } of events) seen.push(event)
    expect(seen).toEqual(['token.revoked'])
  })

  it('are nobody with a bearer that is malformed', async () => {
    await open()
    const { token } = await create()
    const lines: [string, string[]][] = [
      ['no header', []],
      ['empty', ['Authorization: ']],
      ['no token', ['Authorization: Bearer ']],
      ['another scheme', [`Authorization: Basic ${token}`]],
      ['no scheme', [`Authorization: ${token}`]],
      ['a second word', [`Authorization: Bearer ${token} x`]],
      ['two headers', [`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`]],
      ['a second, wrong header', [`Authorization: Bearer ${token}`, 'Authorization: Bearer x']],
      ['one byte short', [`Authorization: Bearer ${token.slice(0, -1)}`]],
      ['not ASCII', ['Authorization: Bearer dkh_\xe9\xff']],
      ['a NUL', [`Authorization: Bearer ${token}\0`]],
      ['1 MB', [`Authorization: Bearer ${'x'.repeat(1_000_000)}`]],
    ]
    for (const [what, headers] of lines) {
      const head = ['GET /api/agents HTTP/1.1', 'Host: 127.0.0.1', 'Connection: close', ...headers]
      const { status, text } = await sendRaw(runner.port, Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'))
      expect([400, 401, 431], what).toContain(status)
      expect(text, what).not.toContain('"agents"')
    }
  })

  it('give agents no folders, and read nothing of the machine', async () => {
    await open()
    const bo = as('session-of-bo')
    const folder = runner.makeFolder()
    expect((await bo.ask('createAgent', { body: { name: 'Bo’s', folders: [folder] } })).body).toMatchObject({
      error: 'owner_only',
      detail: createMessage('folders_by_owner'),
    })
    const { agent } = await bo.ok('createAgent', { body: { name: 'Bo’s', folders: [] } })
    const params = { agentId: agent.id }
    expect((await bo.ask('updateAgent', { params, body: { folders: [folder] } })).status).toBe(403)
    await runner.client.ok('updateAgent', { params, body: { folders: [folder] } })
    expect((await bo.ok('updateAgent', { params, body: { folders: [folder], name: 'Bo’s own' } })).agent.folders).toEqual([folder])
    expect((await bo.ok('updateAgent', { params, body: { folders: [] } })).agent.folders).toEqual([])
    expect((await bo.ask('createMemory', { body: { text: 'For everybody' } })).status).toBe(403)
    expect((await bo.ask('createTrigger', { body: { name: 'Orders', taskTemplate: 'x', slug: 'orders' } })).status).toBe(403)
    const { trigger } = await bo.ok('createTrigger', { body: { name: 'Orders', taskTemplate: 'x' } })
    expect(trigger.entityId).toBe(agent.entityId)
    expect((await bo.ask('getSpend', { query: { timezone: 'Europe/Berlin' } })).status).toBe(400)
  })

  it('of the dashboard who are no owners open no folder, raise no autonomy there, and create no rule', async () => {
    await open({ tools: [program], config: { authMode: 'local-auth' } })
    const { id: providerId } = await runner.addProvider()
    const model = { providerId, model: 'small' }
    const folder = runner.makeFolder()
    const headers = { authorization: `Bearer ${TEST_SECRET}`, 'content-type': 'application/json', 'x-deckhand-role': 'member' }
    const ask = async (method: string, path: string, body: object) => {
      const response = await fetch(runner.url + path, { method, headers, body: JSON.stringify(body) })
      return { status: response.status, body: (await response.json()) as { agent: { id: string; folders: string[] } } }
    }
    const byOwner = (code: 'folders_by_owner' | 'autonomy_by_owner' | 'approval_by_owner') => ({
      status: 403,
      body: { error: 'owner_only', detail: createMessage(code) },
    })
    expect(await ask('POST', '/api/agents', { name: 'Bo’s', model, folders: [folder] })).toMatchObject(byOwner('folders_by_owner'))
    const { agent } = (await ask('POST', '/api/agents', { name: 'Bo’s', model, autonomy: 'ask_first' })).body
    const path = `/api/agents/${agent.id}`
    expect(await ask('PATCH', path, { folders: [folder] })).toMatchObject(byOwner('folders_by_owner'))
    expect((await ask('PATCH', path, { autonomy: 'on_its_own' })).status).toBe(200)
    expect((await ask('PATCH', path, { autonomy: 'ask_first' })).status).toBe(200)
    await runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { folders: [folder] } })
    expect(await ask('PATCH', path, { autonomy: 'on_its_own' })).toMatchObject(byOwner('autonomy_by_owner'))
    expect((await ask('PATCH', path, { name: 'Renamed', folders: [folder] })).body.agent.folders).toEqual([folder])

    runner.modelServer.play({ toolCalls: [{ id: 'a', name: 'program', args: { runs: true } }] }, { text: ['Done.'] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Run it', agentId: agent.id } })
    await runner.ended(jobId)
    const approvalId = (await runner.client.ok('listApprovals', { query: { jobId } })).approvals[0]!.id
    const approve = (remember: string) => ask('POST', '/api/approve', { approvalId, decision: 'approve', remember })
    expect(await approve('always')).toMatchObject(byOwner('approval_by_owner'))
    expect((await approve('once')).status).toBe(200)
    expect((await runner.ended(jobId)).status).toBe('completed')
  })

  it.skipIf(process.platform === 'win32')('learn whether a program that writes code is signed in, and not where it is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-bin-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'codex')
    writeFileSync(path, '#!/bin/sh\n[ "$1" = --version ] && echo codex-cli 0.169.0 || echo Logged in\n', { mode: 0o755 })
    await open({ listProgramFolders: async () => [folder] })
    const found = { cli: 'codex', installed: true, path, version: '0.169.0', signedIn: 'yes', fix: null }
    const body = { cli: 'codex' } as const
    expect(await as('session-of-bo').ok('checkCodingProgram', { body })).toEqual({ ...found, path: null })
    expect(await runner.client.ok('checkCodingProgram', { body })).toEqual({ ...found, path: realpathSync(path) })
  })

  it('neither approve programs, nor create rules, nor let an agent with folders do more without asking', async () => {
    await open({ tools: [program] })
    const { id: providerId } = await runner.addProvider()
    const bo = as('session-of-bo')
    const { agent } = await bo.ok('createAgent', { body: { name: 'Bo’s', model: { providerId, model: 'small' }, autonomy: 'ask_first' } })
    const params = { agentId: agent.id }
    await bo.ok('updateAgent', { params, body: { autonomy: 'ask_when_it_matters' } })
    await runner.client.ok('updateAgent', { params, body: { folders: [runner.makeFolder()] } })
    expect((await bo.ask('updateAgent', { params, body: { autonomy: 'on_its_own' } })).body).toMatchObject({
      error: 'owner_only',
      detail: createMessage('autonomy_by_owner'),
    })
    await bo.ok('updateAgent', { params, body: { autonomy: 'ask_first' } })
    runner.modelServer.play({ toolCalls: [{ id: 'a', name: 'program', args: { runs: true } }] }, { text: ['Done.'] })
    const { jobId } = await bo.ok('submitTask', { body: { task: 'Run it', agentId: agent.id } })
    await runner.ended(jobId)
    const { approvals } = await bo.ok('listApprovals', { query: { jobId } })
    const approve = { approvalId: approvals[0]!.id, decision: 'approve' as const }
    expect(await bo.ask('resolveApproval', { body: approve })).toMatchObject({ status: 403, body: { error: 'owner_only' } })
    await runner.client.ok('resolveApproval', { body: approve })
    expect((await runner.ended(jobId)).status).toBe('completed')

    runner.modelServer.play({ toolCalls: [{ id: 'b', name: 'program', args: { runs: false } }] }, { text: ['Done.'] })
    const next = await bo.ok('submitTask', { body: { task: 'Send it', agentId: agent.id } })
    await runner.ended(next.jobId)
    const [sending] = (await bo.ok('listApprovals', { query: { jobId: next.jobId } })).approvals
    const body = { approvalId: sending!.id, decision: 'approve' as const }
    expect(await bo.ask('resolveApproval', { body: { ...body, remember: 'always' } })).toMatchObject({ status: 403 })
    await bo.ok('resolveApproval', { body })
    expect((await runner.ended(next.jobId)).status).toBe('completed')
  })

  it('join no turn of another workspace by the id of its client', async () => {
    await open()
    const { id: providerId } = await runner.addProvider()
    const model = { providerId, model: 'small' }
    const { agent } = await runner.client.ok('createAgent', { body: { name: 'The owner’s', model } })
    runner.modelServer.play({ text: ['quince'] })
    await runner.client.ok('chat', { body: { agentId: agent.id, message: 'Hello', clientId: 'turn-1' } })
    const bo = as('session-of-bo')
    const { agent: own } = await bo.ok('createAgent', { body: { name: 'Bo’s', model } })
    runner.modelServer.play({ text: ['medlar'] })
    const turn = { agentId: own.id, message: 'Hello', clientId: 'turn-1' }
    expect((await bo.ok('chat', { body: turn })).reply).toBe('medlar')
    expect((await bo.ok('chat', { body: turn })).reply).toBe('medlar')
  })

  it('have agents that share no memories with those of the owner', async () => {
    await open()
    const { id: providerId } = await runner.addProvider()
    await runner.client.ok('createMemory', { body: { text: 'The safe is behind the quince' } })
    const bo = as('session-of-bo')
    const { agent } = await bo.ok('createAgent', { body: { name: 'Bo’s', model: { providerId, model: 'small' }, autonomy: 'on_its_own' } })
    const calls = [
      { id: 'a', name: 'recall', args: { query: 'safe' } },
      { id: 'b', name: 'remember', args: { text: 'medlar', shared: true } },
    ]
    runner.modelServer.play({ toolCalls: calls }, { text: ['Done.'] })
    const { jobId } = await bo.ok('submitTask', { body: { task: 'Look', agentId: agent.id } })
    await runner.ended(jobId)
    expect(JSON.stringify(runner.modelServer.received.map(({ body }) => body))).not.toContain('quince')
    expect(JSON.stringify(await bo.ok('listSteps', { params: { jobId } }))).not.toContain('quince')
    const { memories } = await runner.client.ok('listMemories')
    expect(memories.map(({ text, agentId }) => [text, agentId])).toEqual([
      ['medlar', agent.id],
      ['The safe is behind the quince', null],
    ])
  })
})
