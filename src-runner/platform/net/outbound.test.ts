import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { createOutbound, OutboundError } from './outbound.ts'

const open: { close(): unknown }[] = []

afterEach(async () => {
  for (const thing of open.splice(0)) thing.close()
})

function outbound(options?: Parameters<typeof createOutbound>[0]) {
  const made = createOutbound(options)
  open.push(made)
  return made.fetch
}

async function serve(answer: RequestListener): Promise<{ url: string; server: Server; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    seen.push(request)
    request.resume()
    request.on('end', () => answer(request, response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({ close: () => server.close() && server.closeAllConnections() })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, seen }
}

async function serveRaw(onSocket: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function troubleOf(call: Promise<unknown>): Promise<OutboundError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof OutboundError)) throw new Error(`expected an OutboundError, got ${String(error)}`)
  return error
}

it('sends method, headers and body, and reads the response', async () => {
  const { url } = await serve((request, response) => {
    response.writeHead(201, { 'x-kind': 'test', 'set-cookie': ['a=1', 'b=2'] }).end(`${request.method} ${String(request.headers['x-one'])}`)
  })
  const answer = await outbound()(`${url}/a?b=c`, { method: 'post', headers: { 'X-One': '1' }, body: 'é' })
  expect(answer.status).toBe(201)
  expect(answer.headers.get('x-kind')).toBe('test')
  expect(await answer.text()).toBe('POST 1')
})

it('opens only http and https addresses without a password', async () => {
  for (const url of ['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:text/plain,hi', 'http://me:secret@127.0.0.1/', 'nonsense']) {
    const trouble = await troubleOf(outbound()(url))
    expect(trouble.kind).toBe('bad_url')
    expect(trouble.message).not.toContain('secret')
  }
})

it('ignores the proxy variables of the environment', async () => {
  const proxy = await serve((_request, response) => void response.end('from the proxy'))
  const { url } = await serve((_request, response) => void response.end('from the server'))
  for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy.url)
  vi.stubEnv('NODE_USE_ENV_PROXY', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await (await outbound()(url)).text()).toBe('from the server')
  expect(proxy.seen).toHaveLength(0)
})

it('reuses an idle connection', async () => {
  const { url, server } = await serve((_request, response) => void response.end('ok'))
  let connections = 0
  server.on('connection', () => connections++)
  const fetch = outbound()
  for (let n = 0; n < 4; n++) await (await fetch(url)).text()
  expect(connections).toBe(1)
})

it.each<[string, (socket: Socket) => void]>([
  ['closed', (socket) => void socket.end()],
  ['reset', (socket) => void socket.resetAndDestroy()],
])('retries over a new connection when an idle one was %s by the server', async (_how, breakOff) => {
  let served = 0
  const url = await serveRaw((socket) => {
    let first = true
    socket.on('data', () => {
      // The server closes the connection as the second request arrives.
      if (!first) return breakOff(socket)
      first = false
      served++
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    })
  })
  const fetch = outbound()
  const ask = async () => (await fetch(url, { method: 'POST', body: 'x' })).text()
  // Two idle connections: the retry must not take the other one, which is dead as well.
  expect(await Promise.all([ask(), ask()])).toEqual(['ok', 'ok'])
  expect(await ask()).toBe('ok')
  expect(served).toBe(3)
})

it.each([
  ['GET', 3],
  ['POST', 2],
])('handles a reused connection that breaks after a while during %s', async (method, expected) => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  let requests = 0
  const url = await serveRaw((socket) => {
    socket.on('data', () => {
      if (++requests !== 2) return void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      vi.advanceTimersByTime(1500)
      socket.resetAndDestroy()
    })
  })
  const fetch = outbound()
  await (await fetch(url)).text()
  vi.advanceTimersByTime(1)
  const second = fetch(url, method === 'POST' ? { method, body: 'x' } : {})
  if (method === 'POST') expect((await troubleOf(second)).kind).toBe('reset')
  else expect((await second).status).toBe(200)
  expect(requests).toBe(expected)
})

it.each([
  ['before the response', ''],
  ['within the head of the response', 'HTTP/1.1 200 OK\r\nx'],
])('does not retry when a new connection breaks %s', async (_when, bytes) => {
  let requests = 0
  const url = await serveRaw((socket) => {
    socket.on('data', () => {
      requests++
      socket.end(bytes)
    })
  })
  expect((await troubleOf(outbound()(url, { method: 'POST', body: 'x' }))).kind).toBe('reset')
  expect(requests).toBe(1)
})

it.each([
  [307, 'POST', 'POST'],
  [308, 'POST', 'POST'],
  [302, 'GET', 'GET'],
])('follows a %i within the origin with method and body', async (status, method, expected) => {
  const { url, seen } = await serve((request, response) => {
    if (request.url === '/old') response.writeHead(status, { location: '/new' }).end()
    else response.end(request.method)
  })
  const answer = await outbound()(`${url}/old`, {
    method,
    headers: { authorization: 'Bearer key' },
    ...(method === 'POST' ? { body: 'words' } : {}),
  })
  expect(await answer.text()).toBe(expected)
  expect(seen[1]!.headers.authorization).toBe('Bearer key')
})

it.each([
  ['a key', { headers: { authorization: 'Bearer key' } }],
  ['a key of Anthropic', { headers: { 'X-Api-Key': 'key' } }],
  ['a key of Google', { headers: { 'x-goog-api-key': 'key' } }],
  ['a conversation', { method: 'POST', body: 'words' }],
])('does not send %s to another origin', async (_what, init) => {
  const elsewhere = await serve((_request, response) => void response.end('stolen'))
  const { url } = await serve((_request, response) => void response.writeHead(307, { location: `${elsewhere.url}/x` }).end())
  const trouble = await troubleOf(outbound()(url, init))
  expect(trouble.kind).toBe('redirect')
  expect(trouble.message).toContain(elsewhere.url)
  expect(elsewhere.seen).toHaveLength(0)
})

it('follows a redirect of a plain request to another origin by default', async () => {
  const elsewhere = await serve((_request, response) => void response.end('there'))
  const { url } = await serve((_request, response) => void response.writeHead(302, { location: elsewhere.url }).end())
  expect(await (await outbound()(url)).text()).toBe('there')
  expect((await troubleOf(outbound()(url, { redirect: 'error' }))).kind).toBe('redirect')
  expect((await outbound()(url, { redirect: 'manual' })).status).toBe(302)
})

it.each([
  ['to itself', '/again'],
  ['to a file', 'file:///etc/passwd'],
])('refuses a redirect %s', async (_how, location) => {
  const { url, seen } = await serve((_request, response) => void response.writeHead(302, { location }).end())
  expect((await troubleOf(outbound()(url))).kind).toBe('redirect')
  expect(seen.length).toBeLessThanOrEqual(6)
})

it('does not turn a POST into a GET', async () => {
  const { url, seen } = await serve((_request, response) => void response.writeHead(302, { location: '/login' }).end())
  expect((await troubleOf(outbound()(url, { method: 'POST', body: 'x' }))).kind).toBe('redirect')
  expect(seen).toHaveLength(1)
})

it.each([
  ['endless headers', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`, 'protocol'],
  ['a protocol that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'protocol'],
  ['nothing and closes the connection', '', 'reset'],
])('reports the problem with a server that sends %s', async (_what, bytes, kind) => {
  const url = await serveRaw((socket) => void socket.once('data', () => socket.end(bytes)))
  expect((await troubleOf(outbound()(url))).kind).toBe(kind)
})

it('reports a body that breaks off', async () => {
  const url = await serveRaw((socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')))
  const answer = await outbound()(url)
  expect((await troubleOf(answer.text())).kind).toBe('reset')
})

it('reports damaged compression', async () => {
  const { url } = await serve((_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'))
  const answer = await outbound()(url)
  expect((await troubleOf(answer.text())).kind).toBe('protocol')
})

it('times out when the TLS handshake never completes', async () => {
  const url = await serveRaw(() => {})
  const trouble = await troubleOf(outbound({ connectTimeoutMs: 50 })(url.replace('http:', 'https:')))
  expect(trouble.kind).toBe('unreachable')
})

it('rejects with the reason of its signal before and during the response', async () => {
  const { url } = await serve((request, response) => {
    if (request.url === '/body') response.writeHead(200).write('first')
  })
  const reason = new Error('stopped')
  const fetch = outbound()
  await expect(fetch(url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const beforeHead = new AbortController()
  const call = fetch(url, { signal: beforeHead.signal })
  beforeHead.abort(reason)
  await expect(call).rejects.toBe(reason)
  const during = new AbortController()
  const answer = await fetch(`${url}/body`, { signal: during.signal })
  const reader = answer.body!.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('first')
  during.abort(reason)
  await expect(reader.read()).rejects.toBe(reason)
})

it('reports bytes as they arrive, and ends the response when the callback throws', async () => {
  const { url } = await serve((_request, response) => void response.end('x'.repeat(200_000)))
  let heard = 0
  await (await outbound()(url, { onBytes: (count) => (heard += count) })).text()
  expect(heard).toBe(200_000)
  const enough = new Error('enough')
  const answer = await outbound()(url, {
    onBytes: () => {
      throw enough
    },
  })
  await expect(answer.text()).rejects.toBe(enough)
})

it('applies backpressure to a fast server while nobody reads', async () => {
  let written = 0
  const { url } = await serve((_request, response) => {
    const more = () => {
      while (!response.destroyed && written < 400_000_000) {
        written += 100_000
        if (!response.write(Buffer.alloc(100_000))) return void response.once('drain', more)
      }
    }
    more()
  })
  const answer = await outbound()(url)
  const reader = answer.body!.getReader()
  await reader.read()
  // Once the kernel buffers are full, the server can write no more, however often the event loop turns.
  for (let [before, turns] = [written, 0]; turns < 1000; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (before !== written) [before, turns] = [written, 0]
  }
  expect(written).toBeLessThan(50_000_000)
  await reader.cancel()
})
