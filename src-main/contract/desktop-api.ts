import { z } from 'zod'

/**
 * What the window may ask of the desktop. The preload binds these names to IPC and nothing else; main parses every
 * argument with the schema that stands here and answers only to the app's own page.
 */
export const RunnerState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('starting') }),
  z.object({ state: z.literal('ready'), runnerUrl: z.string() }),
  z.object({ state: z.literal('restarting'), attempt: z.number().int(), reason: z.string() }),
  z.object({ state: z.literal('stopped') }),
  /** Another program holds the port. Nothing was sent to it. */
  z.object({ state: z.literal('port_taken'), port: z.number().int(), suggestedPort: z.number().int() }),
  /** Given up: crashed three times in five minutes, or the data folder cannot be used. */
  z.object({ state: z.literal('failed'), code: z.string(), message: z.string() }),
])
export type RunnerState = z.infer<typeof RunnerState>

export const DashboardState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('ready'), dashboardUrl: z.string() }),
  z.object({ state: z.literal('port_taken'), port: z.number().int(), suggestedPort: z.number().int() }),
  z.object({ state: z.literal('failed'), message: z.string() }),
])
export type DashboardState = z.infer<typeof DashboardState>

export const VaultState = z.object({
  kind: z.enum(['keychain', 'file']),
  /** damaged: what is stored cannot be opened with the key that was found. Nothing is overwritten. */
  state: z.enum(['ok', 'absent', 'locked', 'denied', 'timeout', 'damaged']),
  /** What is wrong and what to do, for people. Empty when ok. */
  message: z.string(),
})
export type VaultState = z.infer<typeof VaultState>

export const MachineSettings = z.object({
  runnerPort: z.number().int().min(1).max(65_535),
  dashboardPort: z.number().int().min(1).max(65_535),
  startAtLogin: z.boolean(),
  closeToTray: z.boolean(),
  theme: z.enum(['system', 'light', 'dark']),
  /** As the page has it: told by the page, so that menus and notifications speak as it does. */
  language: z.enum(['system', 'en', 'de']),
  logLevel: z.enum(['error', 'warn', 'info', 'debug']),
})
export type MachineSettings = z.infer<typeof MachineSettings>

export const MachineInfo = z.object({
  appVersion: z.string(),
  electronVersion: z.string(),
  platform: z.string(),
  dataDir: z.string(),
  logsDir: z.string(),
  safeMode: z.boolean(),
})
export type MachineInfo = z.infer<typeof MachineInfo>

export const DesktopState = z.object({
  runner: RunnerState,
  dashboard: DashboardState,
  vault: VaultState,
  settings: MachineSettings,
  info: MachineInfo,
})
export type DesktopState = z.infer<typeof DesktopState>

/** A wish of the menu, the tray or a notification that the page carries out. */
export const DesktopCommand = z.discriminatedUnion('command', [
  z.object({ command: z.literal('go'), path: z.string().regex(/^\/[\w/?=&.-]*$/) }),
  z.object({ command: z.literal('palette') }),
  z.object({ command: z.literal('shortcuts') }),
])
export type DesktopCommand = z.infer<typeof DesktopCommand>

/** Requests: name → argument and answer. */
export const DESKTOP_CALLS = {
  getState: { argument: z.undefined(), answer: DesktopState },
  changeSettings: { argument: MachineSettings.partial(), answer: MachineSettings },
  /** Take the suggested (or another) port, remember it, and start the server there. */
  usePort: {
    argument: z.object({ server: z.enum(['runner', 'dashboard']), port: z.number().int().min(1).max(65_535) }),
    answer: z.undefined(),
  },
  restartRunner: { argument: z.object({ safeMode: z.boolean() }), answer: z.undefined() },
  /** Try the keychain again, after the person unlocked it. */
  recheckVault: { argument: z.undefined(), answer: VaultState },
  /** The secret of this installation, after the desktop asked the person; null when they refused. Never part of the state. */
  revealSecret: { argument: z.undefined(), answer: z.string().nullable() },
  /** The system's folder dialog; null when the person closed it. */
  pickFolder: { argument: z.undefined(), answer: z.string().nullable() },
  /** Asks the person first, showing the host. Only http and https. true when it was opened. */
  openExternal: { argument: z.object({ url: z.string().max(4096) }), answer: z.boolean() },
  /** Opens the data folder or the logs folder in the file manager. */
  showFolder: { argument: z.enum(['data', 'logs']), answer: z.undefined() },
  copyText: { argument: z.string().max(5_000_000), answer: z.undefined() },
} as const satisfies Record<string, { argument: z.ZodType; answer: z.ZodType }>

export type DesktopCallName = keyof typeof DESKTOP_CALLS

type Call<N extends DesktopCallName> = (
  argument: z.input<(typeof DESKTOP_CALLS)[N]['argument']>,
) => Promise<z.output<(typeof DESKTOP_CALLS)[N]['answer']>>

/** `window.deckhand` in the app's own window; absent when the page is opened in a browser. */
export type DesktopApi = { [N in DesktopCallName]: Call<N> } & {
  /** Calls back now and on every change, until the answered function is called. */
  onState: (listener: (state: DesktopState) => void) => () => void
  onCommand: (listener: (command: DesktopCommand) => void) => () => void
}
