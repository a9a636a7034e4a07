import { randomUUID } from 'node:crypto'
import { symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../contract/agents.ts'
import { ROLE_HEADER } from '../contract/routes/route.ts'
import { insertChannel } from '../domain/channels/channels.ts'
import { insertCredential } from '../domain/credentials/credentials.ts'
import { systemClock } from '../lib/clock.ts'
import { createMessage } from '../lib/messages.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'

describe('agents', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  it('are created, changed and deleted, with slugs made from their names', async () => {
    runner = await createTestRunner()
    const { client } = runner
    const create = async (name: string) => (await client.ok('createAgent', { body: { name } })).agent
    const first = await create('Büro Helfer!')
    expect(first).toMatchObject({ autonomy: 'ask_when_it_matters', limits: DEFAULT_LIMITS, isDefault: true, model: null, folders: [] })
    expect(first.slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    const second = await create('Büro Helfer!')
    expect(second.isDefault).toBe(false)
    expect(second.slug).not.toBe(first.slug)
    expect((await create('🤖')).slug).not.toBe('')

    const params = { agentId: second.id }
    const { agent } = await client.ok('updateAgent', {
      params,
      body: { instructions: 'Be brief.', limits: { maxTurns: 3 }, isDefault: true },
    })
    expect(agent).toMatchObject({
      name: second.name,
      instructions: 'Be brief.',
      limits: { ...DEFAULT_LIMITS, maxTurns: 3 },
      isDefault: true,
    })
    expect((await client.ok('getAgent', { params: { agentId: first.id } })).agent.isDefault).toBe(false)

    await client.ok('deleteAgent', { params })
    expect(await client.ask('getAgent', { params })).toMatchObject({ status: 404, body: { error: 'agent_not_found' } })
    expect((await client.ok('listAgents')).agents).toHaveLength(2)
  })

  it('are deleted by members of the dashboard only if no owner gave them anything', async () => {
    runner = await createTestRunner()
    const { client } = runner
    const deleteAsMember = async (agentId: string) => {
      const answer = await fetch(`${runner.url}/api/agents/${agentId}`, { method: 'DELETE', headers: { [ROLE_HEADER]: 'member' } })
      return { status: answer.status, body: await answer.json() }
    }
    const give: Record<string, (agentId: string, entityId: string) => unknown> = {
      folder: (agentId) => client.ok('updateAgent', { params: { agentId }, body: { folders: [runner.makeFolder()] } }),
      rule: (agentId) => client.ok('createRule', { body: { effect: 'deny', tool: 'send', agentId } }),
      server: (agentId) =>
        client.ok('createMcpServer', { body: { name: 'Notes', transport: { kind: 'stdio', command: 'x' }, agents: [{ agentId }] } }),
      channel: (agentId) =>
        runner.write((tx) => {
          const account = { accountId: '7', name: '@ada', link: null }
          insertChannel(tx, { clock: systemClock }, { id: randomUUID(), agentId, kind: 'telegram', account, baseUrl: null })
        }),
      connection: (agentId, entityId) =>
        runner.write((tx) => {
          const account = { id: randomUUID(), entityId, connector: 'shop', kind: 'api_key', name: 'Shop', accountName: null } as const
          const agents = [{ agentId, access: 'read' as const }]
          insertCredential(tx, { clock: systemClock }, { ...account, hosts: ['shop.example'], scopes: [], agents })
        }),
    }
    for (const [what, giveIt] of Object.entries(give)) {
      const { id, entityId } = (await client.ok('createAgent', { body: { name: what } })).agent
      await giveIt(id, entityId)
      const refused = { status: 403, body: { error: 'owner_only', detail: createMessage('agent_by_owner') } }
      expect([what, await deleteAsMember(id)]).toMatchObject([what, refused])
      await client.ok('deleteAgent', { params: { agentId: id } })
    }
    const bare = (await client.ok('createAgent', { body: { name: 'Bare' } })).agent
    expect((await deleteAsMember(bare.id)).status).toBe(200)
    expect((await deleteAsMember(bare.id)).status).toBe(404)
  })

  it('accept only folders that exist, are absolute, and are not our own', async () => {
    runner = await createTestRunner()
    const good = runner.makeFolder()
    const file = join(good, 'file.txt')
    writeFileSync(file, '')
    const link = join(good, 'link-to-data')
    symlinkSync(runner.dataDir, link)
    const cases: [string, string][] = [
      ['relative/path', 'folder_relative'],
      ['/nowhere/at/all', 'folder_missing'],
      [file, 'folder_is_file'],
      [runner.dataDir, 'folder_is_ours'],
      [join(runner.dataDir, 'logs', '..'), 'folder_is_ours'],
      [link, 'folder_is_ours'],
      [dirname(runner.dataDir), 'folder_holds_ours'],
      ['/', 'folder_holds_ours'],
      ['/tmp\0/x', 'folder_relative'],
    ]
    for (const [folder, code] of cases) {
      const message = { message: expect.stringMatching(/\w/) as string, detail: { code, params: {} } }
      const answer = await runner.client.ask('createAgent', { body: { name: 'x', folders: [good, folder] } })
      expect([folder, answer.status, answer.body]).toEqual([
        folder,
        422,
        {
          error: 'folder_not_usable',
          ...message,
          issues: [{ path: 'folders.1', ...message }],
        },
      ])
    }
    expect((await runner.client.ok('listAgents')).agents).toEqual([])
    const { agent } = await runner.client.ok('createAgent', { body: { name: 'x', folders: [good] } })
    expect(agent.folders).toEqual([good])
    const changed = await runner.client.ask('updateAgent', { params: { agentId: agent.id }, body: { folders: ['/nowhere/at/all'] } })
    expect(changed.status).toBe(422)
  })

  it('accept only models of existing providers', async () => {
    runner = await createTestRunner()
    const nobody = { providerId: 'nobody', model: 'x' }
    for (const body of [
      { name: 'x', model: nobody },
      { name: 'x', fallbacks: [nobody] },
    ]) {
      expect(await runner.client.ask('createAgent', { body })).toMatchObject({ status: 404, body: { error: 'provider_not_found' } })
    }
    expect(await runner.client.ask('updateSettings', { body: { defaultModel: nobody } })).toMatchObject({ status: 404 })
    expect(await runner.client.ask('setModelPrice', { body: { model: nobody, price: null } })).toMatchObject({ status: 404 })
  })

  it('report every mistake of a request at once, with its path', async () => {
    runner = await createTestRunner()
    const answer = await runner.client.ask('createAgent', { body: { name: '', limits: { maxTurns: 0 }, autonomy: 'wild', folders: [1] } })
    expect(answer.status).toBe(400)
    const { error, issues } = answer.body as { error: string; issues: { path: string }[] }
    expect([error, issues.map((issue) => issue.path).sort()]).toEqual([
      'invalid_request',
      ['autonomy', 'folders.0', 'limits.maxTurns', 'name'],
    ])
  })
})
