import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { CodingCli, CodingProgram } from '../../contract/coding-programs.ts'
import { CODING_PROGRAMS } from '../../agent/coding/coding-ways.ts'
import type { Clock } from '../../lib/clock.ts'
import { startProgram } from '../../platform/programs/start-program.ts'
import { findTrustedProgram, plainEnvironment } from '../../platform/programs/trusted-program.ts'

type SignedIn = CodingProgram['signedIn']

/** What a program printed. `exitCode` null: it did not end by itself. */
type Printed = { exitCode: number | null; text: string }

/** How a program says whether it is signed in. */
type Known =
  | { args: readonly string[]; read(printed: Printed): SignedIn }
  /** It has no command for that. This looks whether files are there, and opens none. */
  | { look(home: string, env: NodeJS.ProcessEnv): SignedIn }

/** The outputs are those of Claude Code 2.1.197, Codex 0.169.0, Gemini CLI 0.61.0 and OpenCode 1.18.33. */
const SIGN_INS: Record<CodingCli, Known> = {
  // https://docs.claude.com/en/docs/claude-code/cli-reference
  claude: {
    args: ['auth', 'status'],
    read({ text }) {
      const [, loggedIn] = /"loggedIn":\s*(true|false)/.exec(text) ?? []
      return loggedIn === undefined ? 'unknown' : loggedIn === 'true' ? 'yes' : 'no'
    },
  },
  // https://developers.openai.com/codex/cli/reference
  codex: {
    args: ['login', 'status'],
    read({ exitCode, text }) {
      if (/^Not logged in/m.test(text)) return 'no'
      return exitCode === 0 && /^(?:Logged in|API key configured)/m.test(text) ? 'yes' : 'unknown'
    },
  },
  // https://github.com/google-gemini/gemini-cli/blob/main/docs/get-started/authentication.md
  gemini: {
    look(home, env) {
      if (['GEMINI_API_KEY', 'GOOGLE_API_KEY'].some((name) => env[name] !== undefined && env[name] !== '')) return 'yes'
      if (existsSync(join(home, '.gemini', 'oauth_creds.json'))) return 'yes'
      // Newer versions may keep the sign-in in the keychain and note the account here.
      return existsSync(join(home, '.gemini', 'google_accounts.json')) ? 'unknown' : 'no'
    },
  },
  // https://opencode.ai/docs/cli/
  opencode: {
    args: ['auth', 'list'],
    read({ text }) {
      const counts = [...text.matchAll(/(\d+) (?:credential|environment variable)s?\b/g)].map(([, count]) => Number(count))
      if (counts.length === 0) return 'unknown'
      return counts.some((count) => count > 0) ? 'yes' : 'no'
    },
  },
}

export type CodingProgramsDeps = {
  clock: Pick<Clock, 'sleep' | 'monotonic'>
  /** Folders where programs may be, in the order of PATH. */
  listProgramFolders: () => Promise<readonly string[]>
  /** Where agents write. A program there is never the person's. */
  closedFolders: () => readonly string[]
  home?: string
  env?: NodeJS.ProcessEnv
}

/** Some of them take seconds to start. */
const ANSWER_WITHIN_MS = 20_000
/** How long a check is recent. */
const RECENT_MS = 10_000
const STOP_GRACE_MS = 500
const MAX_LINES = 200

/** Looks for a program that writes code, asks it for its version, and whether the person is signed in to it. */
export function createCodingPrograms(deps: CodingProgramsDeps) {
  const { home = homedir(), env = process.env } = deps
  /** Each check starts a program, so checks of the same one at the same time are one. */
  const underWay = new Map<CodingCli, Promise<CodingProgram>>()
  const checked = new Map<CodingCli, { program: CodingProgram; at: number }>()

  async function check(cli: CodingCli): Promise<CodingProgram> {
    const { install, signIn, keys, env: more } = CODING_PROGRAMS[cli]
    const known = SIGN_INS[cli]
    const folders = await deps.listProgramFolders()
    const path = findTrustedProgram([cli], { folders, closed: deps.closedFolders() })
    if (path === null) return { cli, installed: false, path: null, version: null, signedIn: 'unknown', fix: install }
    // Beside it lies the interpreter of its version manager, which the short PATH of a launcher lacks.
    const search = [dirname(path), ...(env['PATH'] ?? '').split(delimiter)].filter((folder) => folder !== '').join(delimiter)
    const ask = (args: readonly string[]) => print(deps.clock, path, args, { ...plainEnvironment([...keys, ...more], env), PATH: search })
    const version = versionIn(await ask(['--version']))
    if (version === null) return { cli, installed: true, path, version, signedIn: 'unknown', fix: install }
    const signedIn = 'look' in known ? known.look(home, env) : known.read(await ask(known.args))
    return { cli, installed: true, path, version, signedIn, fix: signedIn === 'no' ? signIn : null }
  }

  async function checkAndKeep(cli: CodingCli): Promise<CodingProgram> {
    const program = await check(cli)
    checked.set(cli, { program, at: deps.clock.monotonic() })
    return program
  }

  return {
    /** `mayBeRecent`: a check of the last RECENT_MS is enough. */
    check(cli: CodingCli, { mayBeRecent } = { mayBeRecent: false }): Promise<CodingProgram> {
      const last = checked.get(cli)
      if (mayBeRecent && last !== undefined && deps.clock.monotonic() - last.at < RECENT_MS) return Promise.resolve(last.program)
      let checking = underWay.get(cli)
      if (checking === undefined) {
        checking = checkAndKeep(cli).finally(() => underWay.delete(cli))
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
