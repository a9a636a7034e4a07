import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { CodingCli, CodingProgram } from '../../contract/coding-programs.ts'
import type { Clock } from '../../lib/clock.ts'
import { startProgram } from '../../platform/programs/start-program.ts'
import { findTrustedProgram, plainEnvironment } from '../../platform/programs/trusted-program.ts'

type SignedIn = CodingProgram['signedIn']

/** What a program printed. `exitCode` null: it did not end by itself. */
type Printed = { exitCode: number | null; text: string }

type Known = {
  install: string
  signIn: string
  /** Variables besides the common ones: where it keeps its settings, and keys that it signs in with. */
  env: readonly string[]
  /** The command that says whether it is signed in, and what its output means. */
  status?: { args: readonly string[]; read(printed: Printed): SignedIn }
  /** For a program without such a command. It looks whether files are there, and opens none. */
  look?(home: string, env: NodeJS.ProcessEnv): SignedIn
}

/** The outputs are those of Claude Code 2.1.197, Codex 0.169.0, Gemini CLI 0.61.0 and OpenCode 1.18.33. */
const PROGRAMS: Record<CodingCli, Known> = {
  // https://docs.claude.com/en/docs/claude-code/cli-reference
  claude: {
    install: 'npm install -g @anthropic-ai/claude-code',
    signIn: 'claude auth login',
    env: ['CLAUDE_CONFIG_DIR', 'ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX'],
    status: {
      args: ['auth', 'status'],
      read({ text }) {
        const [, loggedIn] = /"loggedIn":\s*(true|false)/.exec(text) ?? []
        return loggedIn === undefined ? 'unknown' : loggedIn === 'true' ? 'yes' : 'no'
      },
    },
  },
  // https://developers.openai.com/codex/cli/reference
  codex: {
    install: 'npm install -g @openai/codex',
    signIn: 'codex login',
    env: ['CODEX_HOME', 'OPENAI_API_KEY'],
    status: {
      args: ['login', 'status'],
      read({ exitCode, text }) {
        if (/^Not logged in/m.test(text)) return 'no'
        return exitCode === 0 && /^(?:Logged in|API key configured)/m.test(text) ? 'yes' : 'unknown'
      },
    },
  },
  // It has no such command. https://github.com/google-gemini/gemini-cli/blob/main/docs/get-started/authentication.md
  gemini: {
    install: 'npm install -g @google/gemini-cli',
    signIn: 'gemini',
    env: [],
    look(home, env) {
      if (['GEMINI_API_KEY', 'GOOGLE_API_KEY'].some((name) => env[name] !== undefined && env[name] !== '')) return 'yes'
      if (existsSync(join(home, '.gemini', 'oauth_creds.json'))) return 'yes'
      // Newer versions may keep the sign-in in the keychain and note the account here.
      return existsSync(join(home, '.gemini', 'google_accounts.json')) ? 'unknown' : 'no'
    },
  },
  // https://opencode.ai/docs/cli/
  opencode: {
    install: 'npm install -g opencode-ai',
    signIn: 'opencode auth login',
    env: ['XDG_DATA_HOME', 'OPENCODE_CONFIG', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'],
    status: {
      args: ['auth', 'list'],
      read({ text }) {
        const counts = [...text.matchAll(/(\d+) (?:credential|environment variable)s?\b/g)].map(([, count]) => Number(count))
        if (counts.length === 0) return 'unknown'
        return counts.some((count) => count > 0) ? 'yes' : 'no'
      },
    },
  },
}

export type CodingProgramsDeps = {
  clock: Pick<Clock, 'sleep'>
  /** Folders where programs may be, in the order of PATH. */
  listProgramFolders: () => Promise<readonly string[]>
  /** Where agents write. A program there is never the person's. */
  closedFolders: () => readonly string[]
  home?: string
  env?: NodeJS.ProcessEnv
}

/** Some of them take seconds to start. */
const ANSWER_WITHIN_MS = 20_000
const STOP_GRACE_MS = 500
const MAX_LINES = 200

/** Looks for a program that writes code, asks it for its version, and whether the person is signed in to it. */
export function createCodingPrograms(deps: CodingProgramsDeps) {
  const { home = homedir(), env = process.env } = deps
  /** Each check starts a program, so checks of the same one at the same time are one. */
  const underWay = new Map<CodingCli, Promise<CodingProgram>>()

  async function check(cli: CodingCli): Promise<CodingProgram> {
    const { install, signIn, status, look, ...known } = PROGRAMS[cli]
    const folders = await deps.listProgramFolders()
    const path = findTrustedProgram([cli], { folders, closed: deps.closedFolders() })
    if (path === null) return { cli, installed: false, path: null, version: null, signedIn: 'unknown', fix: install }
    // Beside it lies the interpreter of its version manager, which the short PATH of a launcher lacks.
    const search = [dirname(path), ...(env['PATH'] ?? '').split(delimiter)].filter((folder) => folder !== '').join(delimiter)
    const ask = (args: readonly string[]) => print(deps.clock, path, args, { ...plainEnvironment(known.env, env), PATH: search })
    const version = versionIn(await ask(['--version']))
    if (version === null) return { cli, installed: true, path, version, signedIn: 'unknown', fix: install }
    const signedIn = status === undefined ? look!(home, env) : status.read(await ask(status.args))
    return { cli, installed: true, path, version, signedIn, fix: signedIn === 'no' ? signIn : null }
  }

  return {
    check(cli: CodingCli): Promise<CodingProgram> {
      let checking = underWay.get(cli)
      if (checking === undefined) {
        checking = check(cli).finally(() => underWay.delete(cli))
        underWay.set(cli, checking)
      }
      return checking
    },
  }
}

function versionIn({ exitCode, text }: Printed): string | null {
  return exitCode === 0 ? (/\b\d+\.\d+\.\d+(?:-[\w.]{1,40})?/.exec(text)?.[0] ?? null) : null
}

/** Runs a program in an empty folder, so that no settings of a project count. */
async function print(clock: Pick<Clock, 'sleep'>, file: string, args: readonly string[], env: Record<string, string>): Promise<Printed> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-coding-'))
  const over = new AbortController()
  try {
    const lines: string[] = []
    const program = startProgram({ file, args, env, folder, onLine: (line) => lines.length < MAX_LINES && lines.push(line) })
    const late = clock.sleep(ANSWER_WITHIN_MS, over.signal).then(
      () => null,
      () => null,
    )
    const end = await Promise.race([program.ended, late])
    if (end === null) await program.stop(STOP_GRACE_MS)
    return { exitCode: end?.code ?? null, text: stripVTControlCharacters(lines.join('\n')) }
  } finally {
    over.abort()
    await rm(folder, { recursive: true, force: true })
  }
}
