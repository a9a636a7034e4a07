import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findBox } from './base/box/find-box.ts'
import { openDatabase, type Database } from './base/db/database.ts'
import { transact } from './base/db/transact.ts'
import { createEventHub, type EventHub } from './base/events/event-hub.ts'
import { pruneEvents } from './base/events/event-log.ts'
import { createJobTails } from './base/events/job-tails.ts'
import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from './base/net/guarded-fetch.ts'
import { createOutbound, type OutboundFetch } from './base/net/outbound.ts'
import { createMachineTime, thisMachine } from './base/time/machine-time.ts'
import type { StoredEvent } from './contract/events.ts'
import type { GateConfig } from './contract/gate.ts'
import type { FromRunner, RunnerConfig, ToRunner } from './contract/port.ts'
import { createSystemAlarm, type Alarm } from './edges/clockwork/alarm.ts'
import { createClockwork, type Clockwork } from './edges/clockwork/clockwork.ts'
import { createChannelConnections, type ChannelConnections } from './edges/channels/connections.ts'
import { createTelegramDriver } from './edges/channels/telegram/telegram.ts'
import { refuseUnsafeConfig } from './edges/host/environment.ts'
import { SHOWN_WAITING, waitingApprovalOf } from './edges/host/waiting-approvals.ts'
import { createHandlers } from './edges/http/handlers.ts'
import { createHttpServer, DEFAULT_DEADLINES, type Deadlines, type HttpServer } from './edges/http/server.ts'
import { createIngressListener } from './edges/ingress/ingress-listener.ts'
import { watchAttention } from './edges/notices/attention-watch.ts'
import type { Notice } from './edges/notices/notice-for.ts'
import { createNotices } from './edges/notices/notices.ts'
import { createOutboxSender, type OutboxSender } from './edges/outbox/outbox-sender.ts'
import { createWebhooks, type Webhooks } from './edges/ingress/webhooks.ts'
import { createPublicAddresses, type PublicAddresses, type PublicAddressTimings } from './edges/public-address/public-address.ts'
import { systemClock, type Clock } from './kit/clock.ts'
import { createEndings } from './kit/endings.ts'
import { AppError, messageOf } from './kit/errors.ts'
import { createIds, type Ids } from './kit/ids.ts'
import { silentLog, type Log } from './kit/log.ts'
import { createMachineTimezone } from './kit/timezone.ts'
import { providerKey, WEB_SEARCH_KEY, type Vault } from './kit/vault.ts'
import { createApprovals, type ApprovalStore } from './records/approvals/approvals.ts'
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
import { changeSettings, readSettings } from './records/settings/settings.ts'
import type { Trash } from './thinking/folder-access/trash.ts'
import { findServers, type DiscoveryDeps } from './thinking/models/discovery.ts'
import { createModelSource, type Models } from './thinking/models/model-source.ts'
import type { Tool } from './thinking/tools/tool.ts'
import { createAgentWork } from './work/agent-work.ts'
import { examine } from './work/doctor.ts'
import { createJobFiles } from './work/job-files.ts'
import { previewChange } from './work/preview-change.ts'
import { simulateCall } from './work/simulate.ts'
import { createTools } from './work/tools.ts'

export type RunnerDeps = {
  config: RunnerConfig
  vault: Vault
  clock?: Clock
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
  publicAddressTimings?: Partial<PublicAddressTimings>
  /** In place of all tools that agents have. */
  tools?: readonly Tool[]
  /** Beside them: tools of a test. */
  moreTools?: readonly Tool[]
  /** How tools reach the web; tests have an internet of their own. */
  internet?: Pick<GuardedFetchOptions, 'resolve' | 'dial' | 'ownAddresses'>
  /** Which box holds the programs of agents; ours finds that of this machine. */
  findBox?: typeof findBox
  /** Where files go that agents delete. Left out: they are gone, apart from what is kept with the job. */
  trash?: Trash
  /** Tests: an answer that is not what the route table promises becomes a 500. */
  checkAnswers?: boolean
}

export type Address = { host: string; port: number; bootId: string }

/** What the tray shows, and what is told to a person whose window is closed. */
export type RunningReport = Omit<Extract<FromRunner, { type: 'running' }>, 'type'>
export type TunnelWish = Omit<Extract<ToRunner, { type: 'set_tunnel' }>, 'type'>
export type AnswerFromHost = Omit<Extract<ToRunner, { type: 'answer_approval' }>, 'type'>

export type Runner = {
  /** Resolves when the port takes requests and no job belongs to an earlier process. Rejects with why it cannot be, and then nothing runs. */
  start(): Promise<Address>
  /** Takes no more requests, gives jobs `graceMs` to reach a safe point, and closes the database. A start under way is waited for. */
  stop(options: { graceMs: number }): Promise<void>
  cancelJob(jobId: string): void
  /** A person's answer that did not come over HTTP. What it cannot do any more, a notice says. */
  answerApproval(given: AnswerFromHost): void
  /** The emergency brake, pulled or released by a person. */
  setBrake(on: boolean): void
  /** A tunnel, started or stopped by a person in the tray. What cannot be done, a notice says. */
  setTunnel(wish: TunnelWish): void
  /** The machine was asleep until now. */
  woke(): void
  onRunning(listener: (report: RunningReport) => void): () => void
  onNotice(listener: (notice: Notice) => void): () => void
}

const EVENTS_KEPT = { rows: 200_000, forMs: 30 * 24 * 3_600_000, checkEveryMs: 3_600_000 }
const REPORT_AFTER_MS = 50
const EXPIRE_EVERY_MS = 30_000

/** The whole runner: the one place where records, thinking, work and edges meet. Nothing happens before `start`. */
export function createRunner(deps: RunnerDeps): Runner {
  const { config, vault, clock = systemClock, log = silentLog } = deps
  const ids = deps.ids ?? createIds(() => clock.now())
  const endings = createEndings(log)
  const outbound = createOutbound()
  const fetch = deps.fetch ?? outbound.fetch
  const reports = new Set<(report: RunningReport) => void>()
  const notices = new Set<(notice: Notice) => void>()
  const bootId = randomUUID()
  const ownPorts = config.origins.flatMap((origin) => (URL.canParse(origin) ? [portOf(new URL(origin))] : []))
  let parts: Parts | null = null
  let starting: Promise<Address> | null = null

  async function start(): Promise<Address> {
    refuseUnsafeConfig(config)
    makeDataFolder(config.dataDir)
    try {
      endings.add(() => outbound.close())
      const db = (deps.openDatabase ?? openDatabase)({ file: join(config.dataDir, 'deckhand.db'), clock, ids, log })
      endings.add(() => db.close())
      parts = assemble(db)
      const rescued = transact(db, (tx) => parts!.jobs.rescue(tx))
      const address = await parts.http.listen(config.host, config.port)
      log.info({ ...address, bootId, rescued, authMode: config.authMode, safeMode: config.safeMode }, 'the runner is ready')
      ownPorts.push(address.port)
      expireApprovals(parts)
      if (config.safeMode) endings.add(runNewJobs(parts))
      parts.worker.start()
      if (!config.safeMode) parts.clockwork.start()
      parts.channels.start()
      if (!config.safeMode) parts.outbox.start()
      await parts.addresses.start(urlOf(address))
      parts.report()
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
  function assemble(db: Database): Parts {
    const hub = createEventHub({ db, log })
    const tails = createJobTails({ log })
    const jobs: JobStore = createJobStore({
      ...{ db, clock, ids, bootId, tails },
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
      ...{ clock, ids, log, jobs, safeMode: config.safeMode },
      hooks: { exhausted: telling.budgetExhausted },
    })
    const alarm = deps.alarm ?? createSystemAlarm(() => clock.now())
    const clockwork = createClockwork({ db, clock, alarm, schedules, log })
    const approvals = createApprovals({ clock, ids, jobs, hooks: { asked: telling.approvalAsked } })
    const rules = createRuleBook(db)
    const timezone = createMachineTimezone(clock)
    const ledger = createLedger({ db, clock, timezone })
    const box = deps.findBox ?? findBox
    const agentTools = createTools({
      clock,
      fetch: (address, request) => guardedFetch(db)(address, request),
      box,
      rules: rules.read,
      settings: () => readSettings(db),
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
      limit: () => jobLimit(db),
      perform,
    })
    const time = createMachineTime(clock, deps.clock === undefined ? thisMachine : null)
    const addresses = createPublicAddresses({
      ...{ db, clock, log, fetch, config },
      openIngress: (port) => openIngress(webhooks, port),
      timings: deps.publicAddressTimings,
      onChange: () => made.report(),
    })
    const webhooks: Webhooks = createWebhooks({ db, hub, jobs, vault, clock, ids, log, time, probe: addresses.isProbe })
    endings.add(() => webhooks.stop())
    const channels = createChannelConnections({
      ...{ db, hub, jobs, approvals, vault, clock, ids, log, safeMode: config.safeMode },
      closedFolders: (agentId) => [config.dataDir, ...closedFoldersOf(rules.read(), agentId)],
      drivers: [createTelegramDriver({ fetch, clock, random: deps.random ?? Math.random })],
    })
    const outbox = createOutboxSender({ db, hub, clock, log, deliver: channels.deliver })
    const http = createHttpServer({
      handlers: createHandlers({
        ...{ db, jobs, approvals, schedules, tools, worker, tails, hub, models, vault, clock, ids, log, channels },
        tick: () => clockwork.tick(),
        simulate: (asked) => simulateCall({ db, jobs, approvals, tools, floor }, asked),
        previewChange: (approvalId) => previewChange({ db, approvals, tools, rules, dataDir: config.dataDir }, approvalId),
        findBox: box,
        files: createJobFiles({ db, clock, ids, blobs, jobs, closedFolders: [config.dataDir] }),
        findServers: () => findServers({ fetch, clock, ports: deps.discoveryPorts }),
        webhooks: { ...webhooks.byHand, time, settle: webhooks.settle },
        webhookBase: addresses.webhookBase,
        publicAddress: addresses,
        examine: () =>
          examine({
            ...{ db, clock, vault, models, dataDir: config.dataDir, safeMode: config.safeMode },
            findBox: box,
            hasTrash: deps.trash !== undefined,
            nextDueAt: () => schedules.nextAt(db),
            publicAddress: addresses.read,
          }),
        dataDir: config.dataDir,
      }),
      auth: config,
      gate: gateOf(config),
      takeDelivery: webhooks.ingress.handle,
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
      ({ graceMs }) => outbox.stop({ graceMs: Math.min(graceMs, 2000) }).finally(() => channels.stop()),
    )
    const made: Parts = {
      db,
      hub,
      jobs,
      approvals,
      models,
      worker,
      clockwork,
      webhooks,
      addresses,
      channels,
      outbox,
      http,
      report() {},
    }
    const reporter = createReporter(made)
    made.report = reporter.plan
    const told = createNotices({ ...{ db, clock, log, timezone }, publicAddress: addresses.read, tell: tellHost })
    endings.add(
      hub.subscribe(reporter.onEvent),
      hub.subscribe(told.onEvent),
      told.close,
      watchAttention({ ...{ db, clock, log }, publicAddress: addresses.read }),
      rules.close,
      hub.subscribe(reconsiderBudgetsAfter(made)),
      clock.every(EVENTS_KEPT.checkEveryMs, () => forgetOldEvents(db)),
      clock.every(EXPIRE_EVERY_MS, () => expireApprovals(made)),
    )
    return made
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
    for (const listener of notices) listener(notice)
  }

  /** Tells who listens what runs, a moment after it changed and once for many changes. */
  function createReporter({ db, jobs, approvals, addresses }: Parts): { onEvent(event: StoredEvent): void; plan(): void } {
    let planned: NodeJS.Timeout | null = null
    const report = () => {
      planned = null
      if (parts === null) return
      const { pending } = jobs.countJobs(db)
      const waiting = approvals.list(db, { status: 'pending', limit: SHOWN_WAITING })
      const report: RunningReport = {
        jobs: jobs.listRunningJobs(db),
        pending,
        approvals: waiting.pending,
        waiting: waiting.approvals.map(waitingApprovalOf),
        brake: readSettings(db).brake,
        webhooks: addresses.reach(),
      }
      for (const listener of reports) listener(report)
    }
    const plan = () => {
      if (reports.size > 0) planned ??= setTimeout(report, REPORT_AFTER_MS).unref()
    }
    const onEvent = (event: StoredEvent) => {
      if (/^(job|approval|settings)\./.test(event.type)) plan()
    }
    return { onEvent, plan }
  }

  /** A cap that a person raised lets those go on who wait for more money. */
  function reconsiderBudgetsAfter({ db, approvals }: Parts): (event: StoredEvent) => void {
    return (event) => {
      const isAboutCaps =
        event.type === 'agent.changed' || (event.type === 'settings.changed' && event.payload.keys.includes('dayBudgetUsd'))
      if (isAboutCaps) transact(db, (tx) => approvals.reconsiderBudgets(tx))
    }
  }

  function expireApprovals({ db, approvals }: Parts): void {
    try {
      transact(db, (tx) => approvals.expireDue(tx))
    } catch (error) {
      log.warn({ error }, 'approvals that are due could not be closed this time')
    }
  }

  function forgetOldEvents(db: Database): void {
    try {
      transact(db, (tx) => pruneEvents(tx, { keepRows: EVENTS_KEPT.rows, olderThan: clock.now() - EVENTS_KEPT.forMs }))
    } catch (error) {
      log.warn({ error }, 'old events could not be removed')
    }
  }

  return {
    start: () => (starting = start()),
    async stop(options) {
      await starting?.catch(() => {})
      if (parts === null) return
      await end(options)
      log.info({ bootId }, 'the runner has stopped')
    },
    cancelJob(jobId) {
      if (parts === null) return
      const { db, jobs } = parts
      try {
        transact(db, (tx) => jobs.cancel(tx, jobId))
      } catch (error) {
        // Ended a moment ago, most likely: the tray was a moment behind.
        log.info({ error, jobId }, 'a job could not be cancelled')
      }
    },
    answerApproval({ approvalId, decision, answer }) {
      if (parts === null) return
      const { db, approvals } = parts
      try {
        transact(db, (tx) => approvals.answer(tx, { approvalId, decision, remember: 'once', answer: answer ?? undefined }))
      } catch (error) {
        log.info({ error, approvalId }, 'an answer from outside the page could not be taken')
        const body = error instanceof AppError ? error.message : 'It could not be written down. Open Deckhand and try again.'
        tellHost({ kind: 'approval_waiting', title: 'Your answer was not taken', body, path: `/approvals?id=${approvalId}` })
      }
    },
    setBrake(on) {
      if (parts === null) return
      const { db, worker } = parts
      try {
        transact(db, (tx) => changeSettings(tx, { clock }, { brake: on }))
        worker.nudge()
      } catch (error) {
        log.error({ error, on }, 'the emergency brake could not be set')
      }
    },
    setTunnel({ program, on }) {
      const running = parts
      if (running === null) return
      const { addresses } = running
      const done = on ? addresses.startTunnel(program) : addresses.stopTunnel()
      done.catch((error: unknown) => {
        log.info({ error, program, on }, 'a wish of the tray for a tunnel could not be carried out')
        const title = on ? 'The tunnel was not started' : 'The tunnel was not stopped'
        tellHost({ kind: 'public_address_unreachable', title, body: messageOf(error), path: '/settings' })
      })
    },
    woke() {
      parts?.clockwork.woke()
      parts?.addresses.woke()
    },
    onRunning: (listener) => (reports.add(listener), () => void reports.delete(listener)),
    onNotice: (listener) => (notices.add(listener), () => void notices.delete(listener)),
  }
}

type Parts = {
  db: Database
  hub: EventHub
  jobs: JobStore
  approvals: ApprovalStore
  models: Models
  worker: Worker
  clockwork: Clockwork
  webhooks: Webhooks
  addresses: PublicAddresses
  channels: ChannelConnections
  outbox: OutboxSender
  http: HttpServer
  /** Tells what runs and waits, a moment from now. */
  report(): void
}

/** With the brake on nothing is started. What runs goes on to its next call, which asks. */
function jobLimit(db: Database): number {
  const { brake, concurrency } = readSettings(db)
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
  const provider = findProvider(db, id)
  if (provider === null) return null
  const { kind, name, baseUrl, hasKey } = provider
  return { id, kind, name, baseUrl, apiKey: hasKey ? await vault.get(providerKey(id)) : null }
}

/** Safe mode: what was there before waits, in case it is what brought the runner down. */
function withoutQueue(jobs: JobStore): JobStore {
  return { ...jobs, claimNext: () => null }
}

/** In safe mode, what is asked for now runs. */
function runNewJobs({ hub, worker }: Parts): () => void {
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
    origins: new Set(config.origins),
  }
}

/** What people tell their agents is for their eyes: a folder that was open to others is closed. */
function makeDataFolder(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (process.platform !== 'win32') chmodSync(dataDir, 0o700)
}
