import { randomBytes, randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { BackupName } from '../src-runner/contract/backups.ts'
import type { Replacement } from '../src-runner/contract/port.ts'
import { linkPath } from './contract/auth-api.ts'
import type { RunnerState } from './contract/desktop-api.ts'
import { createBrowserLink } from './dashboard/browser-proof.ts'
import { LOCAL_PATH, LOCAL_TOKEN_HEADER } from './dashboard/dashboard.ts'
import { createOneTimeToken, type LocalCommand } from './dashboard/one-time-tokens.ts'
import { openAssets } from './dashboard/assets.ts'
import { collectDiagnostics } from './diagnostics/diagnostics.ts'
import { exportTo, importFrom } from './export-file.ts'
import { createHost, leave, logsDirOf, type Host } from './host.ts'
import { englishText } from './log/english-text.ts'
import { problemOf } from './message-error.ts'
import { dataDirOfPort } from './net/port-holder.ts'
import { measureData } from './reset/own-files.ts'
import { finishReset, resetNow } from './reset/reset.ts'
import { createForkedRunner } from './runner/forked-runner.ts'
import type { StartOptions } from './runner/supervisor.ts'
import { codeCacheOf } from './settings/data-dir-path.ts'
import { readEnvironment, type Environment } from './settings/environment.ts'
import { readLinkFile } from './settings/link-file.ts'
import { openMachineSettings } from './settings/machine-settings.ts'
import { StartError } from './settings/start-error.ts'
import { openVault } from './vault/open-vault.ts'
import { type Vault, VaultError } from './vault/vault.ts'
import { readCreatedSecret, replaceWorkerSecret } from './vault/worker-secret.ts'

/**
 * Deckhand without a desktop: the parts of main.ts without a window. When both servers are healthy, prints one line of
 * JSON to stdout and nothing else. Stops in order on SIGTERM and SIGINT. `secret` as its first argument prints the secret that
 * Deckhand created and exits; with `--rotate` it creates another one first, in the running Deckhand too. `reset-password` gives a
 * person of auth.db another password. `link` prints a link that opens the dashboard of the Deckhand that is running. `restore` starts
 * with the newest sound backup, or with the one that is named next, and `start-empty` with an empty database beside the present
 * one. `export` and `import` take a file, and exit. `diagnostics` writes a zip for a report about a problem and exits.
 * `reset --yes` deletes all data (with `--keep-backups`, not the backups) and exits.
 */
const here = import.meta.dirname
const fromSource = import.meta.filename.endsWith('.ts')
const RUNNER_ENTRY = fromSource ? join(here, '../src-runner/main.ts') : join(here, 'runner.js')
const PAGE_FOLDER = fromSource ? join(here, '../out/renderer') : join(here, '../renderer')
const HISTORY_ONLY = '--history-only'
const RESET_OPTIONS = ['--yes', '--keep-backups']
const HEALTH_LIMIT_MS = 60_000
const OR_EMPTY = '"start-empty" in its place keeps it and starts with an empty one'
/** What can be done about a database that cannot be used, besides what the message says. */
const WAYS_OUT: Record<string, string> = {
  database_damaged: ` "npm run headless -- restore" starts with the newest sound backup; ${OR_EMPTY}.`,
  database_newer: ` "npm run headless -- restore" starts with the newest backup of this version; ${OR_EMPTY}.`,
}

try {
  await run()
} catch (error) {
  const expected = error instanceof StartError
  const why = await englishText(problemOf(error))
  process.stderr.write(`deckhand: ${expected ? why : `cannot start: ${why}`}\n`)
  process.exit(expected ? error.exitCode : 1)
}

async function run(): Promise<void> {
  const { command, argument, file, flags, options } = readCommand(process.argv.slice(2))
  const environment = readEnvironment({
    env: process.env,
    args: flags,
    platform: process.platform,
    home: homedir(),
    cwd: process.cwd(),
  })
  if (command === 'secret' || command === 'rotate-secret') return printSecret(environment, command === 'rotate-secret')
  if (command === 'link') return printLink(environment)
  if (command === 'reset-password') return resetPassword(environment, argument)
  if (command === 'diagnostics') return writeDiagnostics(environment, file)
  if (command === 'reset') return resetData(environment, options)
  await finishReset(environment)
  const assets = openAssets(PAGE_FOLDER)
  const host = createHost({
    appVersion: packageJson.version,
    environment,
    preferredLanguages: () => [Intl.DateTimeFormat().resolvedOptions().locale],
    assets,
    spawn: createForkedRunner({ entry: RUNNER_ENTRY, codeCache: codeCacheOf(environment.dataDir) }),
    echo: process.stderr,
  })
  stopOnSignals(host)
  if (assets === null) host.log.warn({ folder: PAGE_FOLDER }, 'the page has not been built ("npm run build"); the servers run without it')
  try {
    // Somebody who only wants a file wants no agent to work meanwhile.
    const safeMode = command === 'export' || command === 'import'
    const { runnerUrl, dashboardUrl } = await startBoth(host, { safeMode, replaceDatabase: replacementFor(command, argument) })
    await Promise.all([untilHealthy(runnerUrl), untilHealthy(dashboardUrl), assets?.readAll()])
    if (command === 'export' || command === 'import') return await finish(host, command, file, options.includes(HISTORY_ONLY))
    if (host.authMode() === 'local-auth') await offerSetup(host, environment.appUrl ?? dashboardUrl)
    if (host.authMode() === 'local-trust') {
      process.stderr.write(
        `deckhand: open ${host.browserLink()} in a browser (once, within ten minutes); "npm run headless -- link" prints another\n`,
      )
    }
    process.stdout.write(`${JSON.stringify({ ready: true, runnerUrl, dashboardUrl })}\n`)
  } catch (error) {
    await host.stop()
    throw error
  }
  host.supervisor.onState((state) => {
    if (state.state === 'failed') void refusalText(state).then((why) => giveUp(host, why))
  })
}

/** While there is no owner, prints the link that creates the first account. Who reads this output controls the machine's Deckhand. */
async function offerSetup(host: Host, baseUrl: string): Promise<void> {
  try {
    const token = (await host.signIn.accounts()).createSetupToken()
    if (token !== null) process.stderr.write(`deckhand: create the owner account: ${baseUrl}${linkPath('setup', token)}\n`)
  } catch (error) {
    process.stderr.write(`deckhand: nobody can sign in: ${await englishText(problemOf(error))}\n`)
  }
}

/** Prints the secret. Reading the vault already gives access to everything that the secret protects. */
async function printSecret({ dataDir, vault: kind, workerSecret }: Environment, rotate: boolean): Promise<void> {
  if (workerSecret !== null) {
    throw new StartError(1, 'WORKER_SECRET or --worker-secret-file sets the secret, so Deckhand creates none')
  }
  const none = `there is no secret in ${dataDir} yet: start Deckhand once to create it`
  if (!existsSync(dataDir)) throw new StartError(1, none)
  const vault = openVault(kind, dataDir)
  const explain = async (error: unknown): Promise<never> => {
    throw error instanceof VaultError ? new StartError(1, await englishText(error.detail), { cause: error }) : error
  }
  let secret = await readCreatedSecret(vault).catch(explain)
  if (secret === null) throw new StartError(1, `${none}. If it runs with another DECKHAND_VAULT than ${kind}, set that here too`)
  if (rotate) {
    const old = secret
    // A Deckhand that runs does it, because two processes must not write the vault at once.
    const isRunning = await tellRunning(dataDir, 'replace_secret')
    secret = await (isRunning ? readCreatedSecret(vault) : replaceInStopped(dataDir, vault)).catch(explain)
    if (secret === old) throw new StartError(1, 'the running Deckhand did not replace its secret')
  }
  await new Promise<void>((resolve) => process.stdout.write(`${secret}\n`, () => resolve()))
}

async function replaceInStopped(dataDir: string, vault: Vault): Promise<string> {
  // A native library, which no other start needs.
  const { takeDataLock } = await import('./reset/data-lock.ts')
  const release = takeDataLock(join(dataDir, 'deckhand.db.lock'))
  if (release === null)
    throw new StartError(1, `the Deckhand on ${dataDir} cannot be reached, so its secret was not replaced. Stop it first`)
  try {
    return await replaceWorkerSecret(vault)
  } finally {
    release()
  }
}

/** Sends a command to the Deckhand that runs on this data folder. false: there is none. Throws a StartError if it refuses. */
async function tellRunning(dataDir: string, command: LocalCommand): Promise<boolean> {
  const running = readLinkFile(dataDir)
  if (running === null || !(await isUp(running.url))) return false
  const headers = { [LOCAL_TOKEN_HEADER]: createOneTimeToken(running.key, command) }
  const answer = await fetch(running.url + LOCAL_PATH + command, { method: 'POST', headers })
  if (answer.ok) return true
  const { message } = (await answer.json().catch(() => ({}))) as { message?: string }
  throw new StartError(1, `the running Deckhand refused: ${message ?? answer.status}`)
}

/** Prints a new password for a person. Writing auth.db already gives access to everything that it protects. */
async function resetPassword({ dataDir }: Environment, name: string | null): Promise<void> {
  if (!existsSync(join(dataDir, 'auth.db'))) throw new StartError(1, `there are no accounts in ${dataDir}`)
  const { openAccounts } = await import('./sign-in/accounts.ts')
  // No session is made or read here, so nothing is signed.
  const accounts = await openAccounts({ dataDir, secret: randomBytes(32).toString('base64url'), now: Date.now })
  try {
    const people = accounts.listPeople()
    const owners = people.filter(({ role }) => role === 'owner')
    const person = name === null && owners.length === 1 ? owners[0]! : accounts.findPerson(name ?? '')
    if (person === null) {
      const names = people.map((one) => `"${one.name}"`).join(', ')
      throw new StartError(1, `say whose password: "npm run headless -- reset-password <name>" with one of ${names}`)
    }
    const password = createPassword()
    await accounts.resetPassword(person.id, password)
    process.stderr.write(`deckhand: ${person.name} is signed out everywhere and signs in with this password:\n`)
    await new Promise<void>((resolve) => process.stdout.write(`${password}\n`, () => resolve()))
    await tellRunning(dataDir, 'accounts_changed')
  } finally {
    accounts.close()
  }
}

/** Four groups of five letters and digits that are easy to tell apart: 99 bits. */
function createPassword(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
  const groupOf = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')
  return Array.from({ length: 4 }, groupOf).join('-')
}

async function printLink({ dataDir, authMode }: Environment): Promise<void> {
  const running = readLinkFile(dataDir)
  if (running === null) throw new StartError(1, `no Deckhand is running on the data folder ${dataDir}`)
  const link = authMode === 'local-trust' ? createBrowserLink(running.url, running.key) : running.url
  await new Promise<void>((resolve) => process.stdout.write(`${link}\n`, () => resolve()))
}

/** Without the runner's part: it can run at the same time, and only its own host may ask it. */
async function writeDiagnostics(environment: Environment, file: string): Promise<void> {
  const { dataDir } = environment
  if (!existsSync(dataDir)) throw new StartError(1, `there is no data folder ${dataDir}`)
  const { current } = openMachineSettings(join(dataDir, 'settings.json'))
  const zip = await collectDiagnostics({
    logsDir: logsDirOf(dataDir),
    environment,
    appVersion: packageJson.version,
    electronVersion: null,
    settings: current(),
    state: null,
    runner: null,
  })
  await writeFile(file, zip, { mode: 0o600 })
  process.stdout.write(`${file}\n`)
}

/** Says what it would delete, unless `--yes` confirms it. */
async function resetData(environment: Environment, options: readonly string[]): Promise<void> {
  const { dataDir } = environment
  if (!existsSync(dataDir)) throw new StartError(1, `there is no data folder ${dataDir}`)
  const keepsBackups = options.includes('--keep-backups')
  const { data, backups, leftAlone } = measureData(dataDir)
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  const kept = [
    ...(keepsBackups ? ['its backups'] : []),
    'backups in a second folder',
    "agents' folders",
    ...leftAlone.map((name) => join(dataDir, name)),
  ]
  const what = `${data.files} files (${mb(data.bytes)}) in ${dataDir}, all stored keys${keepsBackups ? '' : ` and ${backups.files} files of backups (${mb(backups.bytes)})`}`
  if (!options.includes('--yes')) {
    const toKeep = keepsBackups ? '' : ', "--keep-backups" keeps the backups'
    throw new StartError(2, `"reset" deletes ${what}. It keeps ${kept.join(', ')}. To confirm, add --yes${toKeep}`)
  }
  // Asked before the request is written, so that no later start deletes what a refusal kept.
  await resetNow(environment, { keepsBackups })
  await new Promise<void>((resolve) => process.stdout.write(`deleted ${what}\n`, () => resolve()))
}

function replacementFor(command: Command['command'], backup: string | null): Replacement | undefined {
  if (command === 'restore') return { backup }
  return command === 'start-empty' ? 'empty' : undefined
}

/** Exports or imports with a runner of its own, and ends. */
async function finish(host: Host, command: 'export' | 'import', file: string, historyOnly: boolean): Promise<void> {
  const runner = host.supervisor.endpoint()
  if (runner === null) throw new StartError(1, 'the runner ended')
  const said = command === 'export' ? await exportTo(runner, file) : await importFrom(runner, file, { historyOnly })
  await host.stop()
  process.stdout.write(`${said}\n`)
  leave(host, () => process.exit(0))
}

type Command = {
  command:
    | 'start'
    | 'secret'
    | 'rotate-secret'
    | 'reset-password'
    | 'link'
    | 'restore'
    | 'start-empty'
    | 'diagnostics'
    | 'export'
    | 'import'
    | 'reset'
  /** For `restore` the backup, for `reset-password` the person. */
  argument: string | null
  file: string
  flags: string[]
  options: string[]
}

function readCommand([first, ...rest]: string[]): Command {
  const none = { argument: null, file: 'deckhand-diagnostics.zip', options: [] }
  if (first === 'reset') {
    const isOption = (flag: string) => RESET_OPTIONS.includes(flag)
    return { ...none, command: 'reset', options: rest.filter(isOption), flags: rest.filter((flag) => !isOption(flag)) }
  }
  if (first === 'secret' && rest[0] === '--rotate') return { ...none, command: 'rotate-secret', flags: rest.slice(1) }
  if (first === 'secret' || first === 'link' || first === 'start-empty') return { ...none, command: first, flags: rest }
  if (first === 'export' || first === 'import') {
    const isOption = (flag: string) => first === 'import' && flag === HISTORY_ONLY
    const [path, ...flags] = rest.filter((flag) => !isOption(flag))
    if (path === undefined || path.startsWith('--')) throw new StartError(2, `"${first}" needs the name of a file`)
    return { ...none, command: first, file: path, options: rest.filter(isOption), flags }
  }
  if (first !== 'restore' && first !== 'diagnostics' && first !== 'reset-password')
    return { ...none, command: 'start', flags: first === undefined ? [] : [first, ...rest] }
  const [name, ...flags] = rest
  if (name === undefined || name.startsWith('--')) return { ...none, command: first, flags: rest }
  if (first === 'diagnostics') return { ...none, command: first, file: name, flags }
  if (first === 'reset-password') return { ...none, command: first, argument: name, flags }
  if (!BackupName.safeParse(name).success)
    throw new StartError(2, `"${name}" is not the name of a backup, such as deckhand-20261123T023000Z.db`)
  return { ...none, command: 'restore', argument: name, flags }
}

async function startBoth(host: Host, options: StartOptions): Promise<{ runnerUrl: string; dashboardUrl: string }> {
  const dashboard = await host.startServer()
  if (dashboard.state === 'port_taken') throw await portTaken('dashboard', 'DASHBOARD_PORT', dashboard)
  if (dashboard.state === 'failed') throw new StartError(2, await englishText(dashboard.message))
  const runner = await host.supervisor.start(options)
  switch (runner.state) {
    case 'ready':
      return { runnerUrl: runner.runnerUrl, dashboardUrl: dashboard.dashboardUrl }
    case 'port_taken':
      throw await portTaken('runner', 'RUNNER_PORT', runner)
    case 'failed':
      throw new StartError(runner.code === 'config_invalid' ? 2 : 1, `${await refusalText(runner)}${WAYS_OUT[runner.code] ?? ''}`)
    default:
      // Stopped while starting: the signal handler ends the process.
      return new Promise(() => undefined)
  }
}

async function refusalText({ code, message }: Extract<RunnerState, { state: 'failed' }>): Promise<string> {
  const why = await englishText(message)
  return code === 'crash_loop' ? `The runner crashed three times in five minutes. The last time: ${why}` : why
}

async function portTaken(what: string, setting: string, taken: { port: number; suggestedPort: number }): Promise<StartError> {
  const { port, suggestedPort } = taken
  const dataDir = await dataDirOfPort(port)
  const message =
    dataDir === null
      ? `port ${port} of the ${what} is taken by another program; nothing was sent to it. Stop that program, or start with ${setting}=${suggestedPort}`
      : `port ${port} of the ${what} is taken by a Deckhand that is already running, on the data folder ${dataDir}. Stop it first, or start with ${setting}=${suggestedPort} and another DECKHAND_DATA_DIR`
  return new StartError(1, message)
}

async function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/api/health`, { signal: AbortSignal.timeout(HEALTH_LIMIT_MS) }).then(
    (response) => response.ok,
    () => false,
  )
}

async function untilHealthy(url: string): Promise<void> {
  const until = performance.now() + HEALTH_LIMIT_MS
  for (;;) {
    if (await isUp(url)) return
    if (performance.now() > until) throw new StartError(1, `${url} is not healthy; see the logs`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A terminal and npm both forward the same Ctrl-C. A second signal within this time is ignored. */
const SAME_SIGNAL_MS = 1000

function stopOnSignals(host: Host): void {
  let stoppingSince: number | null = null
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stoppingSince !== null) {
        if (performance.now() - stoppingSince < SAME_SIGNAL_MS) return
        // A second signal means: do not wait. The runner exits when its port closes.
        return leave(host, () => process.exit(130))
      }
      stoppingSince = performance.now()
      host.log.info({ signal }, 'stopping')
      host.stop().then(
        () => leave(host, () => process.exit(0)),
        () => leave(host, () => process.exit(1)),
      )
    })
  }
}

/** The runner has failed. Exit, so that a supervisor of this process can restart it. */
async function giveUp(host: Host, message: string): Promise<void> {
  process.stderr.write(`deckhand: ${message}\n`)
  await host.stop().catch(() => undefined)
  leave(host, () => process.exit(1))
}
