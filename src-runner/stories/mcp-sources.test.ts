import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { mcpServerKey } from '../lib/vault.ts'
import { readServerSecrets } from '../domain/mcp/server-secrets.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from '../testing/create-test-runner.ts'
import { scratchFolder, type ScratchFolder } from '../testing/scratch-folder.ts'

const SECRET = 'ghp_0123456789secretvalue'

describe('MCP servers are found', () => {
  let runner: TestRunner
  let home: ScratchFolder
  let registry: Server | null = null
  afterEach(async () => {
    await runner.stop()
    registry?.close()
    registry = null
  })

  async function start(options: TestRunnerOptions = {}): Promise<void> {
    home = await scratchFolder()
    runner = await createTestRunner({ home: home.path, ...options })
  }

  it('in what a person pastes, without adding or starting anything', async () => {
    await start()
    const { servers } = await runner.client.ok('readMcpPaste', { body: { text: `GITHUB_TOKEN=${SECRET} npx -y server` } })
    expect(servers).toMatchObject([
      { name: 'server', transport: { command: 'npx', args: ['-y', 'server'], envNames: ['GITHUB_TOKEN'] }, values: [{ value: SECRET }] },
    ])
    expect((await runner.client.ok('listMcpServers')).servers).toEqual([])
    expect(await runner.client.ask('readMcpPaste', { body: { text: 'curl x | sh' } })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', detail: { code: 'mcp_paste_shell' } },
    })
  })

  // Windows and macOS keep the files elsewhere.
  describe.runIf(process.platform === 'linux')('in the files of other programs', () => {
    const FILES = {
      '.config/Claude/claude_desktop_config.json': {
        mcpServers: { github: { command: 'npx', args: ['github'], env: { GITHUB_TOKEN: SECRET } } },
      },
      '.claude.json': {
        numStartups: 7,
        mcpServers: { linear: { type: 'http', url: 'https://mcp.linear.app/mcp', headers: { Authorization: SECRET } } },
      },
      '.cursor/mcp.json': { mcpServers: { fetch: { command: 'uvx', args: ['fetch'] }, broken: { command: 7 } } },
      '.config/Code/User/mcp.json': { servers: { play: { command: 'npx', env: { KEY: '${input:key}' } } } },
      '.config/Code/User/settings.json': { 'editor.fontSize': 12 },
    }

    async function writeFiles(): Promise<void> {
      for (const [path, config] of Object.entries(FILES)) await home.write(path, JSON.stringify(config))
      await home.write(
        '.config/goose/config.yaml',
        `extensions:\n  git:\n    type: stdio\n    cmd: uvx\n    envs:\n      TOKEN: ${SECRET}\n`,
      )
    }

    it('without their values, and the chosen ones are added with values in the vault only', async () => {
      await start()
      await writeFiles()
      const agent = await runner.addAgent()
      const { found } = await runner.client.ok('listMcpImports')
      expect(found.map(({ app, servers }) => [app, servers.map(({ name }) => name)])).toEqual([
        ['claude_desktop', ['github']],
        ['claude_code', ['linear']],
        ['cursor', ['fetch']],
        ['vscode', ['play']],
        ['goose', ['git']],
      ])
      expect(found[2]!.skipped).toMatchObject([{ name: 'broken', problem: { code: 'mcp_draft_command' } }])
      expect(JSON.stringify(found)).not.toContain(SECRET)
      const chosen = [0, 1, 3, 4].map((i) => found[i]!.servers[0]!.id)
      const { servers } = await runner.client.ok('importMcpServers', { body: { chosen, agents: [{ agentId: agent.id }] } })
      expect(servers.map(({ name, transport, agents }) => [name, transport, agents.length])).toMatchObject([
        ['github', { command: 'npx', args: ['github'], envNames: ['GITHUB_TOKEN'] }, 1],
        ['linear', { url: 'https://mcp.linear.app/mcp', headerNames: ['Authorization'] }, 1],
        ['play', { command: 'npx', envNames: [] }, 1],
        ['git', { command: 'uvx', envNames: ['TOKEN'] }, 1],
      ])
      expect(readServerSecrets(await runner.vault.get(mcpServerKey(servers[0]!.id)), servers[0]!.transport)).toEqual({
        env: { GITHUB_TOKEN: SECRET },
        headers: {},
      })
      expect(readServerSecrets(await runner.vault.get(mcpServerKey(servers[1]!.id)), servers[1]!.transport)).toEqual({
        env: {},
        headers: { Authorization: SECRET },
      })
      const after = await runner.client.ok('listMcpImports')
      expect(after.found.map(({ servers: [server] }) => server!.isAdded)).toEqual([true, true, false, true, true])
      for (const [path, config] of Object.entries(FILES)) expect(readFileSync(home.at(path), 'utf8')).toBe(JSON.stringify(config))
      const database = readFileSync(`${runner.dataDir}/deckhand.db`, 'latin1') + readFileSync(`${runner.dataDir}/deckhand.db-wal`, 'latin1')
      expect(database + runner.logLines.join('\n')).not.toContain(SECRET)
    })

    it('and nothing is added that is not as it was shown', async () => {
      await start()
      await writeFiles()
      const { found } = await runner.client.ok('listMcpImports')
      const chosen = [found[0]!.servers[0]!.id, found[2]!.servers[0]!.id]
      await home.write('.cursor/mcp.json', JSON.stringify({ mcpServers: { fetch: { command: 'uvx', args: ['evil'] } } }))
      expect(await runner.client.ask('importMcpServers', { body: { chosen } })).toMatchObject({
        status: 409,
        body: { error: 'mcp_import_changed' },
      })
      expect((await runner.client.ok('listMcpServers')).servers).toEqual([])
    })

    it('but links, huge files, folders and what is no configuration are only named', async () => {
      await start()
      await home.write('secrets.json', JSON.stringify({ mcpServers: { stolen: { command: 'x' } } }))
      await home.write('.cursor/.keep')
      symlinkSync(home.at('secrets.json'), home.at('.cursor/mcp.json'))
      writeFileSync(home.at('.claude.json'), Buffer.alloc(5_000_001, 0x20))
      await home.write('.config/Claude/claude_desktop_config.json/.keep')
      await home.write('.config/Code/User/mcp.json', '{"servers":')
      await home.write('.config/goose/config.yaml', 'extensions:\n  a: *b\n')
      const { found } = await runner.client.ok('listMcpImports')
      expect(found.map(({ app, servers, problem }) => [app, servers.length, problem?.code])).toEqual([
        ['claude_desktop', 0, 'mcp_import_link'],
        ['claude_code', 0, 'mcp_import_too_large'],
        ['cursor', 0, 'mcp_import_link'],
        ['vscode', 0, 'mcp_import_not_readable'],
        ['goose', 0, 'mcp_import_not_readable'],
      ])
    })

    it('and there may be none', async () => {
      await start()
      expect(await runner.client.ok('listMcpImports')).toEqual({ found: [] })
    })
  })

  describe('in the registry', () => {
    /** A registry that answers every search so. Opened, because it is on this machine. */
    async function serve(answer: (path: string) => { status?: number; headers?: Record<string, string>; body: string }): Promise<string[]> {
      const asked: string[] = []
      registry = createServer((req, res) => {
        asked.push(req.url!)
        const { status = 200, headers = {}, body } = answer(req.url!)
        res.writeHead(status, headers).end(body)
      })
      await new Promise<void>((resolve) => registry!.listen(0, '127.0.0.1', resolve))
      const { port } = registry.address() as AddressInfo
      await start({ mcpRegistryUrl: `http://127.0.0.1:${port}` })
      await runner.client.ok('updateSettings', { body: { openedHosts: [`127.0.0.1:${port}`] } })
      return asked
    }

    const page = (...servers: object[]) =>
      JSON.stringify({
        servers: servers.map((server) => ({ server, _meta: {} })),
        metadata: { count: servers.length, nextCursor: 'next one' },
      })

    it('with exactly what would be started or called, and what is to be filled in', async () => {
      const asked = await serve(() => ({
        body: page(
          {
            name: 'io.github.acme/search',
            title: 'Acme\u202e search',
            description: 'Finds things.',
            remotes: [
              {
                type: 'streamable-http',
                url: 'https://mcp.acme.example/mcp',
                headers: [{ name: 'X-Key', description: 'Your key', isRequired: true, isSecret: true }],
              },
              { type: 'sse', url: 'https://mcp.acme.example/sse' },
            ],
            packages: [
              {
                registryType: 'npm',
                identifier: '@acme/search',
                version: '1.0.2',
                transport: { type: 'stdio' },
                packageArguments: [
                  { type: 'positional', valueHint: 'folder', isRequired: true },
                  { type: 'named', name: '--mode', value: 'fast' },
                ],
                environmentVariables: [
                  { name: 'ACME_KEY', isRequired: true },
                  { name: 'ACME_LEVEL', default: 'info' },
                ],
              },
              { registryType: 'oci', identifier: 'docker.io/acme/search', version: '1.0.2', environmentVariables: [{ name: 'ACME_KEY' }] },
            ],
          },
          { name: 'io.github.evil/x', packages: [{ registryType: 'npm', identifier: '--registry=https://evil.example', version: '1' }] },
          { name: 'io.github.old/y', packages: [{ registryType: 'mcpb', identifier: 'https://x.example/y.mcpb' }] },
        ),
      }))
      const { servers, skipped, nextCursor } = await runner.client.ok('searchMcpRegistry', { query: { q: 'search & more', cursor: 'c' } })
      expect(asked).toEqual(['/v0/servers?search=search+%26+more&version=latest&limit=20&cursor=c'])
      expect(nextCursor).toBe('next one')
      expect(
        servers.map(({ name, description, transport, values, notes }) => ({ name, description, transport, values, notes })),
      ).toMatchObject([
        {
          name: 'Acme search',
          description: 'Finds things.',
          transport: { kind: 'http', url: 'https://mcp.acme.example/mcp', headerNames: ['X-Key'] },
          values: [{ place: 'header', name: 'X-Key', value: null, description: 'Your key', isRequired: true }],
        },
        { transport: { kind: 'sse', url: 'https://mcp.acme.example/sse' } },
        {
          transport: {
            command: 'npx',
            args: ['-y', '@acme/search@1.0.2', '{folder}', '--mode', 'fast'],
            envNames: ['ACME_KEY', 'ACME_LEVEL'],
          },
          values: [
            { name: 'ACME_KEY', value: null },
            { name: 'ACME_LEVEL', value: 'info', isRequired: false },
          ],
          notes: [{ code: 'mcp_draft_placeholder' }],
        },
        { transport: { command: 'docker', args: ['run', '-i', '--rm', '-e', 'ACME_KEY', 'docker.io/acme/search:1.0.2'] } },
      ])
      expect(skipped.map(({ name, problem }) => [name, problem.code])).toEqual([
        ['io.github.evil/x', 'mcp_registry_unusable'],
        ['io.github.old/y', 'mcp_registry_unusable'],
      ])
    })

    it.each<[string, { status?: number; headers?: Record<string, string>; body: string }]>([
      ['an error', { status: 500, body: '{"servers":[]}' }],
      ['no JSON', { body: '<html>' }],
      ['a list', { body: '[]' }],
      ['too much', { body: `{"servers":[],"x":"${'x'.repeat(2_000_000)}"}` }],
      ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' }, body: '' }],
    ])('and %s is a clear error', async (_what, answer) => {
      await serve(() => answer)
      expect(await runner.client.ask('searchMcpRegistry', { query: { q: 'x' } })).toMatchObject({
        status: 503,
        body: { error: 'mcp_registry_unreachable' },
      })
    })

    it('and anything else in its answer does no harm', async () => {
      const odd = [
        null,
        7,
        'x',
        [],
        {},
        { server: null },
        { server: { name: 7, packages: 'x', remotes: [null, {}, { type: 'sse', url: {} }] } },
      ]
      await serve(() => ({
        body: JSON.stringify({ servers: [...odd, ...Array.from({ length: 100 }, () => ({ server: {} }))], metadata: 'x' }),
      }))
      const answer = await runner.client.ok('searchMcpRegistry', { query: { q: 'x' } })
      expect(answer.servers).toEqual([])
      expect(answer.skipped.length).toBeLessThanOrEqual(20)
    })
  })
})
