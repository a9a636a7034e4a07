import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase, type Database } from './base/db/database.ts'
import { transact } from './base/db/transact.ts'
import { createEventHub, type EventHub } from './base/events/event-hub.ts'
import { pruneEvents } from './base/events/event-log.ts'
import { createJobTails } from './base/events/job-tails.ts'
import { createOutbound, type OutboundFetch } from './base/net/outbound.ts'
import type { StoredEvent } from './contract/events.ts'
import type { GateConfig } from './contract/gate.ts'
import type { FromRunner, RunnerConfig } from './contract/port.ts'
import { refuseUnsafeConfig } from './edges/host/environment.ts'
import { createHandlers } from './edges/http/handlers.ts'
import { createHttpServer, type Deadlines, type HttpServer } from './edges/http/server.ts'
import { systemClock, type Clock } from './kit/clock.ts'
import { createIds, type Ids } from './kit/ids.ts'
import { silentLog, type Log } from './kit/log.ts'
import { providerKey, type Vault } from './kit/vault.ts'
import { createJobStore, type JobStore } from './records/jobs/job-store.ts'
import { createWorker, type Worker } from './records/jobs/worker.ts'
import { findPrice } from './records/prices/prices.ts'
import { findProvider } from './records/providers/providers.ts'
import { readSettings } from './records/settings/settings.ts'
import { findServers, type DiscoveryDeps } from './thinking/models/discovery.ts'
import { createModelSource, type Models } from './thinking/models/model-source.ts'
import { createAgentWork } from './work/agent-work.ts'

export type RunnerDeps = {
  config: RunnerConfig
  vault: Vault
  clock?: Clock
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
  /** Tests: an answer that is not what the route table promises becomes a 500. */
  checkAnswers?: boolean
}

export type Address = { host: string; port: number; bootId: string }

/** What the tray shows, and what is told to a person whose window is closed. */
export type RunningReport = Omit<Extract<FromRunner, { type: 'running' }>, 'type'>
export type Notice = Omit<Extract<FromRunner, { type: 'notice' }>, 'type'>

export type Runner = {
  /** Resolves when the port takes requests and no job belongs to an earlier process. Rejects with why it cannot be. */
  start(): Promise<Address>
  /** Takes no more requests, gives jobs `graceMs` to reach a safe point, and closes the database. */
  stop(options: { graceMs: number }): Promise<void>
  cancelJob(jobId: string): void
  onRunning(listener: (report: RunningReport) => void): () => void
  onNotice(listener: (notice: Notice) => void): () => void
}

const EVENTS_KEPT = { rows: 200_000, forMs: 30 * 24 * 3_600_000, checkEveryMs: 3_600_000 }
const REPORT_AFTER_MS = 50

/** The whole runner: the one place where records, thinking, work and edges meet. Nothing happens before `start`. */
export function createRunner(deps: RunnerDeps): Runner {
  const { config, vault, clock = systemClock, log = silentLog } = deps
  const ids = deps.ids ?? createIds(() => clock.now())
  const outbound = createOutbound()
  const fetch = deps.fetch ?? outbound.fetch
  const reports = new Set<(report: RunningReport) => void>()
  const notices = new Set<(notice: Notice) => void>()
  const bootId = randomUUID()
  let parts: Parts | null = null

  async function start(): Promise<Address> {
    refuseUnsafeConfig(config)
    makeDataFolder(config.dataDir)
    const db = (deps.openDatabase ?? openDatabase)({ file: join(config.dataDir, 'deckhand.db'), clock, ids, log })
    try {
      parts = assemble(db)
      const rescued = transact(db, (tx) => parts!.jobs.rescue(tx))
      const address = await parts.http.listen(config.host, config.port)
      log.info({ ...address, bootId, rescued, authMode: config.authMode, safeMode: config.safeMode }, 'the runner is ready')
      if (config.safeMode) runNewJobs(parts)
      parts.worker.start()
      return { ...address, bootId }
    } catch (error) {
      db.close()
      throw error
    }
  }

  function assemble(db: Database): Parts {
    const hub = createEventHub({ db, log })
    const tails = createJobTails({ log })
    const jobs = createJobStore({ db, clock, ids, bootId, tails })
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
      tails,
      hub,
      models,
      clock,
      log,
      random: deps.random ?? Math.random,
      dataDir: config.dataDir,
    })
    const worker = createWorker({
      store: config.safeMode ? withoutQueue(jobs) : jobs,
      db,
      clock,
      log,
      limit: () => readSettings(db).concurrency,
      perform,
    })
    const http = createHttpServer({
      handlers: createHandlers({
        ...{ db, jobs, worker, tails, hub, models, vault, clock, ids, log },
        findServers: () => findServers({ fetch, clock, ports: deps.discoveryPorts }),
        dataDir: config.dataDir,
      }),
      auth: config,
      gate: gateOf(config),
      clock,
      log,
      deadlines: deps.deadlines,
      checkAnswers: deps.checkAnswers,
    })
    const stops = [hub.subscribe(createReporter(db, jobs)), clock.every(EVENTS_KEPT.checkEveryMs, () => forgetOldEvents(db))]
    return { db, hub, jobs, models, worker, http, stops }
  }

  /** Tells who listens what runs, a moment after it changed and once for many changes. */
  function createReporter(db: Database, jobs: JobStore): (event: StoredEvent) => void {
    let planned: NodeJS.Timeout | null = null
    const report = () => {
      planned = null
      if (parts === null) return
      const { pending } = jobs.countJobs(db)
      for (const listener of reports) listener({ jobs: jobs.listRunningJobs(db), pending })
    }
    return (event) => {
      if (event.type === 'job.finished' && event.payload.status === 'failed') {
        const { jobId, title, error } = event.payload
        const body = jobs.findJob(db, jobId)?.errorMessage ?? error ?? ''
        for (const listener of notices) listener({ kind: 'job_failed', title, body, path: `/jobs/${jobId}` })
      }
      if (event.type.startsWith('job.') && reports.size > 0) planned ??= setTimeout(report, REPORT_AFTER_MS).unref()
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
    start,
    async stop({ graceMs }) {
      const running = parts
      parts = null
      if (running === null) return
      for (const stop of running.stops) stop()
      await Promise.all([running.http.close(Math.min(graceMs, 2000)), running.worker.stop({ graceMs })])
      running.db.close()
      outbound.close()
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
    onRunning: (listener) => (reports.add(listener), () => void reports.delete(listener)),
    onNotice: (listener) => (notices.add(listener), () => void notices.delete(listener)),
  }
}

type Parts = { db: Database; hub: EventHub; jobs: JobStore; models: Models; worker: Worker; http: HttpServer; stops: (() => void)[] }

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
function runNewJobs({ hub, worker, stops }: Parts): void {
  const asked = new Set<string>()
  stops.push(
    hub.subscribe((event) => {
      if (event.type === 'job.created') asked.add(event.payload.jobId)
      else if (event.type === 'job.finished') asked.delete(event.payload.jobId)
      else return
      for (const jobId of asked) worker.run(jobId)
    }),
  )
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
