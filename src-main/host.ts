import { randomBytes } from 'node:crypto'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { loadCatalogue } from '../resources/locales/load-catalogue.ts'
import type { Language } from '../resources/locales/texts.ts'
import { chooseLanguage, createTranslate } from '../resources/locales/translate.ts'
import type { Message } from '../src-runner/contract/messages.ts'
import type { AuthMode, Replacement, RunnerConfig } from '../src-runner/contract/port.ts'
import type { DashboardState, RunnerState, Sharing } from './contract/desktop-api.ts'
import type { Assets } from './dashboard/assets.ts'
import { createBrowserLink, createBrowserProof } from './dashboard/browser-proof.ts'
import { createOneTimeToken, createOneTimeTokens } from './dashboard/one-time-tokens.ts'
import { createDashboard, type Dashboard } from './dashboard/dashboard.ts'
import type { DashboardServer } from './dashboard/server.ts'
import { createServing, type Serving } from './dashboard/serving.ts'
import { collectDiagnostics, summarizeDiagnostics, type DiagnosticsSource } from './diagnostics/diagnostics.ts'
import { keepCrashReport } from './diagnostics/crash-reports.ts'
import { englishText } from './log/english-text.ts'
import { messageOf } from './log/log.ts'
import { createMainLog, type MainLog } from './log/main-log.ts'
import { localName, namesOf } from './net/address.ts'
import { createCertificates } from './net/certificate.ts'
import { createSharing, lanAddresses, type NetworkSharing, type NetworkSharingDeps } from './net/sharing.ts'
import type { SpawnRunner } from './runner/runner-process.ts'
import { createSupervisor, type Supervisor } from './runner/supervisor.ts'
import type { MoveToTrash } from './runner/trash-requests.ts'
import { readLinkFile, removeLinkFile, writeLinkFile } from './settings/link-file.ts'
import { resolveUserIn } from './runner/user-requests.ts'
import { prepareDataDir } from './settings/data-dir.ts'
import { refuseEqualPorts, type Environment } from './settings/environment.ts'
import { openMachineSettings, type MachineSettingsStore } from './settings/machine-settings.ts'
import { createSignIn, type SignIn } from './sign-in/sign-in.ts'
import { openVault } from './vault/open-vault.ts'
import type { Vault } from './vault/vault.ts'
import { createWorkerSecret, type WorkerSecretDeps } from './vault/worker-secret.ts'

/** What the app and headless share: two servers, a runner, a vault, settings and a log. */
export type Host = {
  environment: Environment
  /** Why the data folder may lose data; null: it is sound. */
  dataDirProblem: Message | null
  settings: MachineSettingsStore
  /** The chosen language, or the first of the person's languages that there is a catalogue for. */
  language(): Language
  log: MainLog
  vault: Vault
  signIn: SignIn
  supervisor: Supervisor
  dashboard: Dashboard
  dashboardState(): DashboardState
  onDashboardState(listener: (state: DashboardState) => void): () => void
  /** The stored secret, which the runner then has. Rejects with a VaultError if it cannot be read. */
  workerSecret(): Promise<string>
  /** How requests are judged at this moment. */
  authMode(): AuthMode
  sharing(): Sharing
  onSharing(listener: () => void): () => void
  share(isOn: boolean): Promise<'done' | 'needs_owner' | 'fixed'>
  /** Serves the network over HTTPS, or no longer. Rejects, and changes nothing, if there can be no certificate. */
  encryptSharing(isOn: boolean): Promise<void>
  replaceCertificate(): Promise<void>
  /** Restarts the runner with other data. Afterwards nobody is signed in. */
  replaceDatabase(replacement: Replacement): Promise<void>
  /** Replaces the runner's secret in the vault and in the runner. Rejects with a VaultError, or if the environment sets it. */
  rotateSecret(): Promise<string>
  /** An address that opens the dashboard in a browser; in `local-trust` it works once, within ten minutes. null: no server. */
  browserLink(): string | null
  /** Starts the dashboard's server on the present port. Returns its state; never rejects. */
  startServer(): Promise<DashboardState>
  /** Saves the port and starts that server on it. */
  usePort(server: 'runner' | 'dashboard', port: number): Promise<void>
  /** A zip for a report about a problem, see collectDiagnostics. */
  collectDiagnostics(): Promise<Uint8Array>
  /** The same in short, as text. */
  summarizeDiagnostics(): Promise<string>
  stop(): Promise<void>
}

export type HostOptions = {
  appVersion: string
  environment: Environment
  spawn: SpawnRunner
  /** The person's languages as the system knows them, the preferred one first. */
  preferredLanguages: () => readonly string[]
  /** null: the page has not been built. A request for a file waits for it. */
  assets: Assets | null
  /** Left out: the runner finds a trash by itself. */
  trash?: MoveToTrash
  /** Left out: those of the system. */
  network?: Pick<NetworkSharingDeps, 'interfaces' | 'every'>
  /** Receives each log line, besides the file. */
  echo?: NodeJS.WritableStream
}

/** How long the window's requests wait for a runner that is starting. */
const WINDOW_WAITS_MS = 10_000

/** Opens what everything else needs, and starts nothing. Throws a StartError if the data folder or the ports cannot be used. */
export function createHost({ appVersion, environment, spawn, preferredLanguages, assets, trash, network, echo }: HostOptions): Host {
  const { dataDir } = environment
  const dataDirProblem = prepareDataDir(dataDir)
  const settings = openMachineSettings(join(dataDir, 'settings.json'))
  refuseEqualPorts(environment, settings.current())
  const language = () => chooseLanguage(settings.current().language, preferredLanguages())
  const level = () => environment.logLevel ?? settings.current().logLevel
  const log = openLog(dataDir, settings, level, echo)
  if (dataDirProblem) log.warn({ problem: dataDirProblem }, 'the data folder is on a network share')
  const vault = openVault(environment.vault, dataDir)
  const signIn = createSignIn({ dataDir, vault, log })
  const ports = createPorts(environment, settings)
  const sharing = openSharing({ environment, settings, signIn, vault, log, apply: applyAccess, network })
  const { authMode } = sharing
  const linkKey = randomBytes(32).toString('base64url')
  const tokens = createOneTimeTokens(linkKey)
  const secret = openSecret({ vault, given: environment.workerSecret, authMode, log, apply: () => supervisor.changeAccess() })
  const serving = createServing(() => ({ ...placeOf(environment, sharing, ports), dashboard, interfaces: network?.interfaces, log }), log)

  async function rotateSecret(): Promise<string> {
    const replaced = await secret.replace()
    await supervisor.changeAccess()
    return replaced
  }

  async function configure(safeMode: boolean): Promise<RunnerConfig> {
    // The dashboard asks for it as soon as it listens.
    await secret.read()
    // Loading the accounts takes a second or more, which the first API client would wait.
    if (authMode() === 'bearer-token') signIn.hasOwner().catch(() => {})
    // The runner needs the dashboard's origins, which contain its port.
    await serving.settled()
    // Again: it may have been replaced meanwhile.
    const workerSecret = await secret.read()
    return {
      ...configOf(environment, sharing, serving.server()),
      workerSecret,
      safeMode,
      port: ports.runner(),
      logLevel: level(),
      language: language(),
      hostTrash: trash !== undefined,
    }
  }

  const supervisor = createSupervisor({
    spawn,
    configure,
    vault,
    trash,
    log,
    crashed: (crash) => void reportCrash(log, { logsDir: logsDirOf(dataDir), appVersion }, crash),
    resolveUser: resolveUserIn(signIn),
    output: (line) => process.stderr.write(`${line}\n`),
  })
  settings.onChange(() => supervisor.setLanguage(language()))
  keepOrigins(sharing, { serving, supervisor })
  takeRestoredAccounts({ supervisor, signIn, log })
  keepLinkFile(dataDir, linkKey, { serving, supervisor, log })
  const dashboard = createDashboard({
    assets,
    runner: supervisor.endpoint,
    runnerSoon: () => supervisor.endpointSoon(WINDOW_WAITS_MS),
    authMode,
    secret: secret.known,
    signIn,
    browserProof: createBrowserProof({ tokens, secret: secret.known }),
    tokens,
    replaceSecret: rotateSecret,
    createSignInToken: (authorizationId) => createOneTimeToken(linkKey, `sign_in:${authorizationId}`),
    speech: async () => ({ t: createTranslate(language(), await loadCatalogue[language()]()), locale: language() }),
    log,
  })

  const startServer = () => serving.start(sharing.prepare)

  /** Both servers get the present hosts, mode and secret. Resolves with what went wrong, or null. */
  async function applyAccess(): Promise<Message | null> {
    // The same port again, also if the system chose it.
    ports.keep('dashboard', serving.server()?.port)
    await serving.start()
    return supervisor.changeAccess()
  }

  return {
    environment,
    dataDirProblem,
    settings,
    language,
    log,
    vault,
    signIn,
    supervisor,
    dashboard,
    dashboardState: serving.state,
    onDashboardState: serving.onState,
    workerSecret: secret.readStored,
    authMode,
    sharing: () => sharing.state(serving.server()?.port ?? null),
    onSharing: sharing.onChange,
    share: sharing.change,
    encryptSharing: sharing.encrypt,
    replaceCertificate: sharing.replaceCertificate,
    rotateSecret,
    browserLink() {
      const url = serving.server()?.url ?? null
      return url !== null && authMode() === 'local-trust' ? createBrowserLink(url, linkKey) : url
    },
    startServer,
    ...createDiagnostics({ environment, appVersion, settings, supervisor, serving, vault }),
    async replaceDatabase(replacement) {
      await supervisor.restart({ replaceDatabase: replacement })
    },
    async usePort(which, port) {
      ports.keep(which, port)
      await settings.change(which === 'runner' ? { runnerPort: port } : { dashboardPort: port })
      if (which === 'runner') return void (await supervisor.restart({ safeMode: supervisor.isSafeMode() }))
      await startServer()
      // It sends people who sign in at a service back to this port.
      await supervisor.changeAccess()
    },
    async stop() {
      // The runner first, so that the page can follow its jobs while they stop.
      await supervisor.stop()
      await serving.close()
      if (readLinkFile(dataDir)?.key === linkKey) removeLinkFile(dataDir)
      dashboard.close()
      signIn.close()
      log.info({}, 'stopped')
      await log.close()
    },
  }
}

function openLog(
  dataDir: string,
  settings: MachineSettingsStore,
  level: () => NonNullable<Environment['logLevel']>,
  echo: HostOptions['echo'],
): MainLog {
  const log = createMainLog({ folder: logsDirOf(dataDir), level: level(), ...(echo ? { echo } : {}) })
  settings.onChange(() => log.setLevel(level()))
  if (settings.notice) log.warn({ notice: settings.notice }, 'the settings file cannot be used')
  return log
}

/** `apply` gives the runner the stored secret, as soon as the vault can be used. */
function openSecret({ apply, ...deps }: WorkerSecretDeps & { apply: () => Promise<unknown> }) {
  const secret = createWorkerSecret(deps)
  async function useStored(): Promise<void> {
    if (await secret.replaceTemporary()) await apply()
  }
  deps.vault.onState(({ state }) => {
    if (state !== 'ok') return
    useStored().catch((error: unknown) => deps.log.warn({ error: messageOf(error) }, 'the stored secret is not used yet'))
  })
  return {
    ...secret,
    async readStored(): Promise<string> {
      await secret.read()
      await useStored()
      return secret.read()
    },
  }
}

type SharingParts = Pick<Host, 'environment' | 'settings' | 'signIn' | 'vault' | 'log'> & { apply: () => Promise<Message | null> } & Pick<
    HostOptions,
    'network'
  >

/** With the certificate of this machine, under all of its names and addresses. */
function openSharing({ environment, settings, signIn, vault, log, apply, network }: SharingParts): NetworkSharing {
  const certificates = createCertificates({
    file: join(environment.dataDir, 'certificate.pem'),
    names: () =>
      [...new Set([localName(), hostname().toLowerCase()])]
        .filter(isHostName)
        .concat(lanAddresses((network?.interfaces ?? networkInterfaces)())),
    vault,
    log,
  })
  const { hasOwner, endSessions } = signIn
  const sharing = createSharing({ environment, settings, hasOwner, endSessions, certificates, apply, log, ...network })
  vault.onState(({ state }) => {
    if (state !== 'ok') return
    sharing.resume().catch((error: unknown) => log.error({ error: messageOf(error) }, 'Deckhand could not be shared after all'))
  })
  return sharing
}

/** Whenever a runner has the data: a restore may have been interrupted by a crash, or come to its end only at a second start. */
function takeRestoredAccounts({ supervisor, signIn, log }: Pick<Host, 'supervisor' | 'signIn' | 'log'>): void {
  supervisor.onState(({ state }) => {
    if (state !== 'ready') return
    signIn.reloadRestored().catch((error: unknown) => log.error({ error: messageOf(error) }, 'the restored accounts cannot be used'))
  })
}

/** The runner writes the dashboard's address into messages to chats. */
function keepOrigins(sharing: NetworkSharing, { serving, supervisor }: Pick<LinkParts, 'serving' | 'supervisor'>): void {
  sharing.onChange(() => {
    const server = serving.server()
    if (server !== null) supervisor.setOrigins([...server.origins()])
  })
}

type LinkParts = { serving: Serving; supervisor: Supervisor; log: MainLog }

/** What the runner says of its start only after it has taken the data, besides `ready` and `port_taken`. */
const SAID_WITH_DATA: readonly string[] = ['database_damaged', 'database_newer', 'crash_loop']

/** Not before the runner had the data: another Deckhand may be started on the folder by mistake, and the command line must not follow it. */
function keepLinkFile(dataDir: string, key: string, { serving, supervisor, log }: LinkParts): void {
  let hasData = false
  function write(): void {
    const url = serving.server()?.url
    if (!hasData || url === undefined) return
    try {
      writeLinkFile(dataDir, { url, key })
    } catch (error) {
      // Such as a full disk. Everything else works without this file.
      log.error({ error: messageOf(error) }, 'the command line cannot find this Deckhand: its file could not be written')
    }
  }
  serving.onState(write)
  supervisor.onState((now) => {
    const isWith = now.state === 'ready' || now.state === 'port_taken' || (now.state === 'failed' && SAID_WITH_DATA.includes(now.code))
    if (!isWith) return
    hasData = true
    write()
  })
}

/** The ports for this run: one that was chosen while running overrides everything else. */
function createPorts({ runnerPort, dashboardPort }: Environment, { current }: Pick<MachineSettingsStore, 'current'>) {
  const chosen: { runner?: number; dashboard?: number } = {}
  return {
    runner: () => chosen.runner ?? runnerPort ?? current().runnerPort,
    dashboard: () => chosen.dashboard ?? dashboardPort ?? current().dashboardPort,
    keep(which: 'runner' | 'dashboard', port: number | undefined): void {
      if (port !== undefined) chosen[which] = port
    },
  }
}

/** Where the dashboard's server listens, and how it judges requests. */
function placeOf({ appUrl }: Environment, sharing: NetworkSharing, ports: ReturnType<typeof createPorts>) {
  return { host: sharing.dashboardHost(), port: ports.dashboard(), tls: sharing.tls(), authMode: sharing.authMode, appUrl }
}

/** What the environment, the network and the dashboard's server say about the runner. */
function configOf(environment: Environment, sharing: NetworkSharing, server: DashboardServer | null) {
  return {
    dataDir: environment.dataDir,
    host: sharing.runnerHost(),
    authMode: sharing.authMode(),
    origins: [...(server?.origins() ?? [])],
    appUrl: environment.appUrl ?? server?.url,
    // Without the addresses of this machine: they change, so the runner looks at them itself.
    hosts: namesOf(sharing.runnerHost(), () => ({})),
    tls: sharing.tls(),
    ingressPort: environment.ingressPort,
    publicRunnerUrl: environment.publicRunnerUrl,
    clockAheadMs: environment.clockAheadMs,
    messengerBridge: environment.messengerBridgeEnabled,
    testMessenger: environment.testMessenger,
  }
}

type DiagnosticsParts = Pick<Host, 'environment' | 'settings' | 'supervisor' | 'vault'> & { appVersion: string; serving: Serving }

function createDiagnostics({ environment, appVersion, settings, supervisor, serving, vault }: DiagnosticsParts) {
  const source = (): DiagnosticsSource => ({
    environment,
    appVersion,
    logsDir: logsDirOf(environment.dataDir),
    electronVersion: process.versions['electron'] ?? null,
    settings: settings.current(),
    state: { runner: describeState(supervisor.state()), dashboard: serving.state().state, vault: vault.state().state },
    runner: supervisor.endpoint(),
  })
  return {
    collectDiagnostics: () => collectDiagnostics(source()),
    summarizeDiagnostics: () => summarizeDiagnostics(source()),
  }
}

async function reportCrash(
  log: MainLog,
  { logsDir, appVersion }: { logsDir: string; appVersion: string },
  { reason: message, lastLines }: { reason: Message; lastLines: string[] },
): Promise<void> {
  const at = new Date().toISOString()
  try {
    const reason = await englishText(message)
    keepCrashReport(logsDir, { at, appVersion, reason, lastLines: lastLines.map(log.scrub) })
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'the crash report could not be written')
  }
}

/**
 * Ends this process after everything stopped. A keychain dialog that is still open blocks a thread, and a normal exit waits
 * for all threads. Only then the process kills itself.
 */
export function leave(host: Host, exit: () => void): void {
  if (host.vault.isHanging()) process.kill(process.pid, 'SIGKILL')
  exit()
}

function describeState(state: RunnerState): string {
  return state.state === 'failed' ? `failed (${state.code})` : state.state
}

export function logsDirOf(dataDir: string): string {
  return join(dataDir, 'logs')
}

/** A name that a certificate can hold. */
function isHostName(name: string): boolean {
  return /^[a-z0-9_.-]{1,253}$/.test(name)
}
