import type { Tool } from '../agent/tools/tool.ts'
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { transact, type Database, type NoPromise, type Tx } from '../platform/db/database.ts'
import type { openDatabase } from '../platform/db/open-database.ts'
import { createLiveJobStreams } from '../platform/events/live-job-streams.ts'
import { DEFAULT_DEADLINES } from '../platform/net/node-http.ts'
import { createLog } from '../platform/log/create-log.ts'
import { createScrubber, type Scrubber } from '../platform/log/scrubber.ts'
import type { Agent, CreateAgent } from '../contract/agents.ts'
import type { Job } from '../contract/jobs.ts'
import type { Notification, RunnerConfig, RunningReport } from '../contract/port.ts'
import type { Provider } from '../contract/providers.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { createIds, type Ids } from '../lib/ids.ts'
import { createMemoryVault, type Vault } from '../lib/vault.ts'
import type { NewJob } from '../domain/jobs/enqueue-job.ts'
import { createJobStore } from '../domain/jobs/job-store.ts'
import type { RunnerDeps } from '../composition/core.ts'
import { createRunner, type Runner } from '../runner.ts'
import { startModelServer, type ModelServer, type ModelServerOptions } from './model-servers/model-server.ts'
import { openTestDatabase } from './open-test-database.ts'
import { createHandAlarm } from './hand-alarm.ts'
import { createRunnerClient, type RunnerClient } from './runner-client.ts'

export const TEST_SECRET = 'worker-secret-of-the-test-runner-0123456789'

export type TestRunnerOptions = {
  config?: Partial<RunnerConfig>
  clock?: Clock
  machine?: RunnerDeps['machine']
  ids?: Ids
  fetch?: RunnerDeps['fetch']
  trash?: RunnerDeps['trash']
  resolveUser?: RunnerDeps['resolveUser']
  vault?: Vault
  deadlines?: RunnerDeps['deadlines']
  publicAddressTimings?: RunnerDeps['publicAddressTimings']
  /** Replaces all tools. */
  tools?: RunnerDeps['tools']
  /** Added to the tools. */
  moreTools?: RunnerDeps['moreTools']
  internet?: RunnerDeps['internet']
  findSandbox?: RunnerDeps['findSandbox']
  home?: RunnerDeps['home']
  mcpRegistryUrl?: RunnerDeps['mcpRegistryUrl']
  /** Default: there are no programs of the person. */
  listProgramFolders?: RunnerDeps['listProgramFolders']
  /** The services that people sign in to. Default: the catalogue. */
  findConnector?: RunnerDeps['findConnector']
  modelServer?: ModelServerOptions
  /** The model server is where servers of this machine are searched for. */
  findsModelServer?: boolean
}

/**
 * The whole runner in this process: a real database in a temporary folder, a real port, a model server that speaks
 * the real protocols. No part of the product is replaced; `modelServer` plays what is outside the machine.
 */
export type TestRunner = {
  readonly client: RunnerClient
  readonly url: string
  readonly port: number
  readonly dataDir: string
  readonly runner: Runner
  vault: Vault
  modelServer: ModelServer
  /** Log lines as they would be written, scrubbed. */
  logLines: string[]
  scrubber: Scrubber
  notifications: Notification[]
  reports: RunningReport[]
  /** Adds the model server as a provider. */
  addProvider(options?: { name?: string; apiKey?: string; kind?: Provider['kind'] }): Promise<Provider>
  /** Adds an agent with a model of the model server. */
  addAgent(fields?: Partial<CreateAgent>): Promise<Agent>
  /** Creates a folder with these files. */
  makeFolder(files?: Record<string, string>): string
  /** Writes what a test cannot cause, such as what a chat service would have sent. */
  write<T>(work: (tx: Tx) => NoPromise<T>): T
  /** Creates a job of any channel, also of those that a test cannot play. */
  enqueue(job: NewJob): Promise<string>
  /** Resolves when the job has ended or waits for somebody. */
  ended(jobId: string): Promise<Job>
  /** Stops and starts on the same data. `crash`: on a copy of the data at this moment, as a killed process leaves it. */
  restart(options?: { crash?: boolean; config?: Partial<RunnerConfig> }): Promise<void>
  /** From now on the disk has no room for another page of the database. Returns how to make room again. */
  fillDisk(): () => void
  /** From now on no page of this table can be read. */
  damage(table: string): void
  /** From now on the database can only be read. Returns how to undo that. */
  forbidWriting(): () => void
  /** Closes the database file. */
  breakDatabase(): void
  stop(): Promise<void>
}

/** Refuses connections, so that no test reaches the real service. */
const NO_MESSENGER = { url: 'ws://127.0.0.1:9/ws/chat', rootKey: '' }

/** What the old runner still does until it has stopped, a killed process would not do. */
function diesWith(life: { isKilled: boolean }, tool: Tool): Tool {
  return {
    ...tool,
    run(...given) {
      if (life.isKilled) throw new Error('the process was killed')
      return tool.run(...given)
    },
  }
}

export async function createTestRunner(options: TestRunnerOptions = {}): Promise<TestRunner> {
  const home = mkdtempSync(join(tmpdir(), 'deckhand-test-'))
  const vault = options.vault ?? createMemoryVault()
  const modelServer = await startModelServer(options.modelServer)
  const logLines: string[] = []
  const scrubber = createScrubber()
  scrubber.add(TEST_SECRET)
  const log = createLog('debug', (line) => logLines.push(scrubber.scrub(line)))
  const notifications: Notification[] = []
  const reports: RunningReport[] = []
  let folders = 0
  let config: RunnerConfig = {
    dataDir: join(home, 'data'),
    host: '127.0.0.1',
    port: 0,
    authMode: 'local-trust',
    workerSecret: TEST_SECRET,
    logLevel: 'debug',
    origins: [],
    hosts: [],
    safeMode: false,
    ingressPort: null,
    publicRunnerUrl: null,
    testMessenger: NO_MESSENGER,
    ...options.config,
  }
  let provider: Provider | null = null
  let db!: Database
  let life = { isKilled: false }
  let running = await launch()

  async function launch(): Promise<{ runner: Runner; url: string; port: number; client: RunnerClient }> {
    const {
      clock,
      machine,
      ids,
      fetch,
      deadlines,
      tools,
      moreTools,
      internet,
      findSandbox,
      home: account,
      mcpRegistryUrl,
      trash,
      resolveUser,
      publicAddressTimings,
    } = options
    const found = options.findsModelServer === true ? modelServer.port : 9
    const discoveryPorts = { ollama: found, lmStudio: found, llamaCpp: found }
    const open: typeof openDatabase = (given) => (db = openTestDatabase(given))
    const own = (life = { isKilled: false })
    const runner = createRunner({
      openDatabase: open,
      ids,
      config,
      vault,
      log,
      clock,
      machine,
      alarm: clock === undefined ? undefined : createHandAlarm(clock),
      fetch,
      // Client and server are one process. After days of a hand clock, which can take a minute here, the server would close a
      // connection that the client, whose timers stood still, is about to use.
      deadlines: { ...(deadlines ?? DEFAULT_DEADLINES), idleMs: 0 },
      publicAddressTimings,
      tools,
      moreTools: moreTools?.map((tool) => diesWith(own, tool)),
      internet,
      findSandbox,
      home: account,
      mcpRegistryUrl,
      listProgramFolders: options.listProgramFolders ?? (async () => []),
      trash,
      resolveUser,
      findConnector: options.findConnector,
      discoveryPorts,
      random: () => 0.5,
      demoWordMs: 0,
      checkResponses: true,
    })
    runner.onNotification((notification) => notifications.push(notification))
    runner.onRunning((report) => reports.push(report))
    const { port } = await runner.start()
    const url = `http://127.0.0.1:${port}`
    return { runner, port, url, client: createRunnerClient(url, config.authMode === 'local-trust' ? undefined : config.workerSecret) }
  }

  const test: TestRunner = {
    get client() {
      return running.client
    },
    get url() {
      return running.url
    },
    get port() {
      return running.port
    },
    get runner() {
      return running.runner
    },
    get dataDir() {
      return config.dataDir
    },
    vault,
    modelServer,
    logLines,
    scrubber,
    notifications,
    reports,

    async addProvider({ name = 'Test server', apiKey, kind = 'openai-compatible' } = {}) {
      const baseUrl = `${modelServer.url}/v1`
      const body = { kind: kind as 'openai-compatible', name, baseUrl, apiKey }
      return (await test.client.ok('createProvider', { body })).provider
    },

    async addAgent(fields = {}) {
      provider ??= await test.addProvider()
      return (
        await test.client.ok('createAgent', { body: { name: 'Tester', model: { providerId: provider.id, model: 'small' }, ...fields } })
      ).agent
    },

    makeFolder(files = {}) {
      const folder = join(home, `folder-${++folders}`)
      mkdirSync(folder)
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true })
        writeFileSync(join(folder, name), text)
      }
      return folder
    },

    write: (work) => transact(db, work),

    async enqueue(job) {
      const ids = createIds(() => Date.now())
      const store = createJobStore({ db, clock: systemClock, ids, bootId: 'a neighbour', liveStreams: createLiveJobStreams() })
      const { id } = transact(db, (tx) => store.enqueue(tx, job))
      const answer = await createRunnerClient(running.url, TEST_SECRET).ask('runWorker', { body: { jobId: id } })
      if (answer.status !== 202) throw new Error(`the worker answered ${answer.status}`)
      return id
    },

    async ended(jobId) {
      const { events } = await test.client.stream('streamJob', { params: { jobId } })
      for await (const _event of events);
      return (await test.client.ok('getJob', { params: { jobId } })).job
    },

    async restart({ crash = false, config: changes } = {}) {
      const old = running
      config = { ...config, ...changes }
      if (crash) {
        // Between two turns of the event loop no transaction is open, so these files are what a kill leaves on the disk.
        const copy = join(home, `data-${Math.random().toString(36).slice(2)}`)
        cpSync(config.dataDir, copy, { recursive: true, filter: (file) => !/\.lock|-shm$/.test(file) })
        config = { ...config, dataDir: copy }
        life.isKilled = true
      }
      await old.runner.stop({ graceMs: crash ? 0 : 1000 })
      running = await launch()
    },

    fillDisk() {
      const { connection } = db
      const before = connection.pragma('max_page_count', { simple: true }) as number
      connection.pragma(`max_page_count = ${connection.pragma('page_count', { simple: true }) as number}`)
      return () => void connection.pragma(`max_page_count = ${before}`)
    },

    damage(table) {
      const { connection } = db
      const root = db.prepare<{ rootpage: number }>('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)!.rootpage
      connection.pragma('wal_checkpoint(TRUNCATE)')
      const handle = openSync(db.file, 'r+')
      writeSync(handle, Buffer.alloc(4096), 0, 4096, (root - 1) * 4096)
      closeSync(handle)
      // Cached pages would still be read.
      connection.pragma('shrink_memory')
    },

    forbidWriting() {
      db.connection.pragma('query_only = ON')
      return () => void db.connection.pragma('query_only = OFF')
    },

    breakDatabase: () => void db.connection.close(),

    async stop() {
      await running.runner.stop({ graceMs: 0 })
      await modelServer.close()
      // A program that was ended may still be writing.
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return test
}
