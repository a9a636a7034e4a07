import { englishText } from '../../lib/messages.ts'
import { createServer as createHttpServer, request } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import type { SandboxOptions } from './sandbox-types.ts'
import { findSandboxHere, NO_SANDBOX_HERE } from '../../testing/sandbox-here.ts'
import { MAX_CONNECTIONS, openNetworkProxy, type NetworkProxyOptions } from './network-proxy.ts'
import { runSandboxed } from './run-sandboxed.ts'

const { sandbox: found, isMissing } = await findSandboxHere('bubblewrap')
const hasNetwork = !isMissing && found.network.works
if (!isMissing && !hasNetwork) console.log(`${NO_SANDBOX_HERE}${found.network.reason === null ? '' : englishText(found.network.reason)}`)

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function webServer() {
  const seen: string[] = []
  const port = await listening(
    createHttpServer((incoming, response) => {
      seen.push(`${incoming.method} ${incoming.url} ${incoming.headers.host} ${incoming.headers['proxy-authorization'] ?? '-'}`)
      let body = ''
      incoming.on('data', (chunk) => void (body += String(chunk)))
      incoming.on('end', () => response.setHeader('x-served', 'yes').end(`page ${body}`))
    }),
  )
  return { port, seen }
}

const open = async (options?: NetworkProxyOptions) => {
  const proxy = await openNetworkProxy(options)
  onTestFinished(() => proxy.close())
  return proxy.socketPath
}
const toLoopback: NetworkProxyOptions = { mayReach: (address) => address === '127.0.0.1' }

function ask(socketPath: string, url: string, method = 'GET', body = ''): Promise<{ status: number; text: string; served: unknown }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path: url, method, headers: { host: 'ignored', 'proxy-authorization': 'secret' } }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => void (text += String(chunk)))
      answer.on('end', () => resolve({ status: answer.statusCode!, text, served: answer.headers['x-served'] }))
    })
    outgoing.on('error', reject).end(body)
  })
}

/** The response to `CONNECT`, and to what is sent afterwards. */
function tunnelTo(socketPath: string, target: string, say = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(socketPath, () => socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`))
    socket.on('data', (chunk) => {
      text += String(chunk)
      if (say !== '' && text.endsWith('established\r\n\r\n')) socket.end(say)
    })
    socket.on('error', reject).on('close', () => resolve(text))
  })
}

describe('the network proxy of the sandbox', () => {
  it('forwards requests to allowed addresses', async () => {
    const { port, seen } = await webServer()
    const proxy = await open(toLoopback)
    expect(await ask(proxy, `http://127.0.0.1:${port}/a?b=c`)).toEqual({ status: 200, text: 'page ', served: 'yes' })
    expect(await ask(proxy, `http://localhost:${port}/up`, 'POST', 'text')).toMatchObject({ status: 200, text: 'page text' })
    expect(seen).toEqual([`GET /a?b=c 127.0.0.1:${port} -`, `POST /up localhost:${port} -`])
  })

  it('tunnels in both directions', async () => {
    const port = await listening(
      createServer((socket) => void socket.on('data', (chunk) => socket.end(`heard ${String(chunk)}`)).on('error', () => {})),
    )
    expect(await tunnelTo(await open(toLoopback), `127.0.0.1:${port}`, 'hello')).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nheard hello$/s)
  })

  it.each([
    'localhost',
    '127.0.0.1',
    '127.1',
    '0.0.0.0',
    '2130706433',
    '0x7f000001',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '169.254.169.254',
    '100.100.100.200',
    '10.0.0.1',
    '192.168.1.1',
    '172.16.0.1',
    '100.64.0.1',
    '[fd00::1]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '224.0.0.1',
    '255.255.255.255',
  ])('does not connect to %s', async (host) => {
    const { port, seen } = await webServer()
    const proxy = await open()
    expect(await tunnelTo(proxy, `${host}:${port}`, 'GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 (403|502) /)
    expect((await ask(proxy, `http://${host}:${port}/`)).status).toBeGreaterThanOrEqual(400)
    expect(seen).toEqual([])
  })

  it.each(['example.org:25', 'example.org:587', 'example.org:0', 'example.org:99999', 'example.org', ':443', ''])(
    'does not take %j',
    async (target) => expect(await tunnelTo(await open({ mayReach: () => true }), target)).toMatch(/^(HTTP\/1\.1 (403|502|400) |$)/),
  )

  it.each(['HTTP/1.1 000 No', 'HTTP/1.1 099 No', 'HTTP/1.1 99 No', 'HTTP/1.1 200 OK\r\nX: a\0b', 'no'])(
    'outlives a web server that answers %j',
    async (head) => {
      const answer = (socket: Socket) => void socket.once('data', () => socket.end(`${head}\r\nContent-Length: 2\r\n\r\nok`))
      const port = await listening(createServer(answer))
      const proxy = await open(toLoopback)
      expect((await ask(proxy, `http://127.0.0.1:${port}/`)).status).toBe(502)
      expect((await ask(proxy, `http://127.0.0.1:${(await webServer()).port}/`)).status).toBe(200)
    },
  )

  it('takes a limited number of connections, and more when some are closed', async () => {
    const { port } = await webServer()
    const proxy = await open(toLoopback)
    let refused = 0
    const held = Array.from({ length: MAX_CONNECTIONS + 10 }, () =>
      connect(proxy)
        .on('error', () => {})
        .on('close', () => refused++),
    )
    onTestFinished(() => held.forEach((socket) => socket.destroy()))
    await expect.poll(() => refused).toBe(10)
    await expect(ask(proxy, `http://127.0.0.1:${port}/`)).rejects.toThrow()
    held.find((socket) => !socket.destroyed)!.destroy()
    await expect.poll(() => ask(proxy, `http://127.0.0.1:${port}/`).catch(() => null)).toMatchObject({ status: 200 })
  })

  it('accepts only web addresses', async () => {
    const proxy = await open(toLoopback)
    for (const url of ['/etc/passwd', 'ftp://127.0.0.1/', 'https://127.0.0.1/', 'file:///etc/passwd'])
      expect((await ask(proxy, url)).status).toBe(403)
  })

  it('reports a refused connection', async () => {
    const server = createServer()
    const port = await listening(server)
    await new Promise((resolve) => server.close(resolve))
    expect(await ask(await open(toLoopback), `http://127.0.0.1:${port}/`)).toMatchObject({
      status: 502,
      text: 'No connection: ECONNREFUSED\n',
    })
  })

  it('closes its connections when it is closed', async () => {
    const port = await listening(createServer((socket) => void socket.on('error', () => {})))
    const proxy = await openNetworkProxy(toLoopback)
    const socket = connect(proxy.socketPath, () => socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`))
    await new Promise((resolve) => socket.once('data', resolve))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await proxy.close()
    await closed
  })
})

describe.skipIf(!hasNetwork)('a command with network', () => {
  const run = async (script: string, network: SandboxOptions['network']) => {
    const folder = (await scratchFolder('Work')).path
    return runSandboxed({
      sandbox: found,
      command: ['/usr/bin/python3', '-c', script],
      folder,
      writable: [folder],
      network: network!,
      timeoutMs: 120_000,
    }).outcome
  }
  const fetchPage = (port: number) => `
import urllib.request, os
os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''
print(urllib.request.urlopen('http://127.0.0.1:${port}/from-the-sandbox').read().decode())`

  it('reaches what the proxy reaches', async () => {
    const { port, seen } = await webServer()
    expect(await run(fetchPage(port), toLoopback)).toMatchObject({ exitCode: 0, output: 'page \n' })
    expect(seen).toEqual([`GET /from-the-sandbox 127.0.0.1:${port} -`])
  })

  it('cannot reach this machine, with or without the proxy', async () => {
    const { port, seen } = await webServer()
    expect((await run(fetchPage(port), true)).output).toContain('HTTP Error 403')
    expect((await run(`import socket; socket.create_connection(('127.0.0.1', ${port}), 2)`, true)).output).toContain('Connection refused')
    expect(seen).toEqual([])
  })

  it('has no other interface and sees only the socket of the proxy', async () => {
    const { output } = await run("import socket, os; print([n for _, n in socket.if_nameindex()], sorted(os.listdir('/sandbox')))", true)
    expect(output).toBe("['lo'] ['home', 'network']\n")
  })

  it('otherwise behaves like any command', async () => {
    expect(await run('import sys; print("out"); print("err", file=sys.stderr); sys.exit(4)', true)).toMatchObject({
      exitCode: 4,
      ended: 'exited',
    })
  })
})
