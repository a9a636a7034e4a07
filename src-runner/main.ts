import { createRunnerLog, silenceConsole, type RunnerLog } from './base/log/create-log.ts'
import { createScrubber, type Scrubber } from './base/log/scrubber.ts'
import { DatabaseRefused } from './base/db/database-errors.ts'
import { readLoginPath } from './base/programs/login-path.ts'
import type { FromRunner, RunnerConfig, ToRunner } from './contract/port.ts'
import { ConfigRefused, readRunnerEnvironment } from './edges/host/environment.ts'
import { findHostChannel, type HostChannel } from './edges/host/host-channel.ts'
import { createHostTrash } from './edges/host/host-trash.ts'
import { createHostVault } from './edges/host/host-vault.ts'
import { findSystemTrash } from './edges/host/system-trash.ts'
import { shiftClock, systemClock } from './kit/clock.ts'
import { messageOf } from './kit/errors.ts'
import { keepRequestsYoung } from './kit/heap.ts'
import { createMemoryVault, type Vault } from './kit/vault.ts'
import { createRunner, type Runner, type RunnerDeps } from './runner.ts'
import type { Trash } from './thinking/folder-access/trash.ts'

type Failure = Omit<Extract<FromRunner, { type: 'failed' }>, 'type'>

const HEARTBEAT_MS = 5000
/** A runner without its host is gone within five seconds; this much of them goes to the jobs. */
const ORPHAN_GRACE_MS = 2000
const ORPHAN_LIMIT_MS = 4500
const SIGNAL_GRACE_MS = 5000
const MAX_CAUSE_CHARS = 500

keepRequestsYoung()

// Whatever this process writes is its owner's alone: the database, its logs, the files beside them.
process.umask(0o077)

const channel = findHostChannel()
if (channel !== null) runUnderHost(channel)
else await runAlone()

/** The desktop or headless started us: it says how to run, keeps the secrets, and is told what happens. */
function runUnderHost(host: HostChannel): void {
  const vault = createHostVault({ send: (message) => void host.send(message), clock: systemClock })
  const trash = createHostTrash({ send: (message) => void host.send(message), clock: systemClock })
  let life: Life | null = null
  let ending: Promise<void> | null = null

  function end(graceMs: number, exitCode: number): Promise<void> {
    return (ending ??= (async () => {
      await life?.stop(graceMs)
      await host.send({ type: 'stopped' })
      process.exit(exitCode)
    })())
  }

  async function begin(config: RunnerConfig): Promise<void> {
    try {
      life = createLife({
        ...{ config, vault, trash: config.hostTrash === true ? trash : findTrash(), readPath: readLoginPath, toStderr: false },
        // The host shows this as the cause of the crash.
        onFatal: (message) => host.send({ type: 'failed', code: 'internal', message }),
      })
      const { runner } = life
      runner.onRunning((report) => void host.send({ type: 'running', ...report }))
      runner.onNotice((notice) => void host.send({ type: 'notice', ...notice }))
      const address = await runner.start()
      await host.send({ type: 'ready', ...address })
      systemClock.every(HEARTBEAT_MS, () => void host.send({ type: 'heartbeat', at: systemClock.now() }))
    } catch (error) {
      const failure = describeFailure(error, config)
      life?.log.error({ error }, failure.message)
      await host.send({ type: 'failed', ...failure })
      await life?.log.close()
      process.exit(exitCodeOf(failure))
    }
  }

  function receive(message: ToRunner): void {
    switch (message.type) {
      case 'start':
        if (life === null) void begin(message.config)
        return
      case 'stop':
        return void end(message.graceMs, 0)
      case 'ping':
        return void host.send({ type: 'pong', nonce: message.nonce })
      case 'vault.answer':
        return vault.answer(message)
      case 'trash.answer':
        return trash.answer(message)
      case 'cancel_job':
        return life?.runner.cancelJob(message.jobId)
      case 'answer_approval':
        return life?.runner.answerApproval(message)
      case 'set_brake':
        return life?.runner.setBrake(message.on)
      case 'set_tunnel':
        return life?.runner.setTunnel(message)
      case 'woke':
        return life?.runner.woke()
    }
  }

  host.listen({
    message: receive,
    bad(paths) {
      if (life !== null) return life.log.warn({ paths }, 'a message of the host does not fit and was dropped')
      // Before the start there is nothing to go on with: the host has to learn that its start was not understood.
      void host.send({ type: 'failed', code: 'config_invalid', message: `The start message does not fit: ${paths.join(', ')}.` })
    },
    closed() {
      setTimeout(() => process.exit(1), ORPHAN_LIMIT_MS)
      void end(ORPHAN_GRACE_MS, 0)
    },
  })
  // Ctrl-C in a terminal reaches this process too; the host knows of it and says when to stop.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => void end(SIGNAL_GRACE_MS, 0))
  void host.send({ type: 'hello' })
}

/** For development, tests and benchmarks: told by the environment, with a vault that lives as long as the process. */
async function runAlone(): Promise<void> {
  let config: RunnerConfig
  try {
    config = readRunnerEnvironment(process.env)
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`)
    process.exit(2)
  }
  let life: Life | null = null
  const end = async () => {
    await life?.stop(SIGNAL_GRACE_MS)
    process.exit(0)
  }
  process.once('SIGTERM', () => void end())
  process.once('SIGINT', () => void end())
  try {
    life = createLife({ config, vault: createMemoryVault(), trash: findTrash(), toStderr: true })
    const { host, port } = await life.runner.start()
    process.stdout.write(`${JSON.stringify({ ready: true, runnerUrl: `http://${host.includes(':') ? `[${host}]` : host}:${port}` })}\n`)
  } catch (error) {
    const failure = describeFailure(error, config)
    process.stderr.write(`${failure.message}\n`)
    await life?.log.close()
    process.exit(exitCodeOf(failure))
  }
}

function findTrash(): Trash | undefined {
  return findSystemTrash(process.env, systemClock)
}

/** `readPath`: left out where a terminal is known to have started us. */
type LifeDeps = Pick<RunnerDeps, 'readPath'> & {
  config: RunnerConfig
  vault: Vault
  trash: Trash | undefined
  toStderr: boolean
  /** Hears why the process ends on an error that nobody caught. */
  onFatal?(message: string): Promise<void>
}
type Life = { runner: Runner; log: RunnerLog; stop(graceMs: number): Promise<void> }

/** One configured runner with its log, from which every secret it ever sees is kept out. */
function createLife({ config, vault, trash, readPath, toStderr, onFatal }: LifeDeps): Life {
  const scrubber = createScrubber()
  scrubber.add(config.workerSecret)
  const log = createRunnerLog({ dataDir: config.dataDir, level: config.logLevel, scrubber, toStderr })
  silenceConsole(log)
  process.on('uncaughtException', (error) => {
    log.error({ error }, 'the runner ends on an error that nobody caught')
    const message = scrubber.scrub(`The runner ended on an error: ${messageOf(error)}`).slice(0, MAX_CAUSE_CHARS)
    void Promise.allSettled([onFatal?.(message), log.close()]).then(() => process.exit(1))
  })
  const ahead = config.clockAheadMs ?? 0
  const clock = ahead === 0 ? undefined : shiftClock(systemClock, ahead)
  const runner = createRunner({ config, clock, vault: watched(vault, scrubber), log, trash, readPath })
  return {
    runner,
    log,
    async stop(graceMs) {
      await runner.stop({ graceMs })
      await log.close()
    },
  }
}

/** Whatever passes through the vault is a secret. */
function watched(vault: Vault, scrubber: Scrubber): Vault {
  return {
    async get(key) {
      const value = await vault.get(key)
      if (value !== null) scrubber.add(value)
      return value
    },
    set(key, value) {
      scrubber.add(value)
      return vault.set(key, value)
    },
    delete: (key) => vault.delete(key),
  }
}

function describeFailure(error: unknown, { host, port, dataDir }: RunnerConfig): Failure {
  if (error instanceof ConfigRefused) return { code: 'config_invalid', message: error.message }
  if (error instanceof DatabaseRefused) return { code: error.code, message: error.message }
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return { code: 'port_taken', message: `Port ${port} on ${host} is taken by another program.` }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { code: 'config_invalid', message: `RUNNER_HOST ${host} is not an address of this machine.` }
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ENOSPC':
      return (error as NodeJS.ErrnoException).syscall === 'listen'
        ? { code: 'config_invalid', message: `Port ${port} may not be used by this account.` }
        : { code: 'data_dir_unusable', message: `The data folder ${dataDir} cannot be used: ${messageOf(error)}` }
    default:
      return { code: 'internal', message: messageOf(error) }
  }
}

function exitCodeOf({ code }: Failure): number {
  if (code === 'config_invalid') return 2
  return code === 'port_taken' ? 3 : 1
}
