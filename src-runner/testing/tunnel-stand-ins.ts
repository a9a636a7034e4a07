import { appendFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createOutbound, type OutboundFetch } from '../platform/net/outbound.ts'
import type { TunnelProgram } from '../contract/public-address.ts'

/**
 * Programs that take the arguments of the real ones, print what those print, and really forward: reverse proxies with
 * the headers that such services add. Their public side is a port of this machine. Its number is in the host name of the
 * address, so `fetch` finds it without the internet.
 */
export type TunnelStandIns = {
  folder: string
  /** Sets what a program does from its next start. */
  behave(program: TunnelProgram, behaviour: Behaviour): void
  /** Every start, in order. */
  starts(program: TunnelProgram): Start[]
  remove(program: TunnelProgram): void
  /** For services that post webhooks, and for our own probes. */
  fetch: OutboundFetch
  close(): void
}

export type Behaviour = {
  /** `dies`: prints its address and ends. `silent`: prints nothing. `signed_out`: prints that it has no account. */
  mode?: 'works' | 'dies' | 'silent' | 'signed_out'
  /** The Host header of forwarded requests. Default: the public name. */
  host?: string
}

export type Start = { args: string[]; env: Record<string, string>; pid: number }

export function createTunnelStandIns(programs: readonly TunnelProgram[] = ['cloudflared', 'ngrok', 'tailscale']): TunnelStandIns {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-tunnels-'))
  const outbound = createOutbound()
  const behaviourOf = (program: TunnelProgram) => join(folder, `${program}.json`)
  for (const program of programs) {
    writeFileSync(behaviourOf(program), '{}')
    writeFileSync(join(folder, program), `#!${process.execPath}\n(${standIn.toString()})('${program}', __dirname, require)\n`)
    chmodSync(join(folder, program), 0o755)
  }
  return {
    folder,
    behave: (program, behaviour) => writeFileSync(behaviourOf(program), JSON.stringify(behaviour)),
    starts(program) {
      const log = join(folder, `${program}.starts`)
      if (!existsSync(log)) return []
      return readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Start)
    },
    remove: (program) => rmSync(join(folder, program)),
    async fetch(input, init) {
      const url = new URL(input instanceof Request ? input.url : input)
      const port = /^p(\d+)[-.]/.exec(url.hostname)?.[1]
      if (port === undefined) return outbound.fetch(input, init)
      const headers = { ...Object.fromEntries(new Headers(init?.headers)), 'x-public-host': url.hostname }
      return outbound.fetch(`http://127.0.0.1:${port}${url.pathname}${url.search}`, { ...init, headers })
    },
    close() {
      outbound.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** PATH with these programs in front. */
export function pathWith(folder: string): string {
  return [folder, process.env['PATH']].join(delimiter)
}

/** Runs in a process of its own, so it uses nothing else of this file. */
function standIn(program: TunnelProgram, folder: string, require: NodeJS.Require): void {
  const fs = require('node:fs') as { readFileSync: typeof readFileSync; appendFileSync: typeof appendFileSync }
  const http = require('node:http') as typeof import('node:http')
  const args = process.argv.slice(2)
  fs.appendFileSync(`${folder}/${program}.starts`, `${JSON.stringify({ args, env: process.env, pid: process.pid })}\n`)
  const behaviour = JSON.parse(fs.readFileSync(`${folder}/${program}.json`, 'utf8')) as Behaviour
  const json = (fields: object) => console.log(JSON.stringify({ ...fields, t: '2026-11-20T09:30:00Z' }))
  const log = (level: string, text: string) => console.error(`2026-11-20T09:30:00Z ${level} ${text}`)
  if (behaviour.mode === 'silent') return void setInterval(() => {}, 1000)
  if (behaviour.mode === 'signed_out') return signedOut()
  const target = new URL(args.find((arg) => arg.startsWith('http://127.0.0.1:'))!)

  const server = http.createServer((req, res) => {
    const name = String(req.headers['x-public-host'])
    const headers: Record<string, string | string[]> = {}
    for (const [key, value] of Object.entries(req.headers)) if (value !== undefined && key !== 'x-public-host') headers[key] = value
    Object.assign(headers, {
      host: behaviour.host ?? name,
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': name,
    })
    if (program === 'cloudflared') Object.assign(headers, { 'cf-connecting-ip': '203.0.113.7', 'cf-ray': '0123456789abcdef-FRA' })
    const { hostname, port } = target
    const onward = http.request({ hostname, port, path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    onward.on('error', () => res.writeHead(502).end('bad gateway'))
    req.pipe(onward)
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as { port: number }
    announce(port)
    if (behaviour.mode === 'dies') setTimeout(() => process.exit(1), 50)
  })
  process.on('SIGTERM', () => process.exit(0))

  function announce(port: number): void {
    if (program === 'cloudflared') {
      const lines = [
        'Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):',
        `https://p${port}-stand-in-words.trycloudflare.com`,
      ]
      log('INF', 'Requesting new quick Tunnel on trycloudflare.com...')
      log('INF', `+${'-'.repeat(92)}+`)
      for (const line of lines) log('INF', `|  ${line.padEnd(90)}|`)
      log('INF', `+${'-'.repeat(92)}+`)
      log('INF', `Settings: map[ha-connections:1 no-autoupdate:true protocol:quic url:${target.origin}]`)
    } else if (program === 'ngrok') {
      json({ lvl: 'info', msg: 'open config file', path: '/home/ann/.config/ngrok/ngrok.yml', err: null })
      json({ lvl: 'info', msg: 'client session established', obj: 'tunnels.session' })
      json({
        lvl: 'info',
        msg: 'started tunnel',
        obj: 'tunnels',
        name: 'command_line',
        addr: target.origin,
        url: `https://p${port}.ngrok-free.app`,
      })
    } else {
      console.log(`Available on the internet:\n\nhttps://p${port}.tail1234.ts.net/\n|-- proxy ${target.origin}\n\nPress Ctrl+C to exit.`)
    }
  }

  function signedOut(): void {
    if (program === 'cloudflared') {
      log(
        'ERR',
        'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: lookup api.trycloudflare.com: no such host',
      )
      process.exit(1)
    }
    if (program === 'ngrok') {
      const err =
        'authentication failed: The authtoken you specified does not look like a proper ngrok authtoken.\nYour authtoken: 2abcdefghijklmnopqrstuvwxyz_canary\r\n\r\nERR_NGROK_105\r\n'
      json({ lvl: 'eror', msg: 'failed to auth', obj: 'tunnels.session', err })
      console.error('ERROR:  authentication failed: The authtoken you specified does not look like a proper ngrok authtoken.')
      process.exit(1)
    }
    console.log(
      'Funnel is not enabled on your tailnet.\nTo enable, visit:\n\n         https://login.tailscale.com/f/funnel?node=nStandIn\n',
    )
    setInterval(() => {}, 1000)
  }
}
