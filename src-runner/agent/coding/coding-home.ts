import { existsSync } from 'node:fs'
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { CodingCli } from '../../contract/coding-programs.ts'
import { isRecord, parseJson } from '../../lib/json-values.ts'
import { plainEnvironment } from '../../platform/programs/trusted-program.ts'
import { readSmallFile } from '../../platform/protected-places/small-file.ts'
import { CODING_PROGRAMS } from './coding-ways.ts'

/**
 * `key`: a variable. `file`: a file of the program. `keychain`: nowhere that the sandbox could show. `none`: it is not signed in, as far
 * as that can be told without starting it.
 */
export type SignedInHow = 'key' | 'file' | 'keychain' | 'none'

type Person = { home: string; env: NodeJS.ProcessEnv; platform: NodeJS.Platform; now(): number }

/**
 * Whether it can work in the sandbox. All four can (DECISIONS.md), but their sign-in must be somewhere that Deckhand can hand to them:
 * the sandbox has no way to the keychain, so there a program would look signed out.
 */
export function runsInSandbox(how: SignedInHow): boolean {
  return how !== 'keychain'
}

export type CodingHome = {
  env: Record<string, string>
  /** Values that must not be shown or stored, though the program may write them. */
  secrets: string[]
}

type Login = {
  how: SignedInHow
  env?: Record<string, string>
  /** Written into its home. */
  files?: { path: string; text: string }[]
  secrets: string[]
}

export async function findSignIn(cli: CodingCli, person: Person): Promise<SignedInHow> {
  return (await findLogin(cli, person)).how
}

/** The logins that are there now, as far as they can be read. What could occur in any file is not among them. */
export async function listLogins(person: Person): Promise<string[]> {
  const logins = await Promise.all(CodingCli.options.map((cli) => findLogin(cli, person)))
  return logins.flatMap(({ secrets }) => secrets).filter(isLogin)
}

/** No text such as the scope of a login, and no address. */
export function isLogin(secret: string): boolean {
  return secret.length >= MIN_SECRET_CHARS && !/\s|:\/\//.test(secret)
}

/**
 * The environment of a program in the sandbox, with a home of its own in `folder`, which it keeps between the sessions of one task.
 * It gets the login and nothing else: settings, hooks and other sessions of the person are neither seen nor changed.
 * Tokens that renew a login stay outside. A program that used one could not store the next, and the person would be signed out.
 */
export async function prepareCodingHome(cli: CodingCli, folder: string, person: Person): Promise<CodingHome> {
  const { env = {}, files = [], secrets } = await findLogin(cli, person)
  const places = placesIn(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const place of Object.values(places)) await makePlainFolder(folder, place)
  for (const { path, text } of files) {
    const file = join(folder, path)
    await makePlainFolder(folder, dirname(file))
    await rm(file, { recursive: true, force: true })
    await writeFile(file, text, { mode: 0o600, flag: 'wx' })
  }
  return { env: { HOME: folder, ...places, ...env }, secrets }
}

/** The environment of a program outside the sandbox: the person's, as far as it needs it. */
export function outsideEnvironment(cli: CodingCli, env: NodeJS.ProcessEnv): CodingHome {
  const { keys, env: more } = CODING_PROGRAMS[cli]
  return { env: plainEnvironment([...keys, ...more], env), secrets: keys.flatMap((name) => env[name] || []) }
}

/** In an earlier session the program may have put a link anywhere in its home, to have a file of the person's overwritten. */
async function makePlainFolder(base: string, path: string): Promise<void> {
  let at = base
  for (const part of relative(base, path).split(sep)) {
    at = join(at, part)
    const stats = await lstat(at).catch(() => null)
    if (stats?.isDirectory()) continue
    await rm(at, { force: true })
    await mkdir(at, { mode: 0o700 })
  }
}

/** Without a dot, since hidden folders of a home are protected places. */
function placesIn(folder: string): Record<string, string> {
  return {
    CLAUDE_CONFIG_DIR: join(folder, 'claude'),
    CODEX_HOME: join(folder, 'codex'),
    GEMINI_CLI_HOME: join(folder, 'gemini'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
  }
}

async function findLogin(cli: CodingCli, person: Person): Promise<Login> {
  const set = CODING_PROGRAMS[cli].keys.flatMap((name) => (person.env[name] ? [[name, person.env[name]] as const] : []))
  const fromFile = await LOGIN_FILES[cli](person)
  if (set.length > 0 || fromFile !== null) {
    const env: Record<string, string> = {
      ...fromFile?.env,
      ...Object.fromEntries(set),
      ...(cli === 'codex' && set.length > 0 ? CODEX_WITH_KEY : {}),
    }
    const secrets = [...set.map(([, value]) => value), ...(fromFile?.secrets ?? [])]
    const choice = cli === 'gemini' && set.length > 0 ? [geminiChoice(env['GEMINI_API_KEY'] ? 'gemini-api-key' : 'vertex-ai')] : []
    return { how: set.length > 0 ? 'key' : 'file', env, files: [...(fromFile?.files ?? []), ...choice], secrets }
  }
  return { how: mayBeInKeychain(cli, person) ? 'keychain' : 'none', secrets: [] }
}

/** Claude Code keeps its login there on macOS. Newer versions of Gemini do, and note the account in a file. */
function mayBeInKeychain(cli: CodingCli, { home, platform }: Person): boolean {
  if (cli === 'claude') return platform === 'darwin'
  return cli === 'gemini' && existsSync(join(home, '.gemini', 'google_accounts.json'))
}

/** Its adapter does not look for a key by itself. */
const CODEX_WITH_KEY = { DEFAULT_AUTH_REQUEST: JSON.stringify({ methodId: 'api-key' }) }

/** Without it Gemini CLI opens new sessions with a key, but loads none. */
function geminiChoice(selectedType: string) {
  return { path: 'gemini/.gemini/settings.json', text: JSON.stringify({ security: { auth: { selectedType } } }) }
}

type FromFile = Omit<Login, 'how'>

const LOGIN_FILES: Record<CodingCli, (person: Person) => Promise<FromFile | null>> = {
  async claude({ home, env, now }) {
    const found = await readJson(join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), '.credentials.json'))
    const login = isRecord(found?.['claudeAiOauth']) ? found['claudeAiOauth'] : {}
    const { accessToken, expiresAt } = login
    if (typeof accessToken !== 'string' || (typeof expiresAt === 'number' && expiresAt <= now())) return null
    return { env: { CLAUDE_CODE_OAUTH_TOKEN: accessToken }, secrets: [accessToken] }
  },
  async codex({ home, env, now }) {
    const found = await readJson(join(env['CODEX_HOME'] || join(home, '.codex'), 'auth.json'))
    if (found === null) return null
    const tokens = isRecord(found['tokens']) ? { ...found['tokens'], refresh_token: '' } : null
    const login = { ...found, ...(tokens === null ? {} : { tokens, last_refresh: new Date(now()).toISOString() }) }
    return { files: [{ path: 'codex/auth.json', text: JSON.stringify(login) }], secrets: secretsIn(login) }
  },
  async gemini({ home, env }) {
    const found = await readJson(join(env['GEMINI_CLI_HOME'] || home, '.gemini', 'oauth_creds.json'))
    if (found === null) return null
    // It looks for its files in a folder of this name. Google's renewal tokens stay valid when they are used.
    const files = [{ path: 'gemini/.gemini/oauth_creds.json', text: JSON.stringify(found) }, geminiChoice('oauth-personal')]
    return { files, secrets: secretsIn(found) }
  },
  async opencode({ home, env }) {
    const found = await readJson(join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'opencode', 'auth.json'))
    if (found === null || Object.keys(found).length === 0) return null
    const login = Object.fromEntries(
      Object.entries(found).map(([name, entry]) => [name, isRecord(entry) && 'refresh' in entry ? { ...entry, refresh: '' } : entry]),
    )
    return { env: { OPENCODE_AUTH_CONTENT: JSON.stringify(login) }, secrets: secretsIn(login) }
  },
}

const MIN_SECRET_CHARS = 16
const MAX_LOGIN_BYTES = 1_000_000

/** All long values: which of them are secret is known to the program alone. */
function secretsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length >= MIN_SECRET_CHARS ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : []
}

async function readJson(path: string): Promise<Record<string, unknown> | null> {
  const value = parseJson(await readSmallFile(path, MAX_LOGIN_BYTES))
  return isRecord(value) ? value : null
}
