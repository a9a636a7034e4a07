import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { z } from 'zod'
import type { CreateMcpServer } from '../contract/mcp.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { findFreePort } from '../testing/free-port.ts'

const EVERYTHING = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js')

type Asked = z.input<typeof CreateMcpServer>

describe('MCP servers over HTTP', () => {
  let runner: TestRunner
  const programs: ChildProcess[] = []
  beforeAll(async () => {
    runner = await createTestRunner({ internet: { resolve: async () => ['10.0.0.7'] } })
  })
  afterAll(async () => {
    await runner.stop()
    for (const program of programs) program.kill('SIGKILL')
  })

  /** The reference server. Resolves when it listens. */
  async function startEverything(mode: 'streamableHttp' | 'sse'): Promise<number> {
    const port = await findFreePort()
    const program = spawn(process.execPath, [EVERYTHING, mode], { env: { PORT: String(port) }, stdio: ['ignore', 'ignore', 'pipe'] })
    programs.push(program)
    await new Promise<void>((resolve, reject) => {
      program.stderr.on('data', (chunk: Buffer) => /listening|running on port/i.test(String(chunk)) && resolve())
      program.once('exit', () => reject(new Error('the reference server ended')))
    })
    return port
  }

  async function add(transport: Asked['transport'], more: Omit<Asked, 'transport'> = {}) {
    const { server } = await runner.client.ok('createMcpServer', { body: { transport, ...more } })
    return { server, test: () => runner.client.ok('testMcpServer', { params: { mcpServerId: server.id } }) }
  }

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it.each([
    ['http', 'streamableHttp', '/mcp'],
    ['sse', 'sse', '/sse'],
  ] as const)('speaks with the reference server over %s', async (kind, mode, path) => {
    const port = await startEverything(mode)
    const agent = await runner.addAgent({ name: `Agent of ${kind}`, autonomy: 'on_its_own' })
    const { server, test } = await add(
      { kind, url: `http://127.0.0.1:${port}${path}` },
      { name: `Over ${kind}`, agents: [{ agentId: agent.id }] },
    )
    const { ok, server: found } = await test()
    expect(ok).toBe(true)
    expect(found).toMatchObject({ status: 'running', sandboxed: null, version: expect.stringContaining('Everything') })
    const tools = ['get-sum', 'get-tiny-image', 'get-structured-content'].map((name) => {
      return { name, digest: found.tools.find((tool) => tool.name === name)!.digest, effect: 'read' as const }
    })
    await runner.client.ok('acceptMcpTools', { params: { mcpServerId: server.id }, body: { tools } })
    const calls = [
      { id: 'sum', name: `over-${kind}__get-sum`, args: { a: 19, b: 23 } },
      { id: 'image', name: `over-${kind}__get-tiny-image`, args: {} },
      { id: 'structured', name: `over-${kind}__get-structured-content`, args: { location: 'Chicago' } },
      { id: 'wrong', name: `over-${kind}__get-sum`, args: { a: 'x' } },
    ]
    runner.modelServer.play({ toolCalls: calls }, { text: ['Done.'] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Add', agentId: agent.id } })
    expect((await runner.ended(jobId)).status).toBe('completed')
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    const outputs = Object.fromEntries(steps.flatMap((step) => (step.kind === 'tool_result' ? [[step.callId, step.output]] : [])))
    expect(outputs['sum']).toContain('42')
    expect(outputs['image']).toContain('[image: image/png')
    expect(outputs['structured']).toContain('temperature')
    expect(outputs['wrong']).toContain('do not fit')
  })

  it('gives headers of the vault to the server alone, and follows no redirect to another address', async () => {
    const seen: string[] = []
    const canary = await serve((request, response) => {
      seen.push(`canary ${JSON.stringify(request.headers)}`)
      response.end()
    })
    const url = await serve((request, response) => {
      seen.push(`server ${String(request.headers['x-key'])}`)
      response.writeHead(307, { location: `${canary}/mcp` }).end()
    })
    const { server, test } = await add(
      { kind: 'http', url: `${url}/mcp`, headerNames: ['X-Key'] },
      { headers: { 'X-Key': 'canary-header' } },
    )
    expect(await test()).toMatchObject({ ok: false, server: { status: 'failing' } })
    expect(seen).toEqual(['server canary-header'])
    const { lines } = await runner.client.ok('readMcpServerLog', { params: { mcpServerId: server.id } })
    expect(JSON.stringify(lines)).not.toContain('canary-header')
  })

  it('opens no name of the internet that leads to a private address', async () => {
    const { test } = await add({ kind: 'http', url: 'https://tools.example/mcp' })
    const { ok, message } = await test()
    expect([ok, message!.code]).toEqual([false, 'mcp_not_started'])
    expect(JSON.stringify(message)).toContain('private address')
  })

  it.each([
    ['says', 200],
    ['does not say', null],
  ])('ends its session at a server that %s that it has', async (_, answer) => {
    const asked: string[] = []
    const url = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        asked.push(`${request.method} ${String(request.headers['mcp-session-id'])}`)
        if (request.method === 'DELETE') return answer !== null && response.writeHead(answer).end()
        if (request.method !== 'POST') return response.writeHead(405).end()
        const { id, method } = JSON.parse(body) as { id?: number; method: string }
        if (id === undefined) return response.writeHead(202).end()
        const about = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'sessions', version: '1' } }
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? about : { tools: [] } }))
      })
    })
    const { server, test } = await add({ kind: 'http', url: `${url}/mcp` })
    expect((await test()).ok).toBe(true)
    await runner.client.ok('updateMcpServer', { params: { mcpServerId: server.id }, body: { enabled: false } })
    expect(asked.filter((one) => one.startsWith('DELETE'))).toEqual(['DELETE s1'])
  })

  it('opens a stream again a few times only, if the server ends it and says that the next one may follow at once', async () => {
    let streams = 0
    const url = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        if (request.method === 'GET') {
          streams++
          return response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n')
        }
        const { id, method } = JSON.parse(body) as { id?: number; method: string }
        if (id === undefined) return response.writeHead(202).end()
        const about = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'eager', version: '1' } }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? about : { tools: [] } }))
      })
    })
    const { server, test } = await add({ kind: 'http', url: `${url}/mcp` })
    expect((await test()).ok).toBe(true)
    await expect.poll(() => streams).toBeGreaterThanOrEqual(10)
    for (let i = 0; i < 20; i++) await runner.client.ok('getMcpServer', { params: { mcpServerId: server.id } })
    expect(streams).toBe(10)
  })

  /** A server of the older protocol. `answer` gets the stream after each message. */
  async function serveOverSse(answer: (stream: ServerResponse, message: { id?: number; method: string }) => void) {
    const seen = { streams: 0 }
    let stream: ServerResponse | null = null
    const url = await serve((request, response) => {
      if (request.method === 'GET') {
        seen.streams++
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
        return stream.write('event: endpoint\ndata: /messages\n\n')
      }
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        response.writeHead(202).end()
        answer(stream!, JSON.parse(body) as { id?: number; method: string })
      })
    })
    return { url: `${url}/sse`, seen }
  }

  it('goes on reading a stream of the older protocol after a message that is nested too deeply', async () => {
    const { url, seen } = await serveOverSse((stream, { id, method }) => {
      if (id === undefined) return
      stream.write(`data: {"jsonrpc":"2.0","id":4711,"result":{"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}}\n\n`)
      const about = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'deep', version: '1' } }
      stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? about : { tools: [] } })}\n\n`)
    })
    const { test } = await add({ kind: 'sse', url })
    expect((await test()).ok).toBe(true)
    expect(seen.streams).toBe(1)
  })

  it('keeps no connection open to a server of the older protocol that it cannot use', async () => {
    const open = new Set<object>()
    const url = await serve((request, response) => {
      open.add(request.socket)
      request.socket.once('close', () => open.delete(request.socket))
      response.writeHead(404, { 'content-type': 'text/html' })
      const more = () => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more)
      }
      more()
    })
    const { test } = await add({ kind: 'sse', url: `${url}/sse` })
    expect((await test()).ok).toBe(false)
    await expect.poll(() => open.size).toBe(0)
  })

  it('says that a sign-in is needed', async () => {
    const url = await serve((_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end())
    const { test } = await add({ kind: 'http', url: `${url}/mcp` })
    expect(await test()).toMatchObject({ ok: false, message: { code: 'mcp_unauthorized' }, server: { status: 'needs_sign_in' } })
  })

  it('stops reading a response that does not end', async () => {
    let sent = 0
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = () => {
        while (response.write('x'.repeat(65_536))) sent += 65_536
        response.once('drain', more)
      }
      more()
    })
    const { test } = await add({ kind: 'http', url: `${url}/mcp` })
    const before = process.memoryUsage().rss
    expect((await test()).ok).toBe(false)
    expect(sent).toBeLessThan(64 * 1024 * 1024)
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024)
  })
})
