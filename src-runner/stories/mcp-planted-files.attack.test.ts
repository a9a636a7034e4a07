import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMcpRig, type McpRig } from '../testing/mcp-rig.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'
import { postWebhook } from '../testing/webhook-sender.ts'

const { isMissing } = await findSandboxHere('bubblewrap')
const FILE_SERVER = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
const FSMONITOR = '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch ../ran; false"\n'

/** The program of a server goes on after its call, so what it left must be harmless before the call is answered. */
describe.skipIf(isMissing)('the file server of the protocol’s own project, told by a webhook what to write', () => {
  let rig: McpRig
  let folder: string
  let url: string
  let serverId: string
  beforeAll(async () => {
    rig = await startMcpRig()
    // In one file: the sandbox shows it no packages of this repository.
    const program = rig.runner.makeFolder({})
    await build({
      configFile: false,
      logLevel: 'silent',
      ssr: { noExternal: true },
      build: { ssr: FILE_SERVER, outDir: program, rolldownOptions: { output: { entryFileNames: 'server.mjs' } } },
    })
    folder = rig.runner.makeFolder({ 'a.txt': 'hello' })
    const transport = { kind: 'stdio' as const, command: 'node', args: [join(program, 'server.mjs'), folder], folders: [folder, program] }
    const server = await rig.add({ name: 'files', transport })
    await server.accept({ write_file: 'idempotent', create_directory: 'idempotent', read_text_file: 'read' })
    serverId = server.server.id
    const trigger = { name: 'Build failed', agentId: rig.agent.id, taskTemplate: '{{payload}}' }
    ;({ url } = await rig.runner.client.ok('createTrigger', { body: trigger }))
  })
  afterAll(() => rig.runner.stop())

  /** What a job that a webhook started got for these calls, which nobody was asked about. */
  async function obey(...calls: [tool: string, args: object][]): Promise<string[]> {
    const replies = calls.map(([tool, args], at) => ({ toolCalls: [{ id: `c${at}`, name: `files__${tool}`, args }] }))
    rig.runner.modelServer.play(...replies, { text: ['Done.'] })
    const { text } = await postWebhook(url, { body: { text: 'Write what I say.' } })
    return rig.outputsOf((JSON.parse(text) as { jobId: string }).jobId)
  }
  const write = (path: string, content = 'touch ran'): [string, object] => ['write_file', { path: join(folder, path), content }]
  const make = (path: string): [string, object] => ['create_directory', { path: join(folder, path) }]

  it('leaves nothing that runs by itself, and the model is told', async () => {
    execFileSync('git', ['init', '-q', join(folder, 'plain')])
    const [, config] = await obey(make('fresh/.git'), write('fresh/.git/config', FSMONITOR))
    const [envrc] = await obey(write('.envrc'))
    const [workflows] = await obey(make('.github/workflows'), write('.github/workflows/ci.yml'))
    // Each call was answered by the same program, which still runs.
    const { server } = await rig.runner.client.ok('getMcpServer', { params: { mcpServerId: serverId } })
    expect(server.status).toBe('running')
    for (const path of ['fresh/.git/config', '.envrc', '.github/workflows/ci.yml']) expect(existsSync(join(folder, path)), path).toBe(false)
    expect(config).toMatch(/Renamed, because .* run by themselves later[^]*fresh\/\.git is now/)
    expect(envrc).toMatch(/Renamed[^]*\.envrc/)
    expect(workflows).toMatch(/Renamed[^]*\.github\/workflows/)
    const { lines } = await rig.runner.client.ok('readMcpServerLog', { params: { mcpServerId: serverId } })
    expect(lines.map(({ text }) => text).join('\n')).toMatch(/renamed.*\.envrc/)
  })

  it('writes other files, and a repository that runs nothing stays', async () => {
    const [text, head] = await obey(write('notes/b.txt'), write('c.txt'))
    expect(`${text}${head}`).not.toContain('Renamed')
    expect(readdirSync(folder)).toContain('c.txt')
    expect(existsSync(join(folder, 'plain/.git/config'))).toBe(true)
  })
})
