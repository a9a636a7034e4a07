import { randomUUID } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findSandbox } from './platform/sandbox/find-sandbox.ts'
import { openDatabase, type Database } from './platform/db/database.ts'
import { openWhenFree } from './platform/db/open-when-free.ts'
import { DatabaseRefused } from './platform/db/database-errors.ts'
import { transact } from './platform/db/transact.ts'
import { createEventHub, type EventHub } from './platform/events/event-hub.ts'
import { createLiveJobStreams } from './platform/events/live-job-streams.ts'
import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from './platform/net/guarded-fetch.ts'
import { createOutbound, type OutboundFetch } from './platform/net/outbound.ts'
import { readProcessPath, type readLoginPath } from './platform/programs/login-path.ts'
import { createTrustedClock } from './platform/time/trusted-clock.ts'
import { createMachineTime, thisMachine, type Machine } from './platform/time/machine-time.ts'
import type { GateConfig } from './contract/gate.ts'
import type { Recovery } from './contract/notifications.ts'
import type { Notification, RunnerConfig, RunningReport } from './contract/port.ts'
import type { Settings } from './contract/settings.ts'
import { createSystemAlarm, type Alarm } from './adapters/scheduler/alarm.ts'
import { createScheduler } from './adapters/scheduler/scheduler.ts'
import { createChannelConnections } from './adapters/channels/connections.ts'
import { createTelegramDriver } from './adapters/channels/telegram/telegram.ts'
import { refuseUnsafeConfig } from './adapters/host/environment.ts'
import { createHostCommands, type HostCommands } from './adapters/host/host-commands.ts'
import { createRunningReports, type RunningReports } from './adapters/host/running-reports.ts'
import { createHandlers } from './adapters/http/handlers.ts'
import { createHttpServer, DEFAULT_DEADLINES, type Deadlines } from './adapters/http/server.ts'
import { createWebhookServer } from './adapters/webhooks/webhook-server.ts'
import { watchAttention } from './adapters/notifications/attention-watch.ts'
import { createNotifications } from './adapters/notifications/notifications.ts'
import { createOutboxSender } from './adapters/outbox/outbox-sender.ts'
import { createWebhooks, type Webhooks } from './adapters/webhooks/webhooks.ts'
import { createPublicAddresses, type PublicAddressTimings } from './adapters/tunnel/public-address.ts'
import { guardTimers, systemClock, type Clock } from './lib/clock.ts'
import { messageOf } from './lib/errors.ts'
import { createDisposables } from './lib/disposables.ts'
import { AppError } from './lib/errors.ts'
import { createIds, type Ids } from './lib/ids.ts'
import { silentLog, type Log } from './lib/log.ts'
import { createMessage } from './lib/messages.ts'
import { createMachineTimezone } from './lib/timezone.ts'
import { providerKey, WEB_SEARCH_KEY, type Vault } from './lib/vault.ts'
import { listAgentFolders } from './domain/agents/agents.ts'
import { createApprovals } from './domain/approvals/approvals.ts'
import { withdrawApprovals } from './domain/approvals/answer-approval.ts'
import { createReservations } from './domain/budgets/reservations.ts'
import { createBlobs } from './domain/files/blobs.ts'
import { createJobStore, type JobStore } from './domain/jobs/job-store.ts'
import { createWorker, type Worker } from './domain/jobs/worker.ts'
import { createOwnerNotifications } from './domain/channels/notify-owner.ts'
import { findPrice } from './domain/prices/prices.ts'
import { findProvider } from './domain/providers/providers.ts'
import { closedFoldersOf } from './domain/rules/rule-set.ts'
import { createRuleBook } from './domain/rules/rules.ts'
import { createScheduleStore, type ScheduleStore } from './domain/schedules/schedule-store.ts'
import { createSettingsBook, readSettings } from './domain/settings/settings.ts'
import type { Trash } from './agent/files/trash.ts'
import { findServers, type DiscoveryDeps } from './agent/providers/local-servers.ts'
import { createModelSource } from './agent/providers/model-source.ts'
import type { Tool } from './agent/tools/tool.ts'
import { createAgentWork } from './execution/agent-work.ts'
import { createDamageWatch } from './execution/damage-watch.ts'
import { examine } from './execution/health-checks.ts'
import { createAgentPrograms } from './execution/agent-programs.ts'
import { createJobFiles } from './execution/job-files.ts'
import { previewChange } from './execution/preview-change.ts'
import { simulateCall } from './execution/simulate.ts'
import { createTools } from './execution/tools.ts'
import { createMaintenance } from './execution/maintenance.ts'

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
  /** How models are reached. Default: the network. */
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
  internet?: Pick<GuardedFetchOptions, 'resolve' | 'dial' | 'ownAddresses'>
  findSandbox?: typeof findSandbox
  /** Finds the person's programs. Default: the PATH of this process, as in a terminal. */
  readPath?: typeof readLoginPath
  /** Absent: deleted files are gone, apart from what is kept with the job. */
  trash?: Trash
  /** Tests: an answer that does not match the route table becomes a 500. */
  checkAnswers?: boolean
}

export type Address = { host: string; port: number; bootId: string }

/** Before `start` and after `stop`, commands of the host do nothing. */
export type Runner = HostCommands & {
  /** Resolves when the port accepts requests and no job belongs to an earlier process. After a rejection nothing runs. */
  start(): Promise<Address>
  /** Waits for a start in progress, refuses requests, gives jobs `graceMs` to reach a safe point, closes the database. */
  stop(options: { graceMs: number }): Promise<void>
  /** The machine was asleep until now. */
  woke(): void
  onRunning(listener: (report: RunningReport) => void): () => void
  onNotification(listener: (notification: Notification) => void): () => void
}

/** The whole runner: the only place where storage, agent and adapters meet. Nothing happens before `start`. */
export function createRunner(deps: RunnerDeps): Runner {
  const { config, vault, log = silentLog } = deps
  const clock = guardTimers(deps.clock ?? systemClock, (error) =>
    log.error({ error }, `scheduled work failed this time: ${messageOf(error)}`),
  )
  const ids = deps.ids ?? createIds(() => clock.now())
  const disposables = createDisposables(log)
  const outbound = createOutbound()
  const fetch = deps.fetch ?? outbound.fetch
  const onNotification = new Set<(notification: Notification) => void>()
  const bootId = randomUUID()
  const ownPorts = config.origins.flatMap((origin) => (URL.canParse(origin) ? [portOf(new URL(origin))] : []))
  let parts: ReturnType<typeof wireAdapters> | null = null
  let recovery: Recovery | null = null
  let starting: Promise<Address> | null = null
  const core: Core = {
    ...{ deps, config, vault, clock, ids, log, fetch, disposables, ownPorts, bootId },
    onRunning: new Set(),
    notifyHost: (notification) => onNotification.forEach((listener) => listener(notification)),
    recovery: () => recovery,
  }

  async function start(): Promise<Address> {
    refuseUnsafeConfig(config)
    refuseWrongFiles(config.dataDir)
    makeDataFolder(config.dataDir)
    try {
      disposables.add(() => outbound.close())
      const open = () => (deps.openDatabase ?? openDatabase)({ file: join(config.dataDir, 'deckhand.db'), clock, ids, log })
      const db = await openWhenFree(open, systemClock)
      disposables.add(() => db.close())
      // From here on everything can be disposed of, whether or not it comes to its own start.
      const storage = wireStorage(core, db)
      parts = wireAdapters(core, storage, wireAgent(core, storage))
      const rescued = transact(db, (tx) => parts!.jobs.rescue(tx))
      const jobs = rescued.pending.length + rescued.failed.length + rescued.cancelled.length
      if (jobs > 0) recovery = { at: clock.now(), jobs }
      parts.maintenance.start()
      parts.damageWatch.start()
      void parts.programs.lookAgain()
      const address = await parts.http.listen(config.host, config.port)
      log.info({ ...address, bootId, rescued, authMode: config.authMode, safeMode: config.safeMode }, 'the runner is ready')
      ownPorts.push(address.port)
      if (config.safeMode) disposables.add(runNewJobs(parts))
      parts.worker.start()
      if (!config.safeMode) parts.scheduler.start()
      parts.channels.start()
      if (!config.safeMode) parts.outbox.start()
      await parts.addresses.start(urlOf(address))
      parts.reports.plan()
      return { ...address, bootId }
    } catch (error) {
      await end({ graceMs: 0 })
      throw error
    }
  }

  async function end(options: { graceMs: number }): Promise<void> {
    parts = null
    await disposables.run(options)
  }

  return {
    start: () => (starting = start()),
    async stop(options) {
      await starting?.catch(() => {})
      if (parts === null) return
      await end(options)
      log.info({ bootId }, 'the runner has stopped')
    },
    cancelJob: (jobId) => parts?.commands.cancelJob(jobId),
    answerApproval: (given) => parts?.commands.answerApproval(given),
    setPauseAll: (on) => parts?.commands.setPauseAll(on),
    setTunnel: (wish) => parts?.commands.setTunnel(wish),
    woke() {
      parts?.scheduler.woke()
      parts?.addresses.woke()
    },
    onRunning: (listener) => (core.onRunning.add(listener), () => void core.onRunning.delete(listener)),
    onNotification: (listener) => (onNotification.add(listener), () => void onNotification.delete(listener)),
  }
}

type Core = {
  deps: RunnerDeps
  config: RunnerConfig
  vault: Vault
  clock: Clock
  ids: Ids
  log: Log
  fetch: OutboundFetch
  disposables: ReturnType<typeof createDisposables>
  /** Grows while servers start. */
  ownPorts: number[]
  bootId: string
  onRunning: Set<(report: RunningReport) => void>
  notifyHost(notification: Notification): void
  recovery(): Recovery | null
}
type Storage = ReturnType<typeof wireStorage>

/** The database's stores and what they need. */
function wireStorage({ deps, config, clock, ids, log, bootId }: Core, db: Database) {
  const hub = createEventHub({ db, log })
  const liveStreams = createLiveJobStreams({ log })
  const time = createMachineTime(clock, deps.machine ?? (deps.clock === undefined ? thisMachine : null))
  const times = createTrustedClock({ db, clock, time })
  const { money, age, deadlines } = times
  const jobs: JobStore = createJobStore({
    ...{ db, clock, money, ids, bootId, liveStreams },
    hooks: {
      ended: (tx, job) => {
        // First the schedule, which may then learn that nobody could be notified of its run.
        schedules.jobEnded(tx, job)
        ownerNotifications.jobEnded(tx, job)
        withdrawApprovals(tx, job)
      },
      waiting: (tx, job) => schedules.jobWaits(tx, job),
    },
  })
  const ownerNotifications = createOwnerNotifications({
    ...{ clock, ids, log },
    dashboardUrl: () => dashboardUrlOf(config),
    markNotifyUnreachable: (tx, scheduleId) => schedules.markNotifyUnreachable(tx, scheduleId),
  })
  const schedules: ScheduleStore = createScheduleStore({
    ...{ clock, money, age, ids, log, jobs, safeMode: config.safeMode },
    hooks: { exhausted: ownerNotifications.budgetExhausted },
  })
  const approvals = createApprovals({ clock, deadlines, ids, jobs, hooks: { asked: ownerNotifications.approvalAsked } })
  const rules = createRuleBook(db)
  const settings = createSettingsBook(db)
  const timezone = createMachineTimezone(clock)
  const reservations = createReservations({ db, money, timezone })
  const blobs = createBlobs(join(config.dataDir, 'files'))
  return { db, hub, liveStreams, time, times, jobs, schedules, approvals, rules, settings, timezone, reservations, blobs }
}

/** Models, tools and the worker that runs jobs with them. */
function wireAgent(core: Core, storage: Storage) {
  const { deps, config, vault, clock, ids, log, fetch, ownPorts } = core
  const { db, hub, liveStreams, jobs, approvals, rules, settings, timezone, reservations, blobs } = storage
  const sandbox = deps.findSandbox ?? findSandbox
  const readPath = deps.readPath ?? readProcessPath
  const programs = createAgentPrograms({ db, clock, log, settings: settings.read, dataDir: config.dataDir, readPath })
  const agentTools = createTools({
    clock,
    fetch: (address, request) => guardedFetch(core, db)(address, request),
    sandbox,
    programs: programs.find,
    programNames: programs.names,
    rules: rules.read,
    settings: settings.read,
    searchKey: () => vault.get(WEB_SEARCH_KEY),
  })
  const tools = () => [...(deps.tools ?? agentTools()), ...(deps.moreTools ?? [])]
  const guardrails = () => ({ closedFolders: [config.dataDir], ownPorts })
  const models = createModelSource({
    readProvider: (id) => readProviderAccess(db, vault, id),
    readOwnPrice: (ref) => findPrice(db, ref),
    fetch,
    clock,
    demoWordMs: deps.demoWordMs,
  })
  const perform = createAgentWork({
    db,
    jobs,
    liveStreams,
    hub,
    models,
    clock,
    ids,
    log,
    blobs,
    trash: deps.trash,
    random: deps.random ?? Math.random,
    dataDir: config.dataDir,
    ...{ tools, approvals, rules, reservations, timezone },
    ownPorts: () => ownPorts,
  })
  const worker = createWorker({
    store: config.safeMode ? withoutQueue(jobs) : jobs,
    db,
    clock,
    log,
    limit: () => jobLimit(settings.read()),
    // The model gets the list of programs, even in a job that continues right after the start.
    perform: async (attempt) => {
      await programs.firstLook(attempt.signal)
      await perform(attempt)
    },
  })
  return { sandbox, programs, tools, guardrails, models, worker }
}

/** Everything that faces the outside: HTTP, the scheduler, webhooks, channels, notifications, the host. */
function wireAdapters(core: Core, storage: Storage, agent: ReturnType<typeof wireAgent>) {
  const { deps, config, vault, clock, ids, log, fetch, disposables } = core
  const { db, hub, liveStreams, time, times, jobs, schedules, approvals, rules, settings, timezone, blobs } = storage
  const { sandbox, programs, tools, guardrails, models, worker } = agent
  const { money, age } = times
  const alarm = deps.alarm ?? createSystemAlarm(() => clock.now())
  const scheduler = createScheduler({ db, clock, alarm, schedules, log })
  const addresses = createPublicAddresses({
    ...{ db, clock, log, fetch, config },
    openServer: (port) => openWebhookServer(core, webhooks, port),
    agentFolders: () => listAgentFolders(db),
    timings: deps.publicAddressTimings,
    onChange: () => reports.plan(),
  })
  const webhooks: Webhooks = createWebhooks({ db, hub, jobs, vault, clock, age, ids, log, time, probe: addresses.isProbe })
  disposables.add(() => webhooks.stop())
  const channels = createChannelConnections({
    ...{ db, hub, jobs, approvals, vault, clock, age, ids, log, safeMode: config.safeMode },
    closedFolders: (agentId) => [config.dataDir, ...closedFoldersOf(rules.read(), agentId)],
    drivers: [createTelegramDriver({ fetch, clock, random: deps.random ?? Math.random })],
  })
  const outbox = createOutboxSender({ db, hub, clock, times, log, deliver: channels.deliver })
  const http = createHttpServer({
    handlers: createHandlers({
      ...{ db, jobs, approvals, schedules, tools, worker, liveStreams, hub, models, vault, clock, money, ids, log, channels },
      tick: () => scheduler.tick(),
      simulate: (asked) => simulateCall({ db, jobs, approvals, tools, guardrails }, asked),
      previewChange: (approvalId) => previewChange({ db, approvals, tools, rules, dataDir: config.dataDir }, approvalId),
      findSandbox: (options) => {
        if (options?.again === true) void programs.lookAgain()
        return sandbox(options)
      },
      files: createJobFiles({ db, clock, ids, blobs, jobs, closedFolders: [config.dataDir] }),
      findServers: () => findServers({ fetch, clock, ports: deps.discoveryPorts }),
      webhooks: { ...webhooks.byHand, time, settle: webhooks.settle },
      webhookBase: addresses.webhookBase,
      publicAddress: addresses,
      recovery: core.recovery,
      examine: () =>
        examine({
          ...{ db, clock, vault, models, dataDir: config.dataDir, safeMode: config.safeMode },
          findSandbox: sandbox,
          findPrograms: programs.examine,
          hasTrash: deps.trash !== undefined,
          nextDueAt: () => schedules.nextAt(db),
          publicAddress: addresses.read,
        }),
      dataDir: config.dataDir,
      home: deps.home ?? homedir(),
    }),
    auth: config,
    gate: gateOf(config),
    takeDelivery: webhooks.intake.handle,
    passedGate: addresses.passedGate,
    untilWritable: () => db.commits.untilUnlocked(),
    clock,
    log,
    deadlines: deps.deadlines,
    checkAnswers: deps.checkAnswers,
  })
  disposables.add(
    () => addresses.stop(),
    ({ graceMs }) => http.close(Math.min(graceMs, 2000)),
    () => scheduler.stop(),
    (options) => worker.stop(options),
    // A message that is being sent needs its connection.
    ({ graceMs }) => outbox.stop({ graceMs: Math.min(graceMs, 2000) }).then(() => channels.stop()),
  )
  const reports: RunningReports = createRunningReports({
    ...{ db, clock, jobs, approvals, reach: addresses.reach },
    isHeard: () => core.onRunning.size > 0,
    tell: (report) => core.onRunning.forEach((listener) => listener(report)),
  })
  const told = createNotifications({ ...{ db, clock, log, timezone }, publicAddress: addresses.read, tell: core.notifyHost })
  const maintenance = createMaintenance({ db, hub, clock, log, times, approvals })
  const damageWatch = createDamageWatch({ db, hub, clock, log })
  disposables.add(
    hub.subscribe(reports.onEvent),
    () => reports.stop(),
    hub.subscribe(told.onEvent),
    told.close,
    watchAttention({ ...{ db, clock, log }, publicAddress: addresses.read }),
    rules.close,
    settings.close,
    programs.close,
    () => maintenance.stop(),
    () => damageWatch.stop(),
    db.condition.onChange((trouble) => hub.publishLive({ type: 'database.changed', payload: { trouble } })),
  )
  const commands = createHostCommands({ db, clock, log, jobs, approvals, worker, tunnels: addresses, tell: core.notifyHost })
  return { hub, jobs, worker, scheduler, addresses, channels, outbox, http, maintenance, damageWatch, programs, reports, commands }
}

/** Made for each request, because the opened hosts and our own ports may have changed. */
function guardedFetch({ deps, ownPorts }: Core, db: Database): GuardedFetch {
  return createGuardedFetch({ ...deps.internet, opened: readSettings(db).openedHosts, closedPorts: ownPorts })
}

/** On loopback, because a tunnel runs on this machine. The port is closed to agents' tools. */
async function openWebhookServer({ deps, ownPorts }: Core, { intake }: Webhooks, port: number) {
  const listener = createWebhookServer({ intake, deadlines: deps.deadlines ?? DEFAULT_DEADLINES })
  const address = await listener.listen('127.0.0.1', port)
  ownPorts.push(address.port)
  return { port: address.port, close: () => listener.close() }
}

/** With pause all on, no job starts. A running one continues to its next call, which asks. */
function jobLimit({ pauseAll, concurrency }: Pick<Settings, 'pauseAll' | 'concurrency'>): number {
  return pauseAll ? 0 : concurrency
}

/** The address for this machine itself: loopback, if the server listens on all addresses. */
function urlOf({ host, port }: { host: string; port: number }): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** The dashboard's address for other machines. null: none. */
function dashboardUrlOf({ origins }: RunnerConfig): string | null {
  const isElsewhere = (url: URL) => /^https?:$/.test(url.protocol) && !/^(localhost|127\.|\[::1\])/.test(url.hostname)
  return origins.find((origin) => URL.canParse(origin) && isElsewhere(new URL(origin))) ?? null
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

async function readProviderAccess(db: Database, vault: Vault, id: string) {
  for (;;) {
    const provider = findProvider(db, id)
    if (provider === null) return null
    const { kind, name, baseUrl, hasKey } = provider
    const apiKey = hasKey ? await vault.get(providerKey(id)) : null
    // A person may have changed the address meanwhile: the key must not go to the old one.
    const now = findProvider(db, id)
    if (now?.baseUrl !== baseUrl || now.hasKey !== hasKey) continue
    if (hasKey && apiKey === null) throw new AppError('provider_refused', createMessage('model_key_gone', { provider: name }))
    return { id, kind, name, baseUrl, apiKey }
  }
}

/** In safe mode, older jobs wait: one of them may have crashed the runner. */
function withoutQueue(jobs: JobStore): JobStore {
  return { ...jobs, claimNext: () => null }
}

/** In safe mode, only new jobs run. */
function runNewJobs({ hub, worker }: { hub: EventHub; worker: Worker }): () => void {
  const asked = new Set<string>()
  return hub.subscribe((event) => {
    if (event.type === 'job.created') asked.add(event.payload.jobId)
    else if (event.type === 'job.finished') asked.delete(event.payload.jobId)
    else return
    for (const jobId of asked) worker.run(jobId)
  })
}

function gateOf(config: RunnerConfig): GateConfig {
  const own = /^(0\.0\.0\.0|::)$/.test(config.host) ? [] : [config.host.includes(':') ? `[${config.host}]` : config.host]
  return {
    authMode: config.authMode,
    hosts: new Set([...own, ...config.hosts].map((host) => host.toLowerCase())),
    // Pages use the dashboard, which sends no Origin.
    origins: new Set(),
  }
}

/** A file in place of one of our folders is somebody else's, or a mistake. */
function refuseWrongFiles(dataDir: string): void {
  for (const folder of [dataDir, ...['files', 'logs', 'tunnel'].map((name) => join(dataDir, name))]) {
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) continue
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new DatabaseRefused('data_dir_unusable', `The data folder cannot be used: ${folder} is not a folder.`)
    }
  }
}

/** Only the person may read it, even if the folder was open to others. */
function makeDataFolder(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (process.platform !== 'win32') chmodSync(dataDir, 0o700)
}
