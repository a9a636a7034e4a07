import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer as createTcpServer, Socket, type AddressInfo } from 'node:net'
import { brotliCompressSync, createGzip, gzipSync } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import { selfSigned } from '../../testing/self-signed.ts'
import { smallInternet, type SmallInternet } from '../../testing/small-internet.ts'
import { createGuardedFetch, GuardedFetchError, type GuardedFetchOptions } from './guarded-fetch.ts'

const SHORT_CAPS = { connectMs: 400, firstByteMs: 400, totalMs: 900 }

function fetchIn(net: SmallInternet, options: GuardedFetchOptions = {}) {
  return createGuardedFetch({ ...net.options, ...options })
}

async function troubleOf(call: Promise<unknown>): Promise<GuardedFetchError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof GuardedFetchError)) throw new Error(`expected a GuardedFetchError, got ${String(error)}`)
  return error
}

/** Spellings of addresses that no tool may reach, without a port. */
const PRIVATE_SPELLINGS = [
  // this machine, in numbers
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7F.0x0.0x0.0x1',
  '017700000001',
  '0177.0.0.1',
  '0177.0000.0000.0001',
  '127.0.0.1.',
  '127.0.0.1..',
  '0',
  '0.0.0.0',
  '0x0',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  '𝟭𝟮𝟳.𝟬.𝟬.𝟭',
  // this machine, in names
  'localhost',
  'LOCALHOST',
  'localhost.',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'loc\u00adalhost',
  'a.localhost',
  'localhost.localdomain',
  'printer.local',
  'intranet',
  // its addresses in the network, and its public ones
  '192.168.178.20',
  '203.1.113.7',
  '[2a01:4f8::7]',
  '[2A01:04F8:0000::0007]',
  // the network
  '10.0.0.1',
  '167772161',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '0xc0a80001',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.2.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  // what hands out credentials
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '169.254.43518',
  'metadata.google.internal',
  'metadata.google.internal.',
  '100.100.100.200',
  '168.63.129.16',
  '[fd00:ec2::254]',
  // IPv6, and IPv4 inside it
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:a00:1::1]',
  '[2001:0:7f00:1::]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[2001:db8::1]',
]

it('reads a public page', async () => {
  const net = await smallInternet()
  let seen: unknown
  await net.site('public.test', (request, response) => {
    seen = [request.method, request.url, request.headers.host, request.headers.cookie, request.headers.authorization]
    response.writeHead(200, { 'content-type': 'text/plain' }).end('hello')
  })
  const answer = await fetchIn(net)('http://public.test/a%20b?c=d#e')
  expect(answer).toMatchObject({ status: 200, isCut: false, cameFrom: [], sendsTo: null, headers: { 'content-type': 'text/plain' } })
  expect(answer.body.toString()).toBe('hello')
  expect(seen).toEqual(['GET', '/a%20b?c=d', 'public.test', undefined, undefined])
  expect(net.lookups).toEqual(['public.test'])
})

it.each(PRIVATE_SPELLINGS)('does not open %s', async (host) => {
  const net = await smallInternet()
  net.name('intranet', ['10.0.0.9'])
  for (const scheme of ['http', 'https'])
    expect((await troubleOf(fetchIn(net)(`${scheme}://${host}:${net.canary.port}/`))).kind).toBe('closed_address')
  expect(net.escapes).toEqual([])
  expect(net.canary.connections).toBe(0)
})

it.each(PRIVATE_SPELLINGS)('does not follow a redirect to %s', async (host) => {
  const net = await smallInternet()
  await net.site('public.test', (_request, response) => {
    response
      .writeHead(302, {
        location: encodeURI(`http://${host}:${net.canary.port}/`).replace(/%5b/gi, '[').replace(/%5d/gi, ']').replaceAll('%25', '%'),
      })
      .end()
  })
  const trouble = await troubleOf(fetchIn(net)('http://public.test/'))
  expect(trouble.kind).toBe('closed_address')
  expect(net.lookups).toEqual(['public.test'])
  expect(net.canary.connections).toBe(0)
})

it.each(PRIVATE_SPELLINGS)('does not connect to %s with its default way to connect', async (host) => {
  const net = await smallInternet()
  const { resolve, ownAddresses } = net.options
  const fetch = createGuardedFetch({ resolve, ownAddresses, caps: SHORT_CAPS })
  expect((await troubleOf(fetch(`http://${host}:${net.canary.port}/`))).kind).toBe('closed_address')
  expect(net.canary.connections).toBe(0)
})

it.each([
  ['127.0.0.1'],
  ['10.1.2.3'],
  ['169.254.169.254'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['fe80::1%eth0'],
  ['0177.0.0.1'],
  ['2130706433'],
  ['localhost'],
  ['203.1.113.7'],
])('does not connect to a public name that resolves to %s', async (address) => {
  const net = await smallInternet()
  net.name('evil.test', [address])
  expect((await troubleOf(fetchIn(net)(`http://evil.test:${net.canary.port}/`))).kind).toBe('closed_address')
  expect(net.canary.connections).toBe(0)
})

it('resolves a name once for each request, so DNS rebinding has no effect', async () => {
  const net = await smallInternet()
  const address = await net.site('flip.test', (_request, response) => void response.end('the public one'))
  net.name('flip.test', [address], ['127.0.0.1'])
  const fetch = fetchIn(net)
  expect((await fetch(`http://flip.test:${net.canary.port}/`)).body.toString()).toBe('the public one')
  expect(net.lookups).toEqual(['flip.test'])
  // The next request resolves again and refuses the private address.
  expect((await troubleOf(fetch(`http://flip.test:${net.canary.port}/`))).kind).toBe('closed_address')
  expect(net.canary.connections).toBe(0)
})

it('checks a name again when a redirect leads back to it', async () => {
  const net = await smallInternet()
  const address = await net.site('flip.test', (_request, response) => void response.writeHead(302, { location: '/again' }).end())
  net.name('flip.test', [address], ['192.168.0.1'])
  expect((await troubleOf(fetchIn(net)('http://flip.test/'))).kind).toBe('closed_address')
  expect(net.lookups).toEqual(['flip.test', 'flip.test'])
  expect(net.canary.connections).toBe(0)
})

it('connects to the public addresses of a name only, and tries the next one after a timeout', async () => {
  const net = await smallInternet()
  const address = await net.site('both.test', (_request, response) => void response.end('ok'))
  net.name('both.test', ['127.0.0.1', '::1', address, '10.0.0.1'])
  expect((await fetchIn(net)('http://both.test/')).body.toString()).toBe('ok')
  expect(net.canary.connections).toBe(0)
  const { dial } = net.options
  net.name('both.test', ['93.184.216.200', address])
  const answer = await fetchIn(net, {
    dial: (to, port) => (to === address ? dial(to, port) : connectNever()),
    caps: SHORT_CAPS,
  })('http://both.test/')
  expect(answer.body.toString()).toBe('ok')
})

it('sends no byte if the connected address is not the checked one', async () => {
  const net = await smallInternet()
  await net.site('public.test', (_request, response) => void response.end('ok'))
  let bytes = 0
  const elsewhere = createTcpServer((socket) => void socket.on('data', (chunk) => (bytes += chunk.length)))
  elsewhere.listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  onTestFinished(() => void elsewhere.close())
  const { port } = elsewhere.address() as AddressInfo
  // The system is given a public address but connects to this machine.
  const fetch = fetchIn(net, { dial: () => connect({ host: '127.0.0.1', port }) })
  for (const scheme of ['http', 'https']) expect((await troubleOf(fetch(`${scheme}://public.test/`))).kind).toBe('closed_address')
  await new Promise<void>((resolve) => elsewhere.close(() => resolve()))
  expect(bytes).toBe(0)
})

it.each([
  'file:///etc/passwd',
  'gopher://public.test/',
  'data:text/plain,hi',
  'ftp://public.test/',
  'http://me:secret@public.test/',
  'nonsense',
])('does not open %s, nor follow a redirect to it', async (address) => {
  const net = await smallInternet()
  const trouble = await troubleOf(fetchIn(net)(address))
  expect(trouble.kind).toBe('bad_url')
  expect(trouble.message).not.toContain('secret')
  await net.site('public.test', (_request, response) => void response.writeHead(302, { location: address }).end())
  const sent = fetchIn(net)('http://public.test/').then(({ status }) => status)
  // "nonsense" is a path of the same site, which redirects to itself.
  expect((await troubleOf(sent)).kind).toBe('redirect')
  expect(net.escapes).toEqual([])
})

it('ignores the proxy variables of the environment', async () => {
  const net = await smallInternet()
  await net.site('public.test', (_request, response) => void response.end('straight'))
  const proxy = `http://127.0.0.1:${net.canary.port}`
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy)
  vi.stubEnv('NODE_USE_ENV_PROXY', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect((await fetchIn(net)('http://public.test/')).body.toString()).toBe('straight')
  expect(net.canary.connections).toBe(0)
})

it('follows five redirects but not a sixth', async () => {
  const net = await smallInternet()
  await net.site('public.test', (request, response) => {
    const n = Number(request.url!.slice(1))
    if (n === 0) response.end('there')
    else response.writeHead(307, { location: `/${n - 1}` }).end()
  })
  const answer = await fetchIn(net)('http://public.test/5')
  expect(answer.body.toString()).toBe('there')
  expect(answer.cameFrom.map((url) => url.pathname)).toEqual(['/5', '/4', '/3', '/2', '/1'])
  expect((await troubleOf(fetchIn(net)('http://public.test/6'))).kind).toBe('redirect')
})

it('stops a redirect loop', async () => {
  const net = await smallInternet()
  await net.site('a.test', (_request, response) => void response.writeHead(302, { location: 'http://b.test/' }).end())
  await net.site('b.test', (_request, response) => void response.writeHead(302, { location: 'http://a.test/' }).end())
  expect((await troubleOf(fetchIn(net)('http://a.test/'))).message).toBe('a.test redirects more than 5 times.')
})

it('returns a redirect that should not be followed', async () => {
  const net = await smallInternet()
  await net.site('a.test', (_request, response) => void response.writeHead(302, { location: 'http://b.test/x' }).end())
  const answer = await fetchIn(net)('http://a.test/', { follows: (to, from) => to.host === from.host })
  expect(answer).toMatchObject({ status: 302, sendsTo: new URL('http://b.test/x') })
  expect(net.lookups).toEqual(['a.test'])
  const posted = await fetchIn(net)('http://a.test/', { method: 'POST', body: 'x' })
  expect(posted.sendsTo!.href).toBe('http://b.test/x')
})

it('sends custom headers only to the requested origin', async () => {
  const net = await smallInternet()
  const seen: (string | undefined)[] = []
  await net.site('a.test', (request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(302, { location: request.url === '/' ? '/2' : 'http://b.test/', 'set-cookie': 'a=1' }).end()
  })
  await net.site('b.test', (request, response) => {
    seen.push(request.headers.authorization, request.headers.cookie)
    response.end()
  })
  await fetchIn(net)('http://a.test/', { headers: { authorization: 'Bearer key' } })
  expect(seen).toEqual(['Bearer key', 'Bearer key', undefined, undefined])
})

it('opens hosts and ranges that the person opened, and no others', async () => {
  const net = await smallInternet()
  net.name('nas.local', ['192.168.1.5'])
  net.name('other.local', ['192.168.1.6'])
  net.name('meta.local', ['169.254.169.254'])
  const fetch = fetchIn(net, {
    opened: ['nas.local:5000', '10.9.0.0/16', 'meta.local', '[fd00::5]:8080', 'not a host', '127.0.0.1'],
    closedPorts: [3001],
    dial: (address) => {
      const socket = connect({ host: '127.0.0.1', port: net.canary.port })
      Object.defineProperty(socket, 'remoteAddress', { value: address })
      return socket
    },
  })
  for (const open of ['http://nas.local:5000/', 'http://10.9.8.7/', 'http://[fd00::5]:8080/', 'http://127.0.0.1:8000/'])
    expect((await fetch(open)).body.toString()).toBe('CANARY')
  const before = net.canary.connections
  for (const shut of [
    'http://nas.local/',
    'http://other.local:5000/',
    'http://10.10.0.1/',
    'http://192.168.1.5:5000/',
    'http://meta.local/',
    'http://[fd00::5]/',
    'http://[::1]:8000/',
    // Deckhand's own port stays closed although the host is open.
    'http://127.0.0.1:3001/',
  ])
    expect((await troubleOf(fetch(shut))).kind).toBe('closed_address')
  expect(net.canary.connections).toBe(before)
})

it('explains how to open the addresses of a fake-IP proxy', async () => {
  const net = await smallInternet()
  net.name('news.test', ['198.18.3.4'])
  expect((await troubleOf(fetchIn(net)('http://news.test/'))).message).toMatch(/fake IP.*can open 198\.18\.0\.0\/15 for tools/)
  const opened = fetchIn(net, {
    opened: ['198.18.0.0/15'],
    dial: () => Object.defineProperty(connect({ host: '127.0.0.1', port: net.canary.port }), 'remoteAddress', { value: '198.18.3.4' }),
  })
  expect((await opened('http://news.test/')).status).toBe(200)
})

it('names no inner address in an error', async () => {
  const net = await smallInternet()
  net.name('wiki.corp.test', ['10.20.30.40'])
  const { message } = await troubleOf(fetchIn(net)('http://wiki.corp.test/'))
  expect(message).toMatch(/^wiki\.corp\.test leads to a private address\./)
  expect(message).not.toContain('10.20')
})

it('reports a host name that does not exist', async () => {
  const net = await smallInternet()
  expect((await troubleOf(fetchIn(net)('http://missing.test/'))).message).toBe('There is no host named missing.test.')
})

it('reads an https page, and rejects a certificate for another host', async () => {
  const net = await smallInternet()
  const pair = selfSigned('secure.test')
  const server = createHttpsServer(pair, (_request, response) => void response.end('secret'))
  const address = await net.place('secure.test', server)
  net.name('other.test', [address])
  const fetch = fetchIn(net, { ca: pair.cert })
  expect((await fetch('https://secure.test/')).body.toString()).toBe('secret')
  expect((await troubleOf(fetch('https://other.test/'))).message).toMatch(
    /secure connection to other\.test failed \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
  )
  expect((await troubleOf(fetchIn(net)('https://secure.test/'))).kind).toBe('tls')
  // Both the TLS connection and the TCP connection below it are closed.
  await expect.poll(() => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))).toBe(0)
})

const endless = (write: (text: Buffer) => boolean, onDrain: (again: () => void) => void, isOver: () => boolean) => {
  const chunk = Buffer.alloc(100_000, 'x')
  const more = () => {
    while (!isOver()) if (!write(chunk)) return onDrain(more)
  }
  more()
}

it.each([
  ['a length of 10 GB', { 'content-length': String(10_000_000_000) }],
  ['no length', {}],
])('reads at most 5 MB of an endless response with %s', async (_which, headers) => {
  const net = await smallInternet()
  let written = 0
  await net.site('public.test', (_request, response) => {
    response.writeHead(200, headers)
    endless(
      (chunk) => ((written += chunk.length), response.write(chunk)),
      (again) => void response.once('drain', again),
      () => response.destroyed,
    )
  })
  const answer = await fetchIn(net)('http://public.test/')
  expect(answer).toMatchObject({ isCut: true, body: { length: 5_000_000 } })
  expect(written).toBeLessThan(60_000_000)
})

it.each([
  ['gzip', (bytes: Buffer) => gzipSync(bytes)],
  ['br', (bytes: Buffer) => brotliCompressSync(bytes)],
])('reads at most 5 MB from a %s bomb', async (encoding, pack) => {
  const net = await smallInternet()
  const bomb = pack(Buffer.alloc(200_000_000))
  await net.site('public.test', (_request, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(bomb))
  const before = process.memoryUsage().rss
  const answer = await fetchIn(net)('http://public.test/')
  expect(answer).toMatchObject({ isCut: true, body: { length: 5_000_000 } })
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
})

it('stops reading compressed bytes that decompress to nothing', async () => {
  const net = await smallInternet()
  // An endless sequence of empty gzip members.
  const nothing = Buffer.concat(Array.from({ length: 5_000 }, () => gzipSync('')))
  await net.site('public.test', (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    endless(
      () => response.write(nothing),
      (again) => void response.once('drain', again),
      () => response.destroyed,
    )
  })
  expect((await troubleOf(fetchIn(net)('http://public.test/'))).message).toBe('public.test: the response is too large.')
})

it('reads a whole compressed response', async () => {
  const net = await smallInternet()
  await net.site('public.test', (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    const gzip = createGzip()
    gzip.pipe(response)
    gzip.end('x'.repeat(1_000_000))
  })
  expect(await fetchIn(net)('http://public.test/')).toMatchObject({ isCut: false, body: { length: 1_000_000 } })
})

it.each<[string, string, string]>([
  ['a protocol that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'protocol'],
  ['a bare page, as HTTP/0.9 did', '<html>old</html>', 'protocol'],
  ['an endless header', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`, 'protocol'],
  ['endless headers', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(100_000)}\r\n`, 'protocol'],
  ['a body shorter than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', 'reset'],
  ['two content lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nhalf', 'protocol'],
  [
    'a content length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n\r\n',
    'protocol',
  ],
  ['a negative content length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nhalf', 'protocol'],
  ['half a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nhalf', 'reset'],
  ['damaged compression', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nhalf', 'protocol'],
  ['half a compressed response', `HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 0\r\n\r\n`, 'protocol'],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', 'protocol'],
  ['nothing and closes the connection', '', 'reset'],
])('reports the problem with a server that sends %s', async (_what, bytes, kind) => {
  const net = await smallInternet()
  await net.rawSite('public.test', (socket) => void socket.once('data', () => socket.end(bytes)))
  const trouble = await troubleOf(fetchIn(net, { caps: SHORT_CAPS })('http://public.test/'))
  expect([trouble.kind, trouble.message]).toEqual([kind, expect.stringMatching(/^public\.test.+\.$/)])
})

it('ignores bytes behind the announced body', async () => {
  const net = await smallInternet()
  await net.rawSite('public.test', (socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhalfHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'),
    )
  })
  expect((await fetchIn(net)('http://public.test/')).body.toString()).toBe('half')
})

const head = 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n'

it.each<[string, string, string, RegExp]>([
  ['never responds', 'http', '', /did not begin to respond within 0\.4 s/],
  ['sends early hints forever', 'http', 'HTTP/1.1 103 Early Hints\r\n\r\n', /did not begin to respond within 0\.4 s/],
  ['drips its headers', 'http', 'HTTP/1.1 200 OK\r\nx-a: 1\r\n', /did not begin to respond within 0\.4 s/],
  ['drips its body', 'http', head, /did not finish its response within 0\.9 s/],
  ['never completes the handshake', 'https', '', /No connection to public\.test within 0\.4 s/],
])('gives up on a server that %s', async (_what, scheme, first, message) => {
  const net = await smallInternet()
  let closed = false
  await net.rawSite('public.test', (socket) => {
    socket.on('close', () => (closed = true))
    socket.once('data', () => {
      socket.write(first)
      const drip = setInterval(
        () => socket.write(first.startsWith('HTTP/1.1 103') ? first : first === head ? 'x' : first === '' ? '' : 'x-b: 1\r\n'),
        20,
      )
      socket.on('close', () => clearInterval(drip))
    })
  })
  const trouble = await troubleOf(fetchIn(net, { caps: SHORT_CAPS })(`${scheme}://public.test/`))
  expect(trouble.kind).toBe('timeout')
  expect(trouble.message).toMatch(message)
  expect(trouble.maybeSent).toBe(scheme === 'http')
  await expect.poll(() => closed).toBe(true)
})

it('times out when the resolver or the address never responds', async () => {
  const net = await smallInternet()
  net.name('public.test', ['93.184.216.200'])
  const silent = fetchIn(net, { resolve: () => new Promise(() => {}), caps: SHORT_CAPS })
  expect((await troubleOf(silent('http://public.test/'))).message).toBe('No connection to public.test within 0.4 s.')
  const nobody = fetchIn(net, { dial: connectNever, caps: SHORT_CAPS })
  expect((await troubleOf(nobody('http://public.test/'))).message).toBe('No connection to public.test within 0.4 s.')
})

it('rejects with the reason of its signal at every stage', async () => {
  const reason = new Error('stopped')
  const net = await smallInternet()
  const arrived: (() => void)[] = []
  await net.rawSite('public.test', (socket) => {
    socket.once('data', (request) => {
      if (request.toString().includes('/body')) socket.write(head)
      arrived.shift()!()
    })
  })
  await expect(fetchIn(net)('http://public.test/', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  for (const path of ['/head', '/body']) {
    const stop = new AbortController()
    arrived.push(() => setImmediate(() => stop.abort(reason)))
    await expect(fetchIn(net)(`http://public.test${path}`, { signal: stop.signal })).rejects.toBe(reason)
  }
  const stop = new AbortController()
  const resolving = fetchIn(net, { resolve: () => new Promise(() => {}) })('http://public.test/', { signal: stop.signal })
  stop.abort(reason)
  await expect(resolving).rejects.toBe(reason)
})

it('does not read a body that is not wanted', async () => {
  const net = await smallInternet()
  let written = 0
  await net.site('public.test', (_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '1000000000' })
    endless(
      (chunk) => ((written += chunk.length), response.write(chunk)),
      (again) => void response.once('drain', again),
      () => response.destroyed,
    )
  })
  const answer = await fetchIn(net)('http://public.test/', { readsBody: ({ headers }) => headers['content-type'] !== 'video/mp4' })
  expect(answer.body.length).toBe(0)
  expect(answer.headers['content-length']).toBe('1000000000')
  expect(written).toBeLessThan(60_000_000)
})

it('keeps no connection open', async () => {
  const net = await smallInternet()
  const open = new Set<unknown>()
  await net.rawSite('public.test', (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok'))
  })
  for (let n = 0; n < 3; n++) await fetchIn(net)('http://public.test/')
  await expect.poll(() => open.size).toBe(0)
})

it('opens an origin from a setting only for the request that names it', async () => {
  const net = await smallInternet()
  const own = `http://127.0.0.1:${net.canary.port}`
  const fetch = createGuardedFetch({ closedPorts: [1234] })
  expect((await fetch(`${own}/search?q=x`, { openedOrigin: own })).body.toString()).toBe('CANARY')
  expect((await troubleOf(fetch(`${own}/search?q=x`))).kind).toBe('closed_address')
  expect((await troubleOf(fetch('http://127.0.0.1:1234/', { openedOrigin: 'http://127.0.0.1:1234' }))).kind).toBe('closed_address')
  expect((await troubleOf(fetch('http://127.0.0.2/', { openedOrigin: own }))).kind).toBe('closed_address')
})

/** A connection attempt that is never answered. */
function connectNever(): Socket {
  return new Socket()
}

it('sends what a call changes, once, and never to where it is redirected', async () => {
  const net = await smallInternet()
  const seen: string[] = []
  await net.site('a.test', (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString('hex')}`)
      response.writeHead(request.url === '/there' ? 200 : 307, { location: '/there' }).end('done')
    })
  })
  const fetch = fetchIn(net)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const answer = await fetch('http://a.test/', { method, body: Buffer.from([0, 255]), follows: () => true })
    expect(answer.sendsTo!.href).toBe('http://a.test/there')
  }
  expect(seen).toEqual(['POST / 00ff', 'PUT / 00ff', 'PATCH / 00ff', 'DELETE / 00ff'])
  const head = await fetch('http://a.test/', { method: 'HEAD' })
  expect([head.status, head.body.length, seen.slice(4)]).toEqual([200, 0, ['HEAD / ', 'HEAD /there ']])
})
