import { join } from 'node:path'
import { spawn, type ChildProcess } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxState } from '../platform/sandbox/sandbox-types.ts'
import { findFreePort } from '../testing/free-port.ts'
import { startMcpRig, type McpRig } from '../testing/mcp-rig.ts'

/** The sandbox would show them no packages of this repository. It has its own stories. */
const NO_SANDBOX: SandboxState = {
  kind: 'none',
  works: false,
  reason: null,
  advice: null,
  network: { works: false, reason: null, advice: null },
  checkedAt: 0,
  setup: null,
}
const PACKAGES = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol')
const EXAMPLES = 'sdk/dist/esm/examples/server'

describe('servers of the protocol’s own project', () => {
  let rig: McpRig
  const programs: ChildProcess[] = []
  beforeAll(async () => {
    rig = await startMcpRig({ findSandbox: async () => NO_SANDBOX })
  })
  afterAll(async () => {
    await rig.runner.stop()
    for (const program of programs) program.kill('SIGKILL')
  })

  type Calls = Record<string, 'read' | 'idempotent' | 'once'>

  /** As a program. Its folder holds one file. */
  async function addProgram(name: string, entry: string, calls: Calls, argsFor: (folder: string) => string[] = () => []) {
    const folder = rig.runner.makeFolder({ 'a.txt': 'hello' })
    const args = [join(PACKAGES, entry), ...argsFor(folder)]
    const transport = { kind: 'stdio' as const, command: 'node', args, folders: [folder], allowsUnsandboxed: true }
    await (await rig.add({ name, transport })).accept(calls)
    return folder
  }

  /** As a server that listens. */
  async function addListening(name: string, entry: string, calls: Calls) {
    const port = await findFreePort()
    const env = { PORT: String(port), MCP_PORT: String(port) }
    const program = spawn(process.execPath, [join(PACKAGES, EXAMPLES, entry)], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    programs.push(program)
    await new Promise<void>((resolve, reject) => {
      program.stdout.on('data', (chunk: Buffer) => /listening|running|started/i.test(String(chunk)) && resolve())
      program.once('exit', () => reject(new Error(`${entry} ended`)))
    })
    const server = await rig.add({ name, transport: { kind: 'http', url: `http://127.0.0.1:${port}/mcp` } })
    await server.accept(calls)
  }

  it('reads and writes files through the file server, in the folders of the person', async () => {
    const tools: Calls = { read_text_file: 'read', read_media_file: 'read', write_file: 'idempotent' }
    const folder = await addProgram('files', 'server-filesystem/dist/index.js', tools, (given) => [given])
    expect(await rig.run('files__read_text_file', { path: join(folder, 'a.txt') })).toMatch(/\]\nhello\n\[end/)
    await rig.run('files__write_file', { path: join(folder, 'b.png'), content: 'pixels' })
    expect(await rig.run('files__read_media_file', { path: join(folder, 'b.png') })).toMatch(/\[image: image\/png, 1 KB, kept .*\]\n\[end/)
    expect(await rig.run('files__read_text_file', { path: '/etc/passwd' })).toContain('outside allowed directories')
  })

  it('speaks with the example of everything: progress, files, folders and questions', async () => {
    const tools: Calls = {
      'get-resource-reference': 'read',
      'get-resource-links': 'read',
      'get-roots-list': 'read',
      'trigger-elicitation-request': 'once',
    }
    await addProgram('every', 'server-everything/dist/index.js', { ...tools, 'trigger-long-running-operation': 'read' }, () => ['stdio'])
    expect(await rig.run('every__get-resource-reference', { resourceType: 'Blob', resourceId: 2 })).toContain(
      'kept for the person as result 1',
    )
    expect(await rig.run('every__get-resource-links', { count: 1 })).toContain('[link: demo://resource/')
    expect(await rig.run('every__get-roots-list')).toContain('Current MCP Roots (1 total)')
    expect(await rig.run('every__trigger-long-running-operation', { duration: 0.1, steps: 2 })).toContain('completed')
    const jobId = await rig.start({ name: 'every__trigger-elicitation-request' })
    const approval = await rig.approvalOf(jobId)
    // A field that may be left out mentions a PIN. Only the name is needed.
    expect(approval.question!.text).toContain('full, legal name')
    await rig.answer(approval.id, { answer: 'Ada' })
    expect((await rig.outputsOf(jobId))[0]).toContain('Ada')
  })

  it('asks what the examples of forms ask, over HTTP', async () => {
    await addListening('forms', 'elicitationFormExample.js', { create_event: 'once' })
    const jobId = await rig.start({ name: 'forms__create_event' })
    const answers: Record<string, string> = { title: 'Tea', date: '2027-01-02', 'start time': '14:30', duration: '60' }
    const asked: string[] = []
    for (let job = await rig.runner.ended(jobId); job.status === 'awaiting_approval'; job = await rig.runner.ended(jobId)) {
      const { id, question } = await rig.approvalOf(jobId)
      asked.push(question!.text)
      const field = question!.text.split('\n').at(-1)!.toLowerCase()
      const [, answer] = Object.entries(answers).find(([name]) => field.includes(name)) ?? []
      await rig.answer(id, { answer: answer ?? 'x' })
    }
    expect(asked).toHaveLength(4)
    expect((await rig.outputsOf(jobId))[0]).toMatch(/Tea/)
  })

  it('calls the example server over HTTP, which sends messages while it works', async () => {
    await addListening('simple', 'simpleStreamableHttp.js', {
      greet: 'read',
      'multi-greet': 'read',
      'start-notification-stream': 'read',
      'list-files': 'read',
    })
    expect(await rig.run('simple__greet', { name: 'Ada' })).toContain('Hello, Ada!')
    expect(await rig.run('simple__start-notification-stream', { interval: 10, count: 3 })).toContain(
      'Started sending periodic notifications',
    )
    expect(await rig.run('simple__list-files', {})).toContain('[link: ')
  })

  it('remembers through the memory server, and calls examples that send progress, describe results or ask for a model', async () => {
    await addProgram('memory', 'server-memory/dist/index.js', { create_entities: 'once', search_nodes: 'read' })
    await rig.run('memory__create_entities', { entities: [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }] })
    expect(await rig.run('memory__search_nodes', { query: 'tea' })).toContain('"Ada"')
    await addProgram('progress', `${EXAMPLES}/progressExample.js`, { count: 'read' })
    expect(await rig.run('progress__count', { n: 1 })).toContain('Counted to 1')
    await addProgram('weather', `${EXAMPLES}/mcpServerOutputSchema.js`, { get_weather: 'read' })
    expect((await rig.run('weather__get_weather', { city: 'Kiel', country: 'DE' })).match(/celsius/g)).toHaveLength(1)
    await addProgram('sampling', `${EXAMPLES}/toolWithSampleServer.js`, { summarize: 'read' })
    expect(await rig.run('sampling__summarize', { text: 'long' })).toContain('Method not found')
  })
})
