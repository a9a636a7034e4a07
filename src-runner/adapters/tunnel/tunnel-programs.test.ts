import { messageMatching } from '../../testing/message-matching.ts'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { TunnelProgram } from '../../contract/public-address.ts'
import { environmentOf, findTunnelProgram, TUNNEL_PROGRAMS } from './tunnel-programs.ts'

function heard(program: TunnelProgram, ...lines: string[]) {
  return lines.map(TUNNEL_PROGRAMS[program].listen()).filter((one) => one !== null)
}

describe('the output of tunnel programs', () => {
  it('cloudflared: reads the address in the frame and no other', () => {
    const before = [
      '2026-11-20T09:30:00Z INF Thank you for trying Cloudflare Tunnel. … following: https://developers.cloudflare.com/cloudflare-one/connections/connect-apps',
      '2026-11-20T09:30:00Z INF Requesting new quick Tunnel on trycloudflare.com...',
      '2026-11-20T09:30:01Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |',
    ]
    expect(heard('cloudflared', ...before)).toEqual([])
    const line = '2026-11-20T09:30:01Z INF |  https://four-random-plain-words.trycloudflare.com                                      |'
    expect(heard('cloudflared', line)).toEqual([{ url: 'https://four-random-plain-words.trycloudflare.com' }])
    const failed = 'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: no such host'
    expect(heard('cloudflared', failed)).toEqual([
      { problem: { code: 'tunnel_says', params: { program: 'cloudflared', words: failed } }, isFinal: false },
    ])
  })

  it('ngrok: reads the address of the tunnel, not of its local page', () => {
    const web = '{"addr":"127.0.0.1:4040","lvl":"info","msg":"starting web service","obj":"web","t":"2026-11-20T09:30:00Z"}'
    const config = '{"err":"<nil>","lvl":"info","msg":"open config file","path":"/home/ann/.config/ngrok/ngrok.yml"}'
    const started =
      '{"addr":"http://127.0.0.1:3002","lvl":"info","msg":"started tunnel","name":"command_line","obj":"tunnels","url":"https://ab12.ngrok-free.app"}'
    expect(heard('ngrok', web, config, 'no json', '[]', started)).toEqual([{ url: 'https://ab12.ngrok-free.app' }])
  })

  it.each([
    ['ERR_NGROK_105', /add-authtoken/, true],
    ['ERR_NGROK_4018', /add-authtoken/, true],
    ['ERR_NGROK_108', /already running elsewhere/, true],
    ['ERR_NGROK_334', /used by another tunnel/, true],
    ['ERR_NGROK_9999', /^ngrok reports: /, true],
    ['', /^ngrok reports: /, false],
  ])('ngrok: reports the error %s without the token', (code, words, isFinal) => {
    const err = `failed: something.\nYour authtoken: 2canaryCANARYcanaryCANARYcanary\r\n${code}\r\n`
    const [trouble] = heard('ngrok', JSON.stringify({ lvl: 'eror', msg: 'failed', err }))
    expect(trouble).toMatchObject({ problem: messageMatching(words), isFinal })
    expect(JSON.stringify(trouble)).not.toMatch(/canary/i)
  })

  it('tailscale: reads the address only when it is on the internet', () => {
    expect(heard('tailscale', 'Available within your tailnet:', '', 'https://host.tail1234.ts.net/')).toEqual([])
    expect(
      heard('tailscale', 'Available on the internet:', '', 'https://host.tail1234.ts.net/', '|-- proxy http://127.0.0.1:3002'),
    ).toEqual([{ url: 'https://host.tail1234.ts.net' }])
    expect(
      heard(
        'tailscale',
        'Funnel is not enabled on your tailnet.',
        'To enable, visit:',
        '',
        '   https://login.tailscale.com/f/funnel?node=n1',
      ),
    ).toEqual([{ problem: { code: 'tunnel_funnel_off', params: { url: 'https://login.tailscale.com/f/funnel?node=n1' } }, isFinal: true }])
  })
})

it('gives programs only the variables that they need', () => {
  const env = {
    PATH: '/bin',
    HOME: '/home/ann',
    NGROK_AUTHTOKEN: 't',
    WORKER_SECRET: 'canary',
    ANTHROPIC_API_KEY: 'canary',
    TUNNEL_URL: 'http://evil',
  }
  expect(environmentOf('ngrok', env)).toEqual({ PATH: '/bin', HOME: '/home/ann', NGROK_AUTHTOKEN: 't' })
  expect(environmentOf('cloudflared', env)).toEqual({ PATH: '/bin', HOME: '/home/ann' })
})

describe.skipIf(process.platform === 'win32')('finding a tunnel program', () => {
  it('skips closed folders, links to them, and folders that are links to them', () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'deckhand-tunnel-programs-')))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const at = (name: string) => join(folder, name)
    for (const name of ['project', 'project/bin', 'links', 'installed']) mkdirSync(at(name))
    for (const file of ['project/bin/ngrok', 'installed/ngrok']) {
      writeFileSync(at(file), '#!/bin/sh\n')
      chmodSync(at(file), 0o755)
    }
    symlinkSync(at('project/bin/ngrok'), at('links/ngrok'))
    symlinkSync(at('project/bin'), at('linked'))
    symlinkSync(at('project'), at('project-by-another-name'))
    const find = (path: string[], closed: string[]) =>
      findTunnelProgram('ngrok', { env: { PATH: path.map(at).join(':') }, closed: closed.map(at) })
    const all = ['project/bin', 'links', 'linked', 'installed']
    expect(find(all, [])).toBe(at('project/bin/ngrok'))
    expect(find(all, ['project'])).toBe(at('installed/ngrok'))
    expect(find(all, ['project-by-another-name'])).toBe(at('installed/ngrok'))
    expect(find(all, ['links', 'project/bin'])).toBe(at('installed/ngrok'))
  })
})
