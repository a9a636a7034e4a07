import { join } from 'node:path'
import type { Language } from '../resources/locales/texts.ts'
import { transact, type Database } from './platform/db/database.ts'
import { openWhenFree } from './platform/db/open-when-free.ts'
import type { Access, Notification, RunningReport } from './contract/port.ts'
import { refuseUnsafeConfig } from './adapters/host/environment.ts'
import type { HostCommands } from './adapters/host/host-commands.ts'
import { systemClock } from './lib/clock.ts'
import { messageOf } from './lib/errors.ts'
import { createAdapters } from './composition/adapters.ts'
import { createAgents } from './composition/agents.ts'
import { createConnections } from './composition/connections.ts'
import { createCore, portsOf, type RunnerDeps } from './composition/core.ts'
import { prepareDataFolder } from './composition/data-folder.ts'
import { createStorage } from './composition/storage.ts'

export type Address = { host: string; port: number; bootId: string }

/** Before `start` and after `stop`, commands of the host do nothing. */
export type Runner = HostCommands & {
  /** Resolves when the port accepts requests and no job belongs to an earlier process. After a rejection nothing runs. */
  start(): Promise<Address>
  /** Waits for a start in progress, refuses requests, gives jobs `graceMs` to reach a safe point, closes the database. */
  stop(options: { graceMs: number }): Promise<void>
  /**
   * Resolves when every new request is judged by `access`. Rejects if it is unsafe or its host cannot be listened on; with
   * ListenerLost if the runner must end, because it listens nowhere any more.
   */
  changeAccess(access: Access): Promise<void>
  /** The dashboard's, for links in messages to chats. */
  changeOrigins(origins: string[]): void
  /** The language of agents' messages to chats. */
  changeLanguage(language: Language): void
  /** The machine was asleep until now. */
  woke(): void
  onRunning(listener: (report: RunningReport) => void): () => void
  onNotification(listener: (notification: Notification) => void): () => void
}

/** The whole runner: storage, agents and adapters meet here. Nothing happens before `start`. */
export function createRunner(deps: RunnerDeps): Runner {
  const core = createCore(deps)
  const { config, clock, ids, log, bootId, disposables } = core
  let parts: ReturnType<typeof createParts> | null = null
  let starting: Promise<Address> | null = null

  async function start(): Promise<Address> {
    refuseUnsafeConfig(config)
    prepareDataFolder(config.dataDir)
    await core.changeLanguage(config.language ?? 'en')
    try {
      const open = () =>
        core.openDatabase({ file: join(config.dataDir, 'deckhand.db'), clock, ids, log, replaceWith: config.replaceDatabase })
      const db = await openWhenFree(open, systemClock)
      disposables.add(() => db.close())
      parts = createParts(db)
      return await startParts(parts)
    } catch (error) {
      await end({ graceMs: 0 })
      throw error
    }
  }

  /** From here on, everything can be stopped, whether or not it was started. */
  function createParts(db: Database) {
    const storage = createStorage(core, db)
    const connections = createConnections(core, storage)
    const agents = createAgents(core, storage, connections)
    return { ...storage, ...connections, ...agents, ...createAdapters(core, storage, connections, agents) }
  }

  async function startParts({ db, jobs, worker, ...adapters }: ReturnType<typeof createParts>): Promise<Address> {
    const rescued = transact(db, (tx) => {
      adapters.approvals.withdrawQuestionsOfServers(tx)
      return jobs.rescue(tx)
    })
    const count = rescued.pending.length + rescued.failed.length + rescued.cancelled.length
    if (count > 0) core.recovery = { at: clock.now(), jobs: count }
    adapters.maintenance.start()
    adapters.authorizations.start()
    adapters.damageWatch.start()
    adapters.dailyBackup.start()
    adapters.retention.start()
    if (!config.safeMode) adapters.skills.start()
    void adapters.programs.scan()
    void adapters.mcp.sweep()
    if (!config.safeMode)
      adapters.codeKeeper
        .recover()
        .catch((error: unknown) => log.warn({ err: error }, `what coding programs left could not be read: ${messageOf(error)}`))
    adapters.http.useTls(config.tls ?? null)
    const address = await adapters.http.listen(config.host, config.port)
    log.info({ ...address, bootId, rescued, authMode: config.authMode, safeMode: config.safeMode }, 'the runner is ready')
    core.ownPorts.push(address.port)
    worker.start()
    if (!config.safeMode) adapters.scheduler.start()
    adapters.channels.start()
    adapters.pairings?.start()
    if (!config.safeMode) adapters.outbox.start()
    await adapters.addresses.start(urlOf(address))
    adapters.reports.plan()
    return { ...address, bootId }
  }

  async function changeAccess(next: Access): Promise<void> {
    refuseUnsafeConfig({ ...config, ...next })
    await starting
    const { host, ...rules } = next
    const { access } = core
    core.ownPorts.push(...portsOf(next.origins))
    // Guarded before it is opened, closed before it is trusted.
    Object.assign(access, rules, next.authMode === 'local-trust' ? { authMode: access.authMode } : {})
    parts?.http.useTls(access.tls ?? null)
    if (host !== access.host) await parts?.http.changeHost(host)
    Object.assign(access, next)
    parts?.http.endStreams()
    log.info({ host, authMode: access.authMode }, 'the access was changed')
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
    setTunnel: (change) => parts?.commands.setTunnel(change),
    changeAccess,
    changeOrigins: (origins) => void (core.access.origins = origins),
    changeLanguage: (language) => void core.changeLanguage(language),
    woke() {
      parts?.scheduler.woke()
      parts?.addresses.woke()
      parts?.channels.woke()
    },
    onRunning: core.reports.add,
    onNotification: core.notifications.add,
  }
}

/** The address for this machine itself: loopback, if the server listens on all addresses. */
function urlOf({ host, port }: { host: string; port: number }): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
