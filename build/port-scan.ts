// `node build/port-scan.ts`, part of `npm run test:long`: which ports are open at which address of this machine, in every mode.
// It runs in a network of its own (Linux), where nothing else listens: loopback and one card, with IPv4 and IPv6. Every TCP port
// of every address is tried, and the kernel's own list, of UDP too, has to agree. `--listed` tries only the ports in that list.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Host } from '../src-main/host.ts'
import { startHost } from '../src-main/testing/start-host.ts'

const ONLY_LISTED = process.argv.includes('--listed')
const AT_ONCE = 400
const LAN = ['192.168.77.5', 'fd77::5'] as const
const CARD = [
  'ip link set lo up',
  'ip link add lan0 type veth peer name lan1',
  `ip address add ${LAN[0]}/24 dev lan0`,
  `ip address add ${LAN[1]}/64 dev lan0 nodad`,
  'ip link set lan0 up',
  'ip link set lan1 up',
]

/** Port to addresses. */
type Open = Record<string, string[]>

/** The default ports: nothing else can have them here. */
const [DASHBOARD, RUNNER, WEBHOOKS] = [3000, 3001, 3002]
const LOOPBACK = ['127.0.0.1']
/** Sharing: every address of IPv4, and none of IPv6. */
const IPV4 = ['127.0.0.1', '127.0.0.2', LAN[0]]

async function main(): Promise<void> {
  const addresses = addressesHere()
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-ports-'))
  let host: Host | null = null
  let failed = 0

  async function start(env: Record<string, string> = {}): Promise<Host> {
    await host?.stop()
    host = await startHost(folder, env)
    return host
  }

  async function expectOpen(mode: string, expected: Open): Promise<void> {
    const from = performance.now()
    const listed = listeners()
    const open: Open = {}
    const ports = ONLY_LISTED ? listed : Array.from({ length: 65_535 }, (_, index) => index + 1)
    for (const address of addresses) for (const port of await findOpen(address, ports)) (open[port] ??= []).push(address)
    const isRight = isDeepStrictEqual(open, expected) && isDeepStrictEqual(listed, Object.keys(expected).map(Number))
    if (!isRight) failed++
    const seconds = ((performance.now() - from) / 1000).toFixed(1)
    process.stdout.write(`${isRight ? 'ok  ' : 'BAD '} ${mode} (${seconds} s)\n`)
    for (const [port, at] of Object.entries(open)) process.stdout.write(`       ${port}  ${at.join('  ')}\n`)
    if (!isRight) process.stdout.write(`       expected ${JSON.stringify(expected)}, listed ${listed.join()}\n`)
  }

  try {
    process.stdout.write(`addresses: ${addresses.join('  ')}; ports tried at each: ${ONLY_LISTED ? 'those listed' : '65,535'}\n`)
    let running = await start()
    await expectOpen('local-trust', { [DASHBOARD]: LOOPBACK, [RUNNER]: LOOPBACK })
    await (await running.signIn.accounts()).createOwner({ name: 'Ann', password: 'a password that is long enough' })
    await running.share(true)
    await expectOpen('local-auth, shared on the network', { [DASHBOARD]: IPV4, [RUNNER]: IPV4 })
    await running.encryptSharing(true)
    await expectOpen('local-auth, shared over HTTPS', { [DASHBOARD]: IPV4, [RUNNER]: IPV4 })
    running = await start({ INGRESS_PORT: String(WEBHOOKS) })
    const shared = { [DASHBOARD]: IPV4, [RUNNER]: IPV4, [WEBHOOKS]: LOOPBACK }
    await expectOpen('the same after a start, with a webhook-only listener', shared)
    await running.share(false)
    const trusted = { [DASHBOARD]: LOOPBACK, [RUNNER]: LOOPBACK, [WEBHOOKS]: LOOPBACK }
    await expectOpen('local-trust after sharing, with a webhook-only listener', trusted)
    await start({ AUTH_MODE: 'local-auth' })
    await expectOpen('local-auth by the environment', { [DASHBOARD]: LOOPBACK, [RUNNER]: LOOPBACK })
    await start({ AUTH_MODE: 'bearer-token' })
    await expectOpen('bearer-token', { [DASHBOARD]: LOOPBACK, [RUNNER]: LOOPBACK })
    await start({ AUTH_MODE: 'bearer-token', RUNNER_HOST: LAN[0] })
    await expectOpen('bearer-token, one address', { [DASHBOARD]: LOOPBACK, [RUNNER]: [LAN[0]] })
    await start({ AUTH_MODE: 'bearer-token', RUNNER_HOST: '::', INGRESS_PORT: String(WEBHOOKS) })
    const everywhere = { [DASHBOARD]: LOOPBACK, [RUNNER]: addresses, [WEBHOOKS]: LOOPBACK }
    await expectOpen('bearer-token, everywhere, with a webhook-only listener', everywhere)
    await host!.stop()
    host = null
    await expectOpen('stopped', {})
  } finally {
    await (host as Host | null)?.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  process.exitCode = failed > 0 ? 1 : 0
}

/** All addresses here, and one of loopback at which nobody listens who does not listen everywhere. */
function addressesHere(): string[] {
  const all = Object.entries(networkInterfaces()).flatMap(([card, list]) =>
    (list ?? []).map(({ address }) => (address.startsWith('fe80') ? `${address}%${card}` : address)),
  )
  const missing = ['127.0.0.1', '::1', ...LAN].filter((address) => !all.includes(address))
  if (missing.length > 0) throw new Error(`the network here has no ${missing.join()}`)
  const [v4, v6] = [all.filter((one) => !one.includes(':')), all.filter((one) => one.includes(':'))]
  return ['127.0.0.1', '127.0.0.2', ...v4.filter((one) => one !== '127.0.0.1'), ...v6]
}

/** The ports that the kernel lists as open for TCP or UDP, whoever has them. */
function listeners(): number[] {
  const lines = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((name) => readFileSync(`/proc/net/${name}`, 'utf8').trim().split('\n').slice(1))
  // A listener of TCP, and a socket of UDP that is connected to nobody.
  const OPEN = ['0A', '07']
  const fields = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , state]) => OPEN.includes(state!))
  return [...new Set(fields.map(([, local]) => Number.parseInt(local!.split(':')[1]!, 16)))].toSorted((a, b) => a - b)
}

async function findOpen(host: string, ports: number[]): Promise<number[]> {
  const open: number[] = []
  let next = 0
  const work = async () => {
    for (let port = ports[next++]; port !== undefined; port = ports[next++]) if (await isOpen(host, port)) open.push(port)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return open.toSorted((a, b) => a - b)
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => {
      // Without a listener, a connection whose own port is this one reaches itself.
      const isSelf = socket.localPort === port
      socket.destroy()
      resolve(!isSelf)
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) =>
      code === 'ECONNREFUSED' ? resolve(false) : reject(new Error(`${host} ${port}: ${code}`)),
    )
  })
}

if (process.env['DECKHAND_OWN_NETWORK'] === '1') await main()
else {
  const rights = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const again = `${CARD.join(' && ')} && exec "$0" "$@"`
  const { status, error } = spawnSync(
    'unshare',
    [...rights, '--net', 'sh', '-c', again, process.execPath, import.meta.filename, ...process.argv.slice(2)],
    { stdio: 'inherit', env: { ...process.env, DECKHAND_OWN_NETWORK: '1' } },
  )
  if (error) throw error
  process.exitCode = status ?? 1
}
