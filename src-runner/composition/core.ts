import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import { findSandbox } from '../platform/sandbox/find-sandbox.ts'
import { openDatabase } from '../platform/db/open-database.ts'
import type { GuardedFetchOptions } from '../platform/net/guarded-fetch.ts'
import type { Deadlines } from '../platform/net/node-http.ts'
import { createOutbound, type OutboundFetch } from '../platform/net/outbound.ts'
import { portOf } from '../platform/net/web-address.ts'
import { listProgramFolders } from '../platform/programs/program-folders.ts'
import { thisMachine, type Machine } from '../platform/time/machine-time.ts'
import type { Connector } from '../contract/connectors.ts'
import type { Recovery } from '../contract/notifications.ts'
import { Access, type Notification, type RunnerConfig, type RunningReport } from '../contract/port.ts'
import type { ResolveUser } from '../adapters/http/identify-caller.ts'
import type { Alarm } from '../adapters/scheduler/alarm.ts'
import type { PublicAddressTimings } from '../adapters/tunnel/public-address.ts'
import { guardTimers, systemClock, type Clock } from '../lib/clock.ts'
import { createDisposables } from '../lib/disposables.ts'
import { messageOf } from '../lib/errors.ts'
import { createIds, type Ids } from '../lib/ids.ts'
import { silentLog, type Log } from '../lib/log.ts'
import { createSpeech } from '../lib/messages.ts'
import type { Vault } from '../lib/vault.ts'
import type { Trash } from '../agent/files/trash.ts'
import type { DiscoveryDeps } from '../agent/providers/local-servers.ts'
import type { Tool } from '../agent/tools/tool.ts'

export type RunnerDeps = {
  config: RunnerConfig
  vault: Vault
  clock?: Clock
  /** Counts the machine's running time. With a test's clock, each start is a boot. */
  machine?: Machine
  alarm?: Alarm
  ids?: Ids
  log?: Log
  openDatabase?: typeof openDatabase
  /** How models, chat services and the public address are reached. Default: the network. */
  fetch?: OutboundFetch
  /** Uniform in [0, 1): spreads retries. */
  random?: () => number
  /** Where to look for model servers on this machine. */
  discoveryPorts?: DiscoveryDeps['ports']
  /** The pace of the demo model; 0 in tests. */
  demoWordMs?: number
  deadlines?: Deadlines
  /** Default: the account's home. */
  home?: string
  publicAddressTimings?: Partial<PublicAddressTimings>
  /** Replaces all tools. */
  tools?: readonly Tool[]
  /** Added to the tools. */
  moreTools?: readonly Tool[]
  /** How tools reach the web. */
  internet?: Pick<GuardedFetchOptions, 'resolve' | 'dial' | 'ownAddresses' | 'ca'>
  findSandbox?: typeof findSandbox
  /** The registry of MCP servers. Default: the official one. */
  mcpRegistryUrl?: string
  /** Folders of programs. Default: PATH and the well-known ones of the home. */
  listProgramFolders?: () => Promise<readonly string[]>
  /** The services that people sign in to. Default: the catalogue. */
  findConnector?: (slug: string) => Connector | null
  /** Absent: deleted files are gone, apart from what is kept with the job. */
  trash?: Trash
  /** Looks up accounts. Absent: there are none. */
  resolveUser?: ResolveUser
  /** Tests: a response that does not match the route table becomes a 500. */
  checkResponses?: boolean
}

export type Core = ReturnType<typeof createCore>

/** What all parts share, with the defaults. `options`: what only one part needs. */
export function createCore({ config, vault, ...options }: RunnerDeps) {
  const { log = silentLog, random = Math.random, home = homedir() } = options
  const clock = guardTimers(options.clock ?? systemClock, (error) =>
    log.error({ error }, `scheduled work failed this time: ${messageOf(error)}`),
  )
  const outbound = createOutbound()
  const disposables = createDisposables(log)
  disposables.add(() => outbound.close())
  return {
    config,
    vault,
    log,
    random,
    home,
    clock,
    disposables,
    options,
    ...createSpeech(),
    ids: options.ids ?? createIds(() => clock.now()),
    machine: options.machine ?? (options.clock === undefined ? thisMachine : null),
    openDatabase: options.openDatabase ?? openDatabase,
    fetch: options.fetch ?? outbound.fetch,
    findSandbox: options.findSandbox ?? findSandbox,
    listProgramFolders: options.listProgramFolders ?? listProgramFolders,
    /** Changes while the runner runs. */
    access: Access.parse(config),
    dataDir: config.dataDir,
    safeMode: config.safeMode,
    bootId: randomUUID(),
    /** Closed to agents' tools. Grows while servers start. */
    ownPorts: portsOf(config.origins),
    reports: createListeners<RunningReport>(),
    notifications: createListeners<Notification>(),
    /** The jobs that were running at a crash; null: there was none. */
    recovery: null as Recovery | null,
  }
}

/** The ports of origins. */
export function portsOf(origins: readonly string[]): number[] {
  return origins.flatMap((origin) => (URL.canParse(origin) ? [portOf(new URL(origin))] : []))
}

function createListeners<Value>() {
  const listeners = new Set<(value: Value) => void>()
  return {
    /** Returns how to remove it. */
    add(listener: (value: Value) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    hasListener: () => listeners.size > 0,
    send: (value: Value) => listeners.forEach((listener) => listener(value)),
  }
}
