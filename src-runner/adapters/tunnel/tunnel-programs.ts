import type { Message } from '../../contract/messages.ts'
import { homedir } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'
import { findTrustedProgram, plainEnvironment } from '../../platform/programs/trusted-program.ts'
import type { TunnelProgram } from '../../contract/public-address.ts'
import { createMessage } from '../../lib/messages.ts'

/** What a line of output says. `isFinal`: a restart would not help. */
export type Heard = { url: string } | { problem: Message; isFinal: boolean } | null

type Program = {
  /** Without `.exe`. */
  names: readonly string[]
  /** `port`: of the webhook-only listener, on 127.0.0.1. `configFile`: ours, used instead of the person's. */
  args(target: { port: number; configFile: string }): string[]
  /** The content of `configFile`; null: not used. */
  config: string | null
  /** Variables besides `COMMON`. */
  env: readonly string[]
  /** Makes a reader for one run: the meaning of a line may depend on earlier ones. */
  listen(): (line: string) => Heard
}

/** How each program is started, and what it prints. All run in the foreground and lead to a port of 127.0.0.1. */
export const TUNNEL_PROGRAMS: Record<TunnelProgram, Program> = {
  /**
   * A quick tunnel prints its address in a frame on standard error (AsciiBox in cmd/cloudflared/tunnel/quick_tunnel.go).
   * The person's own config.yml must not be read: its ingress rules would win over --url and could publish something
   * else. https://github.com/cloudflare/cloudflared
   */
  cloudflared: {
    names: ['cloudflared'],
    args: ({ port, configFile }) => [
      'tunnel',
      '--config',
      configFile,
      '--url',
      `http://127.0.0.1:${port}`,
      '--no-autoupdate',
      '--grace-period',
      '2s',
    ],
    config: 'no-autoupdate: true\n',
    env: [],
    listen: () => (line) => {
      const url = /\|\s+(https:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+)\s+\|/.exec(line)?.[1]
      if (url !== undefined) return { url }
      const failed = /\b(?:ERR|FTL)\s+(.+)$/.exec(line)?.[1] ?? /^((?:failed|error)\b.+)$/i.exec(line)?.[1]
      if (failed === undefined) return null
      return { problem: quoteProgram('cloudflared', failed), isFinal: /flag provided but not defined|Incorrect Usage/i.test(line) }
    },
  },

  /**
   * Prints JSON lines with `msg` "started tunnel" and `url`; errors are in `err` with a code
   * (https://ngrok.com/docs/errors/reference/). Its inspector is off: it would show every request with its secrets on a
   * local page without sign-in. https://ngrok.com/docs/agent/cli/
   */
  ngrok: {
    names: ['ngrok'],
    args: ({ port }) => ['http', `http://127.0.0.1:${port}`, '--inspect=false', '--log', 'stdout', '--log-format', 'json'],
    config: null,
    env: ['NGROK_AUTHTOKEN'],
    listen: () => (line) => {
      const { msg, url, err } = jsonOf(line)
      if (msg === 'started tunnel' && typeof url === 'string' && url.startsWith('https://')) return { url }
      const problem = typeof err === 'string' && err !== '<nil>' ? err : /^ERROR:\s+(\S.*)$/.exec(line)?.[1]
      if (problem === undefined) return null
      const code = /ERR_NGROK_(\d+)/.exec(problem)?.[1]
      const known = code === undefined ? undefined : NGROK_PROBLEMS[code]
      return { problem: known === undefined ? quoteProgram('ngrok', problem) : createMessage(known), isFinal: code !== undefined }
    },
  },

  /**
   * Prints "Available on the internet:" and then the address. If the tailnet has no Funnel yet, it prints the page that
   * turns it on, and waits (cmd/tailscale/cli/serve_v2.go). https://github.com/tailscale/tailscale
   */
  tailscale: {
    names: ['tailscale', 'Tailscale'],
    args: ({ port }) => ['funnel', `http://127.0.0.1:${port}`],
    config: null,
    env: ['TS_SOCKET'],
    listen: () => {
      let isPublic = false
      let isClosed = false
      return (line) => {
        if (line.startsWith('Available on the internet:')) isPublic = true
        if (line.includes('Funnel is not enabled')) isClosed = true
        const url = /(https:\/\/[^\s]+)/.exec(line)?.[1]
        if (url !== undefined && isPublic) return { url: url.replace(/\/+$/, '') }
        if (url !== undefined && isClosed) return { problem: createMessage('tunnel_funnel_off', { url }), isFinal: true }
        const failed = /^error: (.+)$/i.exec(line)?.[1] ?? /((?:failed|Unable|Access denied|not logged in).*)$/i.exec(line)?.[1]
        return failed === undefined
          ? null
          : { problem: quoteProgram('tailscale', failed), isFinal: /background configuration|foreground already|denied/i.test(line) }
      }
    },
  },
}

const NGROK_PROBLEMS: Record<string, 'tunnel_ngrok_token' | 'tunnel_ngrok_twice' | 'tunnel_ngrok_address'> = {
  105: 'tunnel_ngrok_token',
  107: 'tunnel_ngrok_token',
  4018: 'tunnel_ngrok_token',
  108: 'tunnel_ngrok_twice',
  334: 'tunnel_ngrok_address',
}

/** The output of a program as a short sentence, without any word that could be a key. */
export function quoteProgram(program: TunnelProgram, text: string): Message {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replace(/[\w-]{24,}/g, '…')
    .trim()
  const cut = line.length > 240 ? `${line.slice(0, 240).toWellFormed()}…` : line
  return createMessage('tunnel_says', { program, words: cut })
}

function jsonOf(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Where the program is; null: not found, or only in closed folders. */
export function findTunnelProgram(
  program: TunnelProgram,
  { env = process.env, closed = [] }: { env?: NodeJS.ProcessEnv; closed?: readonly string[] } = {},
): string | null {
  return findTrustedProgram(TUNNEL_PROGRAMS[program].names, { folders: foldersOf(env), closed })
}

/** PATH, and where installers put programs. An app started from a dock or menu has a short PATH. */
function foldersOf(env: NodeJS.ProcessEnv): string[] {
  const home = homedir()
  const inPath = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
  switch (process.platform) {
    case 'win32': {
      const at = (name: string, fallback: string, ...parts: string[]) => join(env[name] ?? fallback, ...parts)
      return [
        ...inPath,
        at('ProgramFiles', 'C:\\Program Files', 'cloudflared'),
        at('ProgramFiles(x86)', 'C:\\Program Files (x86)', 'cloudflared'),
        at('ProgramFiles', 'C:\\Program Files', 'Tailscale'),
        at('LOCALAPPDATA', join(home, 'AppData', 'Local'), 'Microsoft', 'WinGet', 'Links'),
        at('LOCALAPPDATA', join(home, 'AppData', 'Local'), 'ngrok'),
        at('ProgramData', 'C:\\ProgramData', 'chocolatey', 'bin'),
        join(home, 'scoop', 'shims'),
      ]
    }
    case 'darwin':
      return [...inPath, '/opt/homebrew/bin', '/usr/local/bin', join(home, '.local', 'bin'), '/Applications/Tailscale.app/Contents/MacOS']
    default:
      return [...inPath, '/usr/local/bin', '/usr/bin', '/bin', '/snap/bin', join(home, '.local', 'bin'), '/home/linuxbrew/.linuxbrew/bin']
  }
}

export function environmentOf(program: TunnelProgram, env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return plainEnvironment(TUNNEL_PROGRAMS[program].env, env)
}
