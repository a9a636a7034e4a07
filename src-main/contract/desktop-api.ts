import { z } from 'zod'
import { Message } from '../../src-runner/contract/messages.ts'
import { Replacement } from '../../src-runner/contract/port.ts'
import { LogLine, LogQuery } from './logs.ts'
import { LANGUAGES } from '../../resources/locales/texts.ts'
import { UpdateAction, UpdateChannel, UpdateMode, UpdateState } from './updates.ts'

/**
 * What the window may ask the desktop. The preload only binds these names to IPC. Main parses every argument with the
 * schema here, and accepts calls only from the app's own page.
 */
export const RunnerState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('starting') }),
  z.object({ state: z.literal('ready'), runnerUrl: z.string() }),
  z.object({ state: z.literal('restarting'), attempt: z.number().int(), reason: Message }),
  z.object({ state: z.literal('stopped') }),
  /** Another program uses the port. Nothing was sent to it. */
  z.object({ state: z.literal('port_taken'), port: z.number().int(), suggestedPort: z.number().int() }),
  /** The runner cannot start, or crashed three times in five minutes (`crash_loop`). `message`: the cause. */
  z.object({ state: z.literal('failed'), code: z.string(), message: Message }),
])
export type RunnerState = z.infer<typeof RunnerState>

export const DashboardState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('ready'), dashboardUrl: z.string() }),
  z.object({ state: z.literal('port_taken'), port: z.number().int(), suggestedPort: z.number().int() }),
  z.object({ state: z.literal('failed'), message: Message }),
])
export type DashboardState = z.infer<typeof DashboardState>

export const VaultState = z.object({
  kind: z.enum(['keychain', 'file']),
  /** damaged: the key that was found does not open the vault. Nothing is overwritten. */
  state: z.enum(['ok', 'absent', 'locked', 'denied', 'timeout', 'damaged']),
  /** What is wrong and what to do. null when ok. */
  message: Message.nullable(),
})
export type VaultState = z.infer<typeof VaultState>

export const MachineSettings = z.object({
  runnerPort: z.number().int().min(1).max(65_535),
  dashboardPort: z.number().int().min(1).max(65_535),
  startAtLogin: z.boolean(),
  /** Changed by `share` only. */
  shareOnNetwork: z.boolean(),
  /** HTTPS for the network. Changed by `encryptSharing` only. */
  encryptSharing: z.boolean(),
  closeToTray: z.boolean(),
  theme: z.enum(['system', 'light', 'dark']),
  /** The page's language, so that menus and notifications match it. */
  language: z.enum(['system', ...LANGUAGES]),
  logLevel: z.enum(['error', 'warn', 'info', 'debug']),
  updateChannel: UpdateChannel,
  updateMode: UpdateMode,
  /** Installs a downloaded update when the person quits Deckhand. */
  updateOnQuit: z.boolean(),
})
export type MachineSettings = z.infer<typeof MachineSettings>

export const MachineInfo = z.object({
  appVersion: z.string(),
  electronVersion: z.string(),
  platform: z.string(),
  dataDir: z.string(),
  /** Why the data folder may lose data; null: it is sound. */
  dataDirProblem: Message.nullable(),
  logsDir: z.string(),
  safeMode: z.boolean(),
})
export type MachineInfo = z.infer<typeof MachineInfo>

/** "Share on this network". */
export const Sharing = z.object({
  isOn: z.boolean(),
  /** The variable of the environment that decides instead. */
  fixedBy: z.enum(['AUTH_MODE', 'DASHBOARD_HOST', 'RUNNER_HOST', 'WORKER_SECRET']).nullable(),
  /** Addresses for other devices, the one most likely to work first. Empty while it is off. */
  urls: z.array(z.string()),
  problem: Message.nullable(),
  isEncrypted: z.boolean(),
  /** Null while it is not in use. `validUntil`: epoch ms. */
  certificate: z.object({ fingerprint: z.string(), validUntil: z.number(), replacesDamaged: z.boolean() }).nullable(),
})
export type Sharing = z.infer<typeof Sharing>

export const DataAmount = z.object({ files: z.number().int(), bytes: z.number() })
export type DataAmount = z.infer<typeof DataAmount>

/** `leftAlone`: names in the data folder that are not Deckhand's. */
export const DataSize = z.object({ data: DataAmount, backups: DataAmount, leftAlone: z.array(z.string()) })
export type DataSize = z.infer<typeof DataSize>

export const DesktopState = z.object({
  runner: RunnerState,
  dashboard: DashboardState,
  vault: VaultState,
  settings: MachineSettings,
  sharing: Sharing,
  info: MachineInfo,
  updates: UpdateState,
})
export type DesktopState = z.infer<typeof DesktopState>

/** What the menu, the tray or a notification asks the page to do. */
export const DesktopCommand = z.discriminatedUnion('command', [
  z.object({ command: z.literal('go'), path: z.string().regex(/^\/[\w/?=&.-]*$/) }),
  z.object({ command: z.literal('palette') }),
  z.object({ command: z.literal('shortcuts') }),
  /** A text from a link: shown in the field of a new chat, and never sent by itself. */
  z.object({ command: z.literal('task'), text: z.string().max(4_000) }),
])
export type DesktopCommand = z.infer<typeof DesktopCommand>

/** Requests: name → argument and result. A call that fails has a message for the person. */
export const DESKTOP_CALLS = {
  getState: { argument: z.undefined(), result: DesktopState },
  changeSettings: { argument: MachineSettings.omit({ shareOnNetwork: true, encryptSharing: true }).partial(), result: MachineSettings },
  /** Saves the port and starts the server on it. */
  usePort: {
    argument: z.object({ server: z.enum(['runner', 'dashboard']), port: z.number().int().min(1).max(65_535) }),
    result: z.undefined(),
  },
  /** Restarts with a backup (null: the newest sound one) or an empty database, after a confirmation dialog. false: the person refused. */
  replaceDatabase: { argument: Replacement, result: z.boolean() },
  /** What `resetData` would delete. */
  measureData: { argument: z.undefined(), result: DataSize },
  /** Deletes everything and starts again, after a confirmation dialog. false: the person refused. */
  resetData: { argument: z.object({ keepsBackups: z.boolean() }), result: z.boolean() },
  restartRunner: { argument: z.object({ safeMode: z.boolean() }), result: z.undefined() },
  /** Tries the keychain again, after the person unlocked it. */
  recheckVault: { argument: z.undefined(), result: VaultState },
  /** The secret of this installation, after a confirmation dialog. null: the person refused. Never part of the state. */
  revealSecret: { argument: z.undefined(), result: z.string().nullable() },
  /** Shares both servers on the network, or stops it. Needs an owner account. */
  share: { argument: z.object({ on: z.boolean() }), result: z.enum(['done', 'needs_owner', 'fixed']) },
  /** Serves the network over HTTPS, or no longer. */
  encryptSharing: { argument: z.object({ on: z.boolean() }), result: z.undefined() },
  /** Makes another key and certificate. */
  replaceCertificate: { argument: z.undefined(), result: z.undefined() },
  /** Replaces the secret after a confirmation dialog; the old one is refused at once. null: the person refused. */
  rotateSecret: { argument: z.undefined(), result: z.string().nullable() },
  /** Opens the system's folder dialog. null: the person closed it. */
  pickFolder: { argument: z.undefined(), result: z.string().nullable() },
  /** Shows the host and asks first. http and https only. true: it was opened. */
  openExternal: { argument: z.object({ url: z.string().max(4096) }), result: z.boolean() },
  openSignIn: { argument: z.object({ authorizationId: z.uuid() }), result: z.undefined() },
  /** Opens the data folder or one inside it in the file manager. */
  showFolder: { argument: z.enum(['data', 'logs', 'backups']), result: z.undefined() },
  /** Opens the folder in which a coding program works in the file manager. false: it is gone. */
  showCodeFolder: { argument: z.object({ jobId: z.uuid() }), result: z.boolean() },
  /** Asks where, and writes a zip that holds nothing private. The file, or null: the person closed the dialog. */
  saveDiagnostics: { argument: z.undefined(), result: z.string().nullable() },
  /** Puts the same in short on the clipboard, as text. */
  copyDiagnostics: { argument: z.undefined(), result: z.undefined() },
  /** The newest lines of the logs of main and runner, the newest first. */
  readLogs: { argument: LogQuery, result: z.array(LogLine) },
  copyText: { argument: z.string().max(5_000_000), result: z.undefined() },
  /** Starts it; the state shows how it goes. */
  update: { argument: UpdateAction, result: z.undefined() },
} as const satisfies Record<string, { argument: z.ZodType; result: z.ZodType }>

export type DesktopCallName = keyof typeof DESKTOP_CALLS

type Call<N extends DesktopCallName> = (
  argument: z.input<(typeof DESKTOP_CALLS)[N]['argument']>,
) => Promise<z.output<(typeof DESKTOP_CALLS)[N]['result']>>

type Listening = {
  /** Calls `listener` now and on every change, until the returned function is called. */
  onState: (listener: (state: DesktopState) => void) => () => void
  onCommand: (listener: (command: DesktopCommand) => void) => () => void
}

/** The desktop's calls as the page uses them. A call that fails rejects with a DesktopError. */
export type DesktopApi = { [N in DesktopCallName]: Call<N> } & Listening

/** How a call ended. A failure is a value, because only the text of an error crosses IPC and the bridge of the preload. */
export type DesktopOutcome<T = unknown> = { ok: true; value: T } | { ok: false; message: Message }

/** `window.deckhand` in the app's own window. Absent in a browser. */
export type DesktopBridge = {
  [N in DesktopCallName]: (...argument: Parameters<Call<N>>) => Promise<DesktopOutcome<Awaited<ReturnType<Call<N>>>>>
} & Listening
