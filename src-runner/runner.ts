import { randomUUID } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findBox } from './base/box/find-box.ts'
import { openDatabase, type Database } from './base/db/database.ts'
import { openWhenFree } from './base/db/open-when-free.ts'
import { DatabaseRefused } from './base/db/database-errors.ts'
import { transact } from './base/db/transact.ts'
import { createEventHub, type EventHub } from './base/events/event-hub.ts'
import { createJobTails } from './base/events/job-tails.ts'
import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from './base/net/guarded-fetch.ts'
import { createOutbound, type OutboundFetch } from './base/net/outbound.ts'
import { readProcessPath, type readLoginPath } from './base/programs/login-path.ts'
import { createBelievedTimes } from './base/time/believed-time.ts'
import { createMachineTime, thisMachine, type Machine } from './base/time/machine-time.ts'
import type { GateConfig } from './contract/gate.ts'
import type { Recovery } from './contract/notifications.ts'
import type { Notice, RunnerConfig, RunningReport } from './contract/port.ts'
import type { Settings } from './contract/settings.ts'
import { createSystemAlarm, type Alarm } from './edges/clockwork/alarm.ts'
import { createClockwork } from './edges/clockwork/clockwork.ts'
import { createChannelConnections } from './edges/channels/connections.ts'
import { createTelegramDriver } from './edges/channels/telegram/telegram.ts'
import { refuseUnsafeConfig } from './edges/host/environment.ts'
import { createHostCommands, type HostCommands } from './edges/host/host-commands.ts'
import { createRunningReports, type RunningReports } from './edges/host/running-reports.ts'
import { createHandlers } from './edges/http/handlers.ts'
import { createHttpServer, DEFAULT_DEADLINES, type Deadlines } from './edges/http/server.ts'
import { createIngressListener } from './edges/ingress/ingress-listener.ts'
import { watchAttention } from './edges/notices/attention-watch.ts'
import { createNotices } from './edges/notices/notices.ts'
import { createOutboxSender } from './edges/outbox/outbox-sender.ts'
import { createWebhooks, type Webhooks } from './edges/ingress/webhooks.ts'
import { createPublicAddresses, type PublicAddressTimings } from './edges/public-address/public-address.ts'
import { guardTimers, systemClock, type Clock } from './kit/clock.ts'
import { messageOf } from './kit/errors.ts'
import { createEndings } from './kit/endings.ts'
import { AppError } from './kit/errors.ts'
import { createIds, type Ids } from './kit/ids.ts'
import { silentLog, type Log } from './kit/log.ts'
import { say } from './kit/said.ts'
import { createMachineTimezone } from './kit/timezone.ts'
import { providerKey, WEB_SEARCH_KEY, type Vault } from './kit/vault.ts'
import { listAgentFolders } from './records/agents/agents.ts'
import { createApprovals } from './records/approvals/approvals.ts'
import { createLedger } from './records/budgets/ledger.ts'
import { createBlobs } from './records/files/blobs.ts'
import { createJobStore, type JobStore } from './records/jobs/job-store.ts'
import { createWorker, type Worker } from './records/jobs/worker.ts'
import { createTelling } from './records/outbox/telling.ts'
import { findPrice } from './records/prices/prices.ts'
import { findProvider } from './records/providers/providers.ts'
import { closedFoldersOf } from './records/rules/rule-set.ts'
import { createRuleBook } from './records/rules/rules.ts'
import { createScheduleStore, type ScheduleStore } from './records/schedules/schedule-store.ts'
import { createSettingsBook, readSettings } from './records/settings/settings.ts'
import type { Trash } from './thinking/folder-access/trash.ts'
import { findServers, type DiscoveryDeps } from './thinking/models/discovery.ts'
import { createModelSource } from './thinking/models/model-source.ts'
import type { Tool } from './thinking/tools/tool.ts'
import { createAgentWork } from './work/agent-work.ts'
import { createDamageWatch } from './work/damage-watch.ts'
import { examine } from './work/doctor.ts'
import { createAgentPrograms } from './work/agent-programs.ts'
import { createJobFiles } from './work/job-files.ts'
import { previewChange } from './work/preview-change.ts'
import { simulateCall } from './work/simulate.ts'
import { createTools } from './work/tools.ts'
import { createUpkeep } from './work/upkeep.ts'

export type RunnerDeps = {
  config: RunnerConfig
  vault: Vault
  clock?: Clock
  /** What counts the running time of the machine. Left out beside a clock of a test: each start is a boot of its own. */
  machine?: Machine
  /** Rings when a schedule is due; that of a test goes by its clock. */
  alarm?: Alarm
  ids?: Ids
  log?: Log
  /** Tests reach the file below through this. */
  openDatabase?: typeof openDatabase
  /** How models are reached; ours goes to the network. */
  fetch?: OutboundFetch
  /** Uniform in [0, 1): spreads retries. */
  random?: () => number
  /** Where model servers of this machine are looked for; tests have theirs elsewhere. */
  discoveryPorts?: DiscoveryDeps['ports']
  /** The pace of the demo model; 0 in tests. */
  demoWordMs?: number
  deadlines?: Deadlines
  /** How patient tunnels and probes are. */
  /** Of the person; left out: that of the account. */
  home?: string
  publicAddressTimings?: Partial<PublicAddressTimings>
  /** In place of all tools that agents have. */
  tools?: readonly Tool[]
  /** Beside them: tools of a test. */
  moreTools?: readonly Tool[]
  /** How tools reach the web; tests have an internet of their own. */
  internet?: Pick<GuardedFetchOptions, 'resolve' | 'dial' | 'ownAddresses'>
  /** Which box holds the programs of agents; ours finds that of this machine. */
  findBox?: typeof findBox
  /** Where the person's programs are; ours takes it that a terminal started us. */
  readPath?: typeof readLoginPath
  /** Where files go that agents delete. Left out: they are gone, apart from what is kept with the job. */
  trash?: Trash
  /** Tests: an answer that is not what the route table promises becomes a 500. */
  checkAnswers?: boolean
}

export type Address = { host: string; port: number; bootId: string }

/** Before `start` and after `stop`, what the host asks for does nothing. */
export type Runner = HostCommands & {
  /** Resolves when the port takes requests and no job belongs to an earlier process. Rejects with why it cannot be, and then nothing runs. */
  start(): Promise<Address>
  /** Takes no more requests, gives jobs `graceMs` to reach a safe point, and closes the database. A start under way is waited for. */
  stop(options: { graceMs: number }): Promise<void>
  /** The machine was asleep until now. */
  woke(): void
  onRunning(listener: (report: RunningReport) => void): () => void
  onNotice(listener: (notice: Notice) => void): () => void
}

/** The whole runner: the one place where records, thinking, work and edges meet. Nothing happens before `start`. */
export function createRunner(deps: RunnerDeps): Runner {
  const { config, vault, log = silentLog } = deps
  const clock = guardTimers(deps.clock ?? systemClock, (error) =>
    log.error({ error }, `scheduled work failed this time: ${messageOf(error)}`),
  )
  const ids = deps.ids ?? createIds(() => clock.now())
  const endings = createEndings(log)
  const outbound = createOutbound()
  const fetch = deps.fetch ?? outbound.fetch
  const onRunning = new Set<(report: RunningReport) => void>()
  const onNotice = new Set<(notice: Notice) => void>()
  const bootId = randomUUID()
  const ownPorts = config.origins.flatMap((origin) => (URL.canParse(origin) ? [portOf(new URL(origin))] : []))
  let parts: ReturnType<typeof assemble> | null = null
  let recovery: Recovery | null = null
  let starting: Promise<Address> | null = null

  async function start(): Promise<Address> {
    refuseUnsafeConfig(config)
    refuseWrongFiles(config.dataDir)
    makeDataFolder(config.dataDir)
    try {
      endings.add(() => outbound.close())
      const open = () => (deps.openDatabase ?? openDatabase)({ file: join(config.dataDir, 'deckhand.db'), clock, ids, log })
      const db = await openWhenFree(open, systemClock)
      endings.add(() => db.close())
      parts = assemble(db)
      const rescued = transact(db, (tx) => parts!.jobs.rescue(tx))
      const jobs = rescued.pending.length + rescued.failed.length + rescued.cancelled.length
      if (jobs > 0) recovery = { at: clock.now(), jobs }
      parts.upkeep.start()
      parts.damageWatch.start()
      void parts.programs.lookAgain()
      const address = await parts.http.listen(config.host, config.port)
      log.info({ ...address, bootId, rescued, authMode: config.authMode, safeMode: config.safeMode }, 'the runner is ready')
      ownPorts.push(address.port)
      if (config.safeMode) endings.add(runNewJobs(parts))
      parts.worker.start()
      if (!config.safeMode) parts.clockwork.start()
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
    await endings.run(options)
  }

  /** Puts the parts together. Each can be ended from here on, whether or not it comes to its own start. */
  function assemble(db: Database) {
    const hub = createEventHub({ db, log })
    const tails = createJobTails({ log })
    const time = createMachineTime(clock, deps.machine ?? (deps.clock === undefined ? thisMachine : null))
    const times = createBelievedTimes({ db, clock, time })
    const { money, age, deadlines } = times
    const jobs: JobStore = createJobStore({
      ...{ db, clock, money, ids, bootId, tails },
      hooks: {
        // A schedule learns first how its run ended: that nobody could be told of it is news after that.
        ended: (tx, job) => (schedules.jobEnded(tx, job), telling.jobEnded(tx, job)),
        waiting: (tx, job) => schedules.jobWaits(tx, job),
      },
    })
    const telling = createTelling({
      ...{ clock, ids, log },
      dashboardUrl: () => dashboardUrlOf(config),
      markNotifyUnreachable: (tx, scheduleId) => schedules.markNotifyUnreachable(tx, scheduleId),
    })
    const schedules: ScheduleStore = createScheduleStore({
      ...{ clock, money, age, ids, log, jobs, safeMode: config.safeMode },
      hooks: { exhausted: telling.budgetExhausted },
    })
    const alarm = deps.alarm ?? createSystemAlarm(() => clock.now())
    const clockwork = createClockwork({ db, clock, alarm, schedules, log })
    const approvals = createApprovals({ clock, deadlines, ids, jobs, hooks: { asked: telling.approvalAsked } })
    const rules = createRuleBook(db)
    const settings = createSettingsBook(db)
    const timezone = createMachineTimezone(clock)
    const ledger = createLedger({ db, money, timezone })
    const box = deps.findBox ?? findBox
    const readPath = deps.readPath ?? readProcessPath
    const programs = createAgentPrograms({ db, clock, log, settings: settings.read, dataDir: config.dataDir, readPath })
    const agentTools = createTools({
      clock,
      fetch: (address, request) => guardedFetch(db)(address, request),
      box,
      programs: programs.find,
      programNames: programs.names,
      rules: rules.read,
      settings: settings.read,
      searchKey: () => vault.get(WEB_SEARCH_KEY),
    })
    const tools = () => [...(deps.tools ?? agentTools()), ...(deps.moreTools ?? [])]
    const floor = () => ({ closedFolders: [config.dataDir], ownPorts })
    const models = createModelSource({
      readProvider: (id) => readProviderAccess(db, vault, id),
      readOwnPrice: (ref) => findPrice(db, ref),
      fetch,
      clock,
      demoWordMs: deps.demoWordMs,
    })
    const blobs = createBlobs(join(config.dataDir, 'files'))
    const perform = createAgentWork({
      db,
      jobs,
      tails,
      hub,
      models,
      clock,
      ids,
      log,
      blobs,
      trash: deps.trash,
      random: deps.random ?? Math.random,
      dataDir: config.dataDir,
      ...{ tools, approvals, rules, ledger, timezone },
      ownPorts: () => ownPorts,
    })
    const worker = createWorker({
      store: config.safeMode ? withoutQueue(jobs) : jobs,
      db,
      clock,
      log,
      limit: () => jobLimit(settings.read()),
      // A model is told which programs there are, also by a job that goes on right after the start.
      perform: async (attempt) => {
        await programs.firstLook(attempt.signal)
        await perform(attempt)
      },
    })
    const addresses = createPublicAddresses({
      ...{ db, clock, log, fetch, config },
      openIngress: (port) => openIngress(webhooks, port),
      agentFolders: () => listAgentFolders(db),
      timings: deps.publicAddressTimings,
      onChange: () => reports.plan(),
    })
    const webhooks: Webhooks = createWebhooks({ db, hub, jobs, vault, clock, age, ids, log, time, probe: addresses.isProbe })
    endings.add(() => webhooks.stop())
    const channels = createChannelConnections({
      ...{ db, hub, jobs, approvals, vault, clock, age, ids, log, safeMode: config.safeMode },
      closedFolders: (agentId) => [config.dataDir, ...closedFoldersOf(rules.read(), agentId)],
      drivers: [createTelegramDriver({ fetch, clock, random: deps.random ?? Math.random })],
    })
    const outbox = createOutboxSender({ db, hub, clock, times, log, deliver: channels.deliver })
    const http = createHttpServer({
      handlers: createHandlers({
        ...{ db, jobs, approvals, schedules, tools, worker, tails, hub, models, vault, clock, money, ids, log, channels },
        tick: () => clockwork.tick(),
        simulate: (asked) => simulateCall({ db, jobs, approvals, tools, floor }, asked),
        previewChange: (approvalId) => previewChange({ db, approvals, tools, rules, dataDir: config.dataDir }, approvalId),
        findBox: (options) => {
          if (options?.again === true) void programs.lookAgain()
          return box(options)
        },
        files: createJobFiles({ db, clock, ids, blobs, jobs, closedFolders: [config.dataDir] }),
        findServers: () => findServers({ fetch, clock, ports: deps.discoveryPorts }),
        webhooks: { ...webhooks.byHand, time, settle: webhooks.settle },
        webhookBase: addresses.webhookBase,
        publicAddress: addresses,
        recovery: () => recovery,
        examine: () =>
          examine({
            ...{ db, clock, vault, models, dataDir: config.dataDir, safeMode: config.safeMode },
            findBox: box,
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
      takeDelivery: webhooks.ingress.handle,
      passedGate: addresses.passedGate,
      untilWritable: () => db.commits.untilUnlocked(),
      clock,
      log,
      deadlines: deps.deadlines,
      checkAnswers: deps.checkAnswers,
    })
    endings.add(
      () => addresses.stop(),
      ({ graceMs }) => http.close(Math.min(graceMs, 2000)),
      () => clockwork.stop(),
      (options) => worker.stop(options),
      // What is being sent needs its connection until it is through.
      ({ graceMs }) => outbox.stop({ graceMs: Math.min(graceMs, 2000) }).then(() => channels.stop()),
    )
    const reports: RunningReports = createRunningReports({
      ...{ db, clock, jobs, approvals, reach: addresses.reach },
      isHeard: () => onRunning.size > 0,
      tell: (report) => onRunning.forEach((listener) => listener(report)),
    })
    const told = createNotices({ ...{ db, clock, log, timezone }, publicAddress: addresses.read, tell: tellHost })
    const upkeep = createUpkeep({ db, hub, clock, log, times, approvals })
    const damageWatch = createDamageWatch({ db, hub, clock, log })
    endings.add(
      hub.subscribe(reports.onEvent),
      () => reports.stop(),
      hub.subscribe(told.onEvent),
      told.close,
      watchAttention({ ...{ db, clock, log }, publicAddress: addresses.read }),
      rules.close,
      settings.close,
      programs.close,
      () => upkeep.stop(),
      () => damageWatch.stop(),
      db.condition.onChange((trouble) => hub.publishLive({ type: 'database.changed', payload: { trouble } })),
    )
    const commands = createHostCommands({ db, clock, log, jobs, approvals, worker, tunnels: addresses, tell: tellHost })
    return { hub, jobs, worker, clockwork, addresses, channels, outbox, http, upkeep, damageWatch, programs, reports, commands }
  }

  /** Made for each request: it keeps nothing, and both what is opened and our own port may have changed. */
  function guardedFetch(db: Database): GuardedFetch {
    return createGuardedFetch({ ...deps.internet, opened: readSettings(db).openedHosts, closedPorts: ownPorts })
  }

  /** On loopback: whoever leads here from outside runs on this machine. No tool of an agent may knock there. */
  async function openIngress({ ingress }: Webhooks, port: number) {
    const listener = createIngressListener({ ingress, deadlines: deps.deadlines ?? DEFAULT_DEADLINES })
    const address = await listener.listen('127.0.0.1', port)
    ownPorts.push(address.port)
    return { port: address.port, close: () => listener.close() }
  }

  function tellHost(notice: Notice): void {
    for (const listener of onNotice) listener(notice)
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
    setBrake: (on) => parts?.commands.setBrake(on),
    setTunnel: (wish) => parts?.commands.setTunnel(wish),
    woke() {
      parts?.clockwork.woke()
      parts?.addresses.woke()
    },
    onRunning: (listener) => (onRunning.add(listener), () => void onRunning.delete(listener)),
    onNotice: (listener) => (onNotice.add(listener), () => void onNotice.delete(listener)),
  }
}

/** With the brake on nothing is started. What runs goes on to its next call, which asks. */
function jobLimit({ brake, concurrency }: Pick<Settings, 'brake' | 'concurrency'>): number {
  return brake ? 0 : concurrency
}

/** How this machine itself reaches the port: a server that listens on all addresses is asked on loopback. */
function urlOf({ host, port }: { host: string; port: number }): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** Where the dashboard is opened from other machines; null: nowhere. */
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
    // While the vault was asked, a person may have pointed the provider elsewhere: this key is not for the old address.
    const now = findProvider(db, id)
    if (now?.baseUrl !== baseUrl || now.hasKey !== hasKey) continue
    if (hasKey && apiKey === null) throw new AppError('provider_refused', say('model_key_gone', { provider: name }))
    return { id, kind, name, baseUrl, apiKey }
  }
}

/** Safe mode: what was there before waits, in case it is what brought the runner down. */
function withoutQueue(jobs: JobStore): JobStore {
  return { ...jobs, claimNext: () => null }
}

/** In safe mode, what is asked for now runs. */
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
    // Pages reach the runner through the dashboard, which sends no Origin.
    origins: new Set(),
  }
}

/** Before anything is changed: a file where a folder has to be is somebody else's, or a mistake. */
function refuseWrongFiles(dataDir: string): void {
  for (const folder of [dataDir, ...['files', 'logs', 'tunnel'].map((name) => join(dataDir, name))]) {
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) continue
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new DatabaseRefused('data_dir_unusable', `The data folder cannot be used: ${folder} is not a folder.`)
    }
  }
}

/** What people tell their agents is for their eyes: a folder that was open to others is closed. */
function makeDataFolder(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (process.platform !== 'win32') chmodSync(dataDir, 0o700)
}
