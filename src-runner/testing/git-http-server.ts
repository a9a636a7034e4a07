import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { dirname, join } from 'node:path'

const CLEAN = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
const NAMED = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'init.defaultBranch=main', '-c', 'commit.gpgsign=false']

/** Where Git keeps its server; null: this machine has none. */
export function findGitServer(): string | null {
  try {
    const program = join(execFileSync('git', ['--exec-path'], { encoding: 'utf8', env: CLEAN }).trim(), 'git-http-backend')
    return existsSync(program) ? program : null
  } catch {
    return null
  }
}

/** Runs the machine's git in a folder. Returns what it printed. */
export function runGit(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...NAMED, ...args], { encoding: 'utf8', env: CLEAN, stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

/** Writes these files into a repository, which it makes if needed, and commits them. Returns the commit. */
export function commitFiles(folder: string, files: Record<string, string>): string {
  if (!existsSync(join(folder, '.git'))) {
    mkdirSync(folder, { recursive: true })
    runGit(folder, 'init', '-q')
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  runGit(folder, 'add', '-A')
  runGit(folder, 'commit', '-q', '-m', 'x')
  return runGit(folder, 'rev-parse', 'HEAD')
}

/** Serves the repositories in a folder as Git's own server does (https://git-scm.com/docs/git-http-backend). */
export function serveGit(program: string, root: string): RequestListener {
  return (request, response) => {
    const [path, query = ''] = (request.url ?? '').split('?')
    const env = {
      ...CLEAN,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: path,
      QUERY_STRING: query,
      REMOTE_ADDR: '127.0.0.1',
      REQUEST_METHOD: request.method ?? '',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
    }
    const child = spawn(program, { env, stdio: ['pipe', 'pipe', 'ignore'] })
    child.stdin.on('error', () => {})
    request.pipe(child.stdin)
    const parts: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.on('close', () => {
      const all = Buffer.concat(parts)
      const end = all.indexOf('\r\n\r\n')
      const head = all.toString('latin1', 0, Math.max(0, end)).split('\r\n')
      const headers = head.map((line) => line.split(': ') as [string, string])
      const status = Number(headers.find(([name]) => name === 'Status')?.[1]?.slice(0, 3) ?? (end < 0 ? 500 : 200))
      response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status' && name !== '')))
      response.end(all.subarray(end + 4))
    })
  }
}
