import { englishText } from '../../lib/messages.ts'
import { randomBytes } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import { readPublicBase } from '../../platform/net/web-address.ts'
import { AuthMode, LogLevel, type RunnerConfig } from '../../contract/port.ts'

/** The message is one line for the person who started the runner. */
export class ConfigRefused extends Error {
  override readonly name = 'ConfigRefused'
}

const Port = z
  .string()
  .trim()
  .regex(/^\d{1,5}$/, 'must be a port, 0 to 65535')
  .transform(Number)
  .refine((port) => port <= 65_535, 'must be a port, 0 to 65535')

/** Nobody on the network may find the secret by trying. */
const MIN_NETWORK_SECRET_CHARS = 32

const Environment = z.object({
  DECKHAND_DATA_DIR: z.string({ error: 'is needed: the folder that holds the data' }).trim().min(1, 'must not be empty'),
  RUNNER_HOST: z.string().trim().min(1, 'must not be empty').default('127.0.0.1'),
  RUNNER_PORT: Port.default(3001),
  AUTH_MODE: AuthMode.default('local-trust'),
  WORKER_SECRET: z
    .string()
    .regex(/^[\x21-\x7e]{1,512}$/, 'must be 1 to 512 printable ASCII characters without spaces')
    .optional(),
  LOG_LEVEL: LogLevel.default('info'),
  INGRESS_PORT: Port.nullable().default(null),
  PUBLIC_RUNNER_URL: z.string().trim().min(1).nullable().default(null),
  MESSENGER_BRIDGE_ENABLED: z.stringbool({ error: 'must be true or false' }).default(true),
})

/** The configuration of a runner without a host process. Throws ConfigRefused. */
export function readRunnerEnvironment(env: Record<string, string | undefined>): RunnerConfig {
  // In shells and container files an empty variable usually means that it is not set.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!
    throw new ConfigRefused(
      `${issue.path.join('.')} ${issue.code === 'invalid_value' ? `must be one of ${issue.values.join(', ')}` : issue.message}`,
    )
  }
  const { DECKHAND_DATA_DIR, RUNNER_HOST, RUNNER_PORT, AUTH_MODE, WORKER_SECRET, LOG_LEVEL } = parsed.data
  const { INGRESS_PORT, PUBLIC_RUNNER_URL, MESSENGER_BRIDGE_ENABLED } = parsed.data
  if (AUTH_MODE !== 'local-trust' && WORKER_SECRET === undefined)
    throw new ConfigRefused(`WORKER_SECRET is needed with AUTH_MODE ${AUTH_MODE}`)
  return {
    dataDir: resolve(DECKHAND_DATA_DIR),
    host: RUNNER_HOST,
    port: RUNNER_PORT,
    authMode: AUTH_MODE,
    // In local-trust only the worker route needs it. A random secret keeps that route closed.
    workerSecret: WORKER_SECRET ?? randomBytes(32).toString('hex'),
    logLevel: LOG_LEVEL,
    origins: [],
    hosts: [],
    safeMode: false,
    ingressPort: INGRESS_PORT,
    publicRunnerUrl: PUBLIC_RUNNER_URL,
    messengerBridge: MESSENGER_BRIDGE_ENABLED,
  }
}

/** Throws ConfigRefused for a configuration that no runner may have. */
export function refuseUnsafeConfig(config: RunnerConfig): void {
  const base = config.publicRunnerUrl === null ? null : readPublicBase(config.publicRunnerUrl)
  if (base?.url === null) throw new ConfigRefused(`PUBLIC_RUNNER_URL is not a public address. ${englishText(base.problem)}`)
  if (config.authMode === 'local-trust' && !isLoopback(config.host)) {
    throw new ConfigRefused(
      `RUNNER_HOST ${config.host} would open the runner to the network without a secret; use 127.0.0.1, or set AUTH_MODE=local-auth`,
    )
  }
  if (config.workerSecret.length < MIN_NETWORK_SECRET_CHARS && !isLoopback(config.host))
    throw new ConfigRefused(
      `RUNNER_HOST ${config.host} would open the runner to the network, where WORKER_SECRET needs at least ${MIN_NETWORK_SECRET_CHARS} characters`,
    )
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
