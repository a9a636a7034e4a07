import { readFileSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import type { Message } from '../../src-runner/contract/messages.ts'
import { AuthMode, LogLevel } from '../../src-runner/contract/port.ts'
import type { MachineSettings } from '../contract/desktop-api.ts'
import { messageOf } from '../log/log.ts'
import { dataDirPath } from './data-dir-path.ts'
import { StartError } from './start-error.ts'

/** What a setting takes. The issue of a schema holds it in place of a sentence. */
type SettingRule = 'host' | 'port' | 'url' | 'origin' | 'flag' | 'choice' | 'text'

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '::1'])

const Host = z
  .string()
  .trim()
  .toLowerCase()
  .refine(
    (host) =>
      isIPv4(host) || isIPv6(host) || /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/.test(host),
    { error: 'host' satisfies SettingRule },
  )
  // A name of digits and dots is a badly written address (127.1, 2130706433).
  .refine((host) => isIPv4(host) || isIPv6(host) || !/^[\d.]+$/.test(host), { error: 'host' satisfies SettingRule })

const Port = z
  .string()
  .trim()
  .regex(/^\d{1,5}$/, 'port' satisfies SettingRule)
  .transform(Number)
  .refine((port) => port <= 65_535, { error: 'port' satisfies SettingRule })

const BaseUrl = z
  .string()
  .trim()
  .transform((text, context) => {
    const url = URL.canParse(text) ? new URL(text) : null
    const fits = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
    if (!fits) {
      context.addIssue({ code: 'custom', message: 'url' satisfies SettingRule })
      return z.NEVER
    }
    return url.href.replace(/\/+$/, '')
  })

/** A base without a path, because the dashboard's own paths begin at the root. */
const Origin = BaseUrl.refine((url) => new URL(url).pathname === '/', { error: 'origin' satisfies SettingRule })

const Flag = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no', 'on', 'off'], { error: 'flag' satisfies SettingRule }))
  .transform((text) => ['true', '1', 'yes', 'on'].includes(text))

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z
    .string()
    .trim()
    .pipe(z.enum(values, { error: 'choice' satisfies SettingRule }))

const NotEmpty = z
  .string()
  .trim()
  .min(1, 'text' satisfies SettingRule)

const MIN_NETWORK_SECRET_CHARS = 32

const VARIABLES = {
  DECKHAND_DATA_DIR: NotEmpty,
  RUNNER_HOST: Host,
  RUNNER_PORT: Port,
  DASHBOARD_HOST: Host,
  DASHBOARD_PORT: Port,
  APP_URL: Origin,
  PUBLIC_RUNNER_URL: BaseUrl,
  INGRESS_PORT: Port,
  AUTH_MODE: oneOf(AuthMode.options as ['local-trust', 'local-auth', 'bearer-token']),
  WORKER_SECRET: z.string().regex(/^[\x21-\x7e]{1,512}$/),
  WORKER_SECRET_FILE: NotEmpty,
  DECKHAND_VAULT: oneOf(['keychain', 'file']),
  MESSENGER_BRIDGE_ENABLED: Flag,
  LOG_LEVEL: oneOf(LogLevel.options as ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
} as const

type Variable = keyof typeof VARIABLES
const NAMES = Object.keys(VARIABLES) as Variable[]

/** DECKHAND_DATA_DIR is `dataDir` here. */
const keyOf = (name: Variable) =>
  name.replace('DECKHAND_', '').toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) // prettier-ignore

/** DECKHAND_DATA_DIR is `--deckhand-data-dir` or `--data-dir`. The secret has no flag, because every account can read arguments. */
function variableOf(flag: string): Variable | undefined {
  const name = flag.toUpperCase().replaceAll('-', '_')
  return NAMES.find((known) => known !== 'WORKER_SECRET' && [known, known.replace('DECKHAND_', '')].includes(name))
}

/** The settings of this start. null: not given, so the machine's settings or the default apply. */
export type Environment = {
  dataDir: string
  runnerHost: string
  /** 0 lets the system choose. */
  runnerPort: number | null
  dashboardHost: string
  dashboardPort: number | null
  /** The public base of the dashboard. */
  appUrl: string | null
  /** The public base of the runner's webhooks (a tunnel). */
  publicRunnerUrl: string | null
  /** The webhook-only listener. null: the setting decides, which is off by default. */
  ingressPort: number | null
  authMode: AuthMode
  /** The variable that decides about the network instead of the setting; null: the setting does. */
  sharingFixedBy: 'AUTH_MODE' | 'DASHBOARD_HOST' | 'RUNNER_HOST' | 'WORKER_SECRET' | null
  workerSecret: string | null
  vault: 'keychain' | 'file'
  messengerBridgeEnabled: boolean
  logLevel: LogLevel | null
  /** Only in window tests: how far the runner's clock is ahead. */
  clockAheadMs?: number
  /** Only in window tests: the server to use instead of WhatsApp's. */
  testMessenger?: { url: string; rootKey: string; qrShownMs?: number | undefined } | undefined
}

const DEFAULTS: Omit<Environment, 'dataDir'> = {
  runnerHost: '127.0.0.1',
  runnerPort: null,
  dashboardHost: '127.0.0.1',
  dashboardPort: null,
  appUrl: null,
  publicRunnerUrl: null,
  ingressPort: null,
  authMode: 'local-trust',
  sharingFixedBy: null,
  workerSecret: null,
  vault: 'keychain',
  messengerBridgeEnabled: true,
  logLevel: null,
}

export type EnvironmentSource = {
  env: Record<string, string | undefined>
  /** Flags of headless mode: `--runner-port 3001` or `--runner-port=3001`. They override the environment. */
  args?: readonly string[]
  /** In a window test the clock may be set. */
  isTest?: boolean
  platform: NodeJS.Platform
  home: string
  cwd: string
}

/** Throws a StartError (exit code 2) that names the setting and what it takes, and never repeats a secret. */
export function readEnvironment(source: EnvironmentSource): Environment {
  const flags = readFlags(source.args ?? [])
  const values: Partial<Record<string, unknown>> = {}
  for (const name of NAMES) {
    const flag = flags.get(name)
    const text = flag?.value ?? source.env[name]
    // Shells and container files set a variable to the empty string to unset it.
    if (text === undefined || (flag === undefined && text === '')) continue
    const parsed = VARIABLES[name].safeParse(text)
    if (!parsed.success) throw new StartError(2, settingInvalid(name, flag ? `--${flag.name}` : name, text, parsed.error.issues[0]!))
    values[keyOf(name)] = parsed.data
  }
  const given = values as Partial<Environment> & { workerSecretFile?: string }
  const { workerSecretFile, dataDir, ...rest } = given
  const environment: Environment = { ...DEFAULTS, ...rest, dataDir: dataDirPath(dataDir, source) }
  environment.sharingFixedBy = (['AUTH_MODE', 'DASHBOARD_HOST', 'RUNNER_HOST'] as const).find((name) => keyOf(name) in given) ?? null
  if (workerSecretFile !== undefined) environment.workerSecret = readSecretFile(workerSecretFile, source.cwd)
  if (isWeak(environment.workerSecret)) environment.sharingFixedBy ??= 'WORKER_SECRET'
  if (source.isTest === true) {
    environment.clockAheadMs = Number(source.env['DECKHAND_TEST_CLOCK_AHEAD_MS'] ?? 0)
    const [url, rootKey, qrShownMs] = source.env['DECKHAND_TEST_MESSENGER']?.split('#') ?? []
    if (url !== undefined && rootKey !== undefined)
      environment.testMessenger = { url, rootKey, qrShownMs: qrShownMs === undefined ? undefined : Number(qrShownMs) }
  }
  refuseUnsafe(environment)
  return environment
}

function settingInvalid(name: Variable, setting: string, value: string, issue: z.core.$ZodIssue): Message {
  if (name === 'WORKER_SECRET') return { code: 'start_secret_invalid', params: { setting } }
  const choices = issue.code === 'invalid_value' ? issue.values.join(', ') : ''
  return { code: 'start_setting_invalid', params: { setting, value, rule: issue.message, choices } }
}

/** Reads the secret from a file that holds nothing else. `-` is standard input. */
function readSecretFile(file: string, cwd: string): string {
  const name = file === '-' ? 'stdin' : file
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : resolve(cwd, file), 'utf8')
  } catch (error) {
    throw new StartError(2, { code: 'start_secret_unreadable', params: { file: name, why: messageOf(error) } }, { cause: error })
  }
  const parsed = VARIABLES.WORKER_SECRET.safeParse(text.replace(/\r?\n$/, ''))
  if (!parsed.success) throw new StartError(2, { code: 'start_secret_invalid', params: { setting: name } })
  return parsed.data
}

/** Nobody on the network may find the secret by trying. On loopback it is the person's choice. */
function isWeak(secret: string | null): boolean {
  return secret !== null && secret.length < MIN_NETWORK_SECRET_CHARS
}

function refuseUnsafe(environment: Environment): void {
  for (const [name, host] of [
    ['RUNNER_HOST', environment.runnerHost],
    ['DASHBOARD_HOST', environment.dashboardHost],
  ] as const) {
    if (environment.authMode === 'local-trust' && !isLoopback(host)) {
      throw new StartError(2, { code: 'start_opens_network', params: { setting: name, host } })
    }
    if (isWeak(environment.workerSecret) && !isLoopback(host)) {
      throw new StartError(2, { code: 'start_secret_weak', params: { setting: name, host, chars: `${MIN_NETWORK_SECRET_CHARS}` } })
    }
  }
}

/** Throws a StartError if a given port is also that of another server. `saved`: the ports that apply when none is given. */
export function refuseEqualPorts(given: Environment, saved: Pick<MachineSettings, 'runnerPort' | 'dashboardPort'>): void {
  const servers = [
    { setting: 'RUNNER_PORT', given: given.runnerPort, port: given.runnerPort ?? saved.runnerPort },
    { setting: 'DASHBOARD_PORT', given: given.dashboardPort, port: given.dashboardPort ?? saved.dashboardPort },
    { setting: 'INGRESS_PORT', given: given.ingressPort, port: given.ingressPort ?? 0 },
  ]
  for (const [i, first] of servers.entries()) {
    // The app offers another port if both were saved.
    const second = servers.slice(i + 1).find(({ port, given }) => port === first.port && (given ?? first.given) !== null)
    if (second === undefined || first.port === 0) continue
    throw new StartError(2, {
      code: 'start_ports_equal',
      params: { first: first.setting, second: second.setting, port: String(first.port) },
    })
  }
}

export function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.has(host) || (isIPv4(host) && host.startsWith('127.'))
}

function readFlags(args: readonly string[]): Map<Variable, { name: string; value: string }> {
  const found = new Map<Variable, { name: string; value: string }>()
  for (let i = 0; i < args.length; i++) {
    const match = /^--([a-z][a-z-]*)(?:=(.*))?$/s.exec(args[i]!)
    const name = match?.[1]
    if (name === 'worker-secret') {
      throw new StartError(
        2,
        'every account of this machine can read --worker-secret; use --worker-secret-file with a file, or with - for standard input',
      )
    }
    const variable = variableOf(name ?? '')
    if (name === undefined || variable === undefined)
      throw new StartError(2, `unknown argument ${args[i]!.split('=')[0]}; see README for the settings`)
    const value = match![2] ?? args[++i]
    if (value === undefined || (match![2] === undefined && value.startsWith('--'))) throw new StartError(2, `--${name} needs a value`)
    found.set(variable, { name, value })
  }
  return found
}
