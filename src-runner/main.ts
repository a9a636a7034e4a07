import { createRunnerLog, silenceConsole } from './platform/log/create-log.ts'
import { createScrubbingVault } from './platform/log/scrubbing-vault.ts'
import { createScrubber } from './platform/log/scrubber.ts'
import { DatabaseRefused } from './platform/db/database-errors.ts'
import type { Message } from './contract/messages.ts'
import type { Access, FromRunner, RunnerConfig, ToRunner } from './contract/port.ts'
import { ConfigRefused, readRunnerEnvironment } from './adapters/host/environment.ts'
import { ListenerLost } from './adapters/http/server.ts'
import { findHostChannel, type HostChannel } from './adapters/host/host-channel.ts'
import { createHostTrash, findSystemTrash } from './adapters/host/host-trash.ts'
import { createHostUsers } from './adapters/host/host-users.ts'
import { createHostVault } from './adapters/host/host-vault.ts'
import { shiftClock, systemClock } from './lib/clock.ts'
import { messageOf, problemOf } from './lib/errors.ts'
import { createMessage, englishText, quote } from './lib/messages.ts'
import { keepRequestsYoung } from './lib/heap.ts'
import { createMemoryVault } from './lib/vault.ts'
import type { RunnerDeps } from './composition/core.ts'
import { createRunner } from './runner.ts'

type Failure = Omit<Extract<FromRunner, { type: 'failed' }>, 'type'>

const HEARTBEAT_MS = 5000
/** Without its host, the runner ends within five seconds. */
const ORPHAN_GRACE_MS = 2000
const ORPHAN_LIMIT_MS = 4500
const SIGNAL_GRACE_MS = 5000
const MAX_CAUSE_CHARS = 500

keepRequestsYoung()

// Only the owner may read what this process writes.
process.umask(0o077)

const systemTrash = findSystemTrash(process.env, systemClock)
const channel = findHostChannel()
if (channel !== null) runUnderHost(channel)
else await runAlone()

/** The desktop or headless host sends the configuration, keeps the secrets, and hears what happens. */
function runUnderHost(host: HostChannel): void {
  const vault = createHostVault({ send: (message) => void host.send(message), clock: systemClock })
  const trash = createHostTrash({ send: (message) => void host.send(message), clock: systemClock })
  const users = createHostUsers({ send: (message) => void host.send(message), clock: systemClock })
  let started: LoggedRunner | null = null
  let stopping: Promise<void> | null = null

  function end(graceMs: number): void {
    stopping ??= (async () => {
      await started?.stop(graceMs)
      await host.send({ type: 'stopped' })
      process.exit(0)
    })()
  }

  function fail(error: unknown, config: RunnerConfig): void {
    stopping ??= (async () => {
      const failure = describeFailure(error, config)
      started?.log.error({ error }, englishText(failure.message))
      await host.send({ type: 'failed', ...failure })
      await started?.stop(0)
      process.exit(exitCodeOf(failure))
    })()
  }

  async function begin(config: RunnerConfig): Promise<void> {
    try {
      started = createLoggedRunner({
        config,
        vault,
        trash: config.hostTrash === true ? trash : systemTrash,
        toStderr: false,
        resolveUser: users.resolve,
        onFatal: (message) => host.send({ type: 'failed', code: 'internal', message }),
      })
      const { runner } = started
      runner.onRunning((report) => void host.send({ type: 'running', ...report }))
      runner.onNotification((notification) => void host.send({ type: 'notification', ...notification }))
      const address = await runner.start()
      await host.send({ type: 'ready', ...address })
      systemClock.every(HEARTBEAT_MS, () => void host.send({ type: 'heartbeat', at: systemClock.now() }))
    } catch (error) {
      fail(error, config)
    }
  }

  async function changeAccess({ runner, config, log, hide }: LoggedRunner, access: Access): Promise<void> {
    hide(access.workerSecret)
    if (access.tls) hide(access.tls.key)
    try {
      await runner.changeAccess(access)
      await host.send({ type: 'access_set', problem: null })
    } catch (error) {
      if (error instanceof ListenerLost) return fail(error, config)
      const problem = problemOf(error)
      log.error({ problem }, 'the access could not be changed')
      await host.send({ type: 'access_set', problem })
    }
  }

  function receive(message: ToRunner): void {
    switch (message.type) {
      case 'start':
        if (started === null) void begin(message.config)
        return
      case 'stop':
        return end(message.graceMs)
      case 'ping':
        return void host.send({ type: 'pong', nonce: message.nonce })
      case 'set_access':
        if (started !== null) void changeAccess(started, message.access)
        return
      case 'set_origins':
        return started?.runner.changeOrigins(message.origins)
      case 'vault.answer':
        return vault.answer(message)
      case 'user.answer':
        return users.answer(message)
      case 'trash.answer':
        return trash.answer(message)
      case 'cancel_job':
        return started?.runner.cancelJob(message.jobId)
      case 'answer_approval':
        return started?.runner.answerApproval(message)
      case 'set_pause_all':
        return started?.runner.setPauseAll(message.on)
      case 'set_tunnel':
        return started?.runner.setTunnel(message)
      case 'set_language':
        return started?.runner.changeLanguage(message.language)
      case 'woke':
        return started?.runner.woke()
    }
  }

  host.listen({
    message: receive,
    bad(paths) {
      if (started !== null) return started.log.warn({ paths }, 'dropped an invalid message from the host')
      // Before the start, the host must learn that its start message was not understood.
      void host.send({ type: 'failed', code: 'config_invalid', message: quote(`The start message does not fit: ${paths.join(', ')}.`) })
    },
    closed() {
      setTimeout(() => process.exit(1), ORPHAN_LIMIT_MS)
      end(ORPHAN_GRACE_MS)
    },
  })
  // Ctrl-C in a terminal also reaches this process, but the host says when to stop.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => end(SIGNAL_GRACE_MS))
  void host.send({ type: 'hello' })
}

/** For development, tests and benchmarks: configured by the environment, with a vault in memory. */
async function runAlone(): Promise<void> {
  let config: RunnerConfig
  try {
    config = readRunnerEnvironment(process.env)
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`)
    process.exit(2)
  }
  let started: LoggedRunner | null = null
  const end = async () => {
    await started?.stop(SIGNAL_GRACE_MS)
    process.exit(0)
  }
  process.once('SIGTERM', () => void end())
  process.once('SIGINT', () => void end())
  try {
    started = createLoggedRunner({ config, vault: createMemoryVault(), trash: systemTrash, toStderr: true })
    const { host, port } = await started.runner.start()
    process.stdout.write(`${JSON.stringify({ ready: true, runnerUrl: `http://${host.includes(':') ? `[${host}]` : host}:${port}` })}\n`)
  } catch (error) {
    const failure = describeFailure(error, config)
    process.stderr.write(`${englishText(failure.message)}\n`)
    await started?.log.close()
    process.exit(exitCodeOf(failure))
  }
}

type LoggedRunnerDeps = Pick<RunnerDeps, 'config' | 'vault' | 'trash' | 'resolveUser'> & {
  toStderr: boolean
  /** Called with the reason before an uncaught error ends the process. */
  onFatal?(message: Message): Promise<void>
}
type LoggedRunner = ReturnType<typeof createLoggedRunner>

/** A runner and its log, which is scrubbed of every secret that the runner has seen. */
function createLoggedRunner({ config, vault, trash, resolveUser, toStderr, onFatal }: LoggedRunnerDeps) {
  const scrubber = createScrubber()
  scrubber.add(config.workerSecret)
  if (config.tls) scrubber.add(config.tls.key)
  const log = createRunnerLog({ dataDir: config.dataDir, level: config.logLevel, scrubber, toStderr })
  silenceConsole(log)
  process.on('uncaughtException', (error) => {
    log.error({ error }, 'uncaught error: the runner ends')
    const detail = scrubber.scrub(messageOf(error)).slice(0, MAX_CAUSE_CHARS)
    void Promise.allSettled([onFatal?.(createMessage('runner_error', { detail })), log.close()]).then(() => process.exit(1))
  })
  const ahead = config.clockAheadMs ?? 0
  const clock = ahead === 0 ? undefined : shiftClock(systemClock, ahead)
  const runner = createRunner({ config, clock, vault: createScrubbingVault(vault, scrubber), log, trash, resolveUser })
  return {
    runner,
    config,
    log,
    /** Scrubs a secret from the log. */
    hide: (secret: string) => scrubber.add(secret),
    async stop(graceMs: number): Promise<void> {
      await runner.stop({ graceMs })
      await log.close()
    },
  }
}

function describeFailure(error: unknown, config: Pick<RunnerConfig, 'host' | 'port' | 'dataDir'>): Failure {
  const { host, port, dataDir } = config
  if (error instanceof ListenerLost) return describeFailure(error.cause, { dataDir, ...error.address })
  if (error instanceof ConfigRefused) return { code: 'config_invalid', message: quote(error.message) }
  if (error instanceof DatabaseRefused) return { code: error.code, message: error.why }
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return { code: 'port_taken', message: createMessage('start_port_taken', { port: String(port), host }) }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { code: 'config_invalid', message: createMessage('start_host_unknown', { host }) }
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return (error as NodeJS.ErrnoException).syscall === 'listen'
        ? { code: 'config_invalid', message: createMessage('start_port_forbidden', { port: String(port) }) }
        : { code: 'read_only', message: createMessage('start_read_only', { folder: dataDir }) }
    case 'ENOSPC':
    case 'EDQUOT':
      return { code: 'disk_full', message: createMessage('start_disk_full', { folder: dataDir }) }
    case 'ENOENT':
    case 'ENOTDIR':
      return { code: 'data_dir_unusable', message: createMessage('start_data_folder', { folder: dataDir, detail: messageOf(error) }) }
    default:
      return { code: 'internal', message: quote(messageOf(error)) }
  }
}

function exitCodeOf({ code }: Failure): number {
  if (code === 'config_invalid') return 2
  return code === 'port_taken' ? 3 : 1
}
