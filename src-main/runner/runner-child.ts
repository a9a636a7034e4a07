import { randomUUID } from 'node:crypto'
import type { Message } from '../../src-runner/contract/messages.ts'
import { type Access, FromRunner, type RunnerConfig, type ToRunner } from '../../src-runner/contract/port.ts'
import type { Log } from '../log/log.ts'
import { urlOf } from '../net/address.ts'
import type { Vault } from '../vault/vault.ts'
import { createHangWatch } from './restart-policy.ts'
import type { RunnerExit, RunnerProcess, SpawnRunner } from './runner-process.ts'
import { extraStartMs } from './start-limit.ts'
import { handleTrashRequest, type MoveToTrash } from './trash-requests.ts'
import { handleUserRequest, type ResolveUser } from './user-requests.ts'
import { handleVaultRequest } from './vault-requests.ts'

/** Where the runner listens, and the secret that its routes require. */
export type RunnerEndpoint = { url: string; host: string; port: number; secret: string }

export type Running = Omit<Extract<FromRunner, { type: 'running' }>, 'type'>
export type Notification = Extract<FromRunner, { type: 'notification' }>
type Refusal = Extract<FromRunner, { type: 'failed' }>

export type ChildTimings = {
  pingEveryMs: number
  hangAfterMs: number
  /** From spawn to ready, besides what a large database needs to be copied and migrated. */
  startLimitMs: number
  /** From the runner's "failed" message to its exit. */
  refusalLimitMs: number
}

/** Added to the grace period of a stop, for the last line of the log. */
const KILL_MARGIN_MS = 1_000
const GONE: Message = { code: 'runner_not_running', params: {} }
const KEPT_LINES = 30
const MAX_LINE_CHARS = 2_000

export type ChildDeps = {
  spawn: SpawnRunner
  vault: Vault
  /** null: nothing here can move files to the trash. */
  trash?: MoveToTrash | null
  /** null: there are no accounts. */
  resolveUser?: ResolveUser | null
  log: Log
  /** Receives every line that the runner prints. */
  output?: ((line: string) => void) | undefined
  timings: ChildTimings
  monotonic: () => number
}

/** How a child ended. `refusal` is why it could not start; `reason` describes a crash. */
export type ChildEnd = { wasStopped: boolean; refusal: Refusal | null; reason: Message; lastLines: string[] }

export type ChildEvents = {
  ready(endpoint: RunnerEndpoint): void
  running(running: Running): void
  notification(notification: Notification): void
  /** Called once, and nothing is called after it. */
  ended(end: ChildEnd): void
}

export type RunnerChild = {
  /** null: not ready yet, stopping, or gone. */
  endpoint(): RunnerEndpoint | null
  send(message: ToRunner): void
  /** Resolves with null when the runner judges requests by `access`, or with why it does not listen on the new host or ends. */
  changeAccess(access: Access): Promise<Message | null>
  /** Resolves when the process is gone: by itself within `graceMs`, or killed after it. */
  stop(graceMs: number): Promise<void>
}

/** Starts one runner process and watches it until its exit: start limit, hangs, and its requests to the vault and the trash. */
export function startRunnerChild(deps: ChildDeps, config: RunnerConfig, events: ChildEvents): RunnerChild {
  const { log, timings, monotonic } = deps
  const child = deps.spawn()
  const gone = Promise.withResolvers<void>()
  const timers = new Set<NodeJS.Timeout>()
  let endpoint: RunnerEndpoint | null = null
  let wasReady = false
  let stopping = false
  let refusal: Refusal | null = null
  let killedBecause: Message | null = null
  const ready = Promise.withResolvers<void>()
  let accessSet: PromiseWithResolvers<Message | null> | null = null
  let lastChange: Promise<unknown> = ready.promise

  const startLimitMs = timings.startLimitMs + extraStartMs(config)
  timers.add(setTimeout(() => kill({ code: 'runner_slow_start', params: { seconds: String(startLimitMs / 1000) } }), startLimitMs))
  const lastLines = keepLastLines(child, deps.output)
  child.onMessage(receive)
  child.onExit((exit) => {
    clearTimers()
    log.info({ ...exit, pid: child.pid }, 'runner ended')
    events.ended({ wasStopped: stopping, refusal, lastLines: lastLines(), reason: refusal?.message ?? killedBecause ?? exitMessage(exit) })
    gone.resolve()
    ready.resolve()
    accessSet?.resolve(GONE)
  })

  function receive(message: unknown): void {
    const parsed = FromRunner.safeParse(message)
    if (!parsed.success) {
      // The paths only: the message itself may contain a key.
      log.warn({ issues: parsed.error.issues.map((issue) => issue.path.join('.')) }, 'dropped a malformed message of the runner')
      return
    }
    const received = parsed.data
    switch (received.type) {
      case 'hello':
        return child.send({ type: 'start', config })
      case 'ready':
        return becomeReady(received)
      case 'failed':
        refusal = received
        // Another program may listen where the runner did.
        endpoint = null
        accessSet?.resolve(received.message)
        log.error({ code: received.code, why: received.message }, `the runner ${wasReady ? 'ends' : 'cannot start'}`)
        timers.add(setTimeout(() => child.kill(), timings.refusalLimitMs))
        return
      case 'vault.ask':
      case 'trash.ask':
      case 'user.ask':
        void answerRequest(received, deps, config.dataDir).then(child.send)
        return
      case 'running': {
        const { type: _, ...running } = received
        return events.running(running)
      }
      case 'notification':
        return events.notification(received)
      case 'access_set':
        return accessSet?.resolve(received.problem)
      case 'pong':
      case 'heartbeat':
      case 'stopped':
    }
  }

  function becomeReady({ host, port, bootId }: Extract<FromRunner, { type: 'ready' }>): void {
    if (wasReady || stopping) return
    wasReady = true
    clearTimers()
    const url = urlOf(host, port)
    endpoint = { url, host: new URL(url).hostname.replace(/^\[|\]$/g, ''), port, secret: config.workerSecret }
    log.info({ pid: child.pid, bootId, port }, 'the runner reports ready')
    timers.add(watchForHang(child, timings, monotonic, kill))
    ready.resolve()
    events.ready(endpoint)
  }

  async function setAccess(access: Access): Promise<Message | null> {
    if (endpoint === null || !child.isAlive()) return GONE
    const { url, host, port } = endpoint
    // Until the runner knows the new secret, nobody sends it one.
    endpoint = null
    accessSet = Promise.withResolvers()
    child.send({ type: 'set_access', access })
    const problem = await accessSet.promise
    accessSet = null
    if (!stopping && refusal === null) endpoint = { url, host, port, secret: access.workerSecret }
    return problem
  }

  /** The exit that follows counts as a crash. */
  function kill(reason: Message): void {
    killedBecause = reason
    log.error({ pid: child.pid, reason }, 'killing the runner')
    clearTimers()
    child.kill()
  }

  function clearTimers(): void {
    for (const timer of timers) clearTimeout(timer)
    timers.clear()
  }

  log.info({ pid: child.pid, port: config.port, safeMode: config.safeMode }, 'runner started')
  return {
    endpoint: () => (child.isAlive() ? endpoint : null),
    send: (message) => child.send(message),
    changeAccess(access) {
      const change = lastChange.then(() => setAccess(access))
      lastChange = change
      return change
    },
    async stop(graceMs) {
      stopping = true
      endpoint = null
      clearTimers()
      child.send({ type: 'stop', graceMs })
      timers.add(
        setTimeout(() => {
          log.warn({ pid: child.pid }, 'the runner did not stop in time; killing it')
          child.kill()
        }, graceMs + KILL_MARGIN_MS),
      )
      await gone.promise
    },
  }
}

/** Returns the last lines that the process printed. */
function keepLastLines(child: RunnerProcess, output: ChildDeps['output']): () => string[] {
  let lines: string[] = []
  child.onOutput((line) => {
    lines = [...lines, line.slice(0, MAX_LINE_CHARS)].slice(-KEPT_LINES)
    output?.(line)
  })
  return () => lines
}

/** Pings the runner, and calls `hung` with the reason when it was silent for too long. */
function watchForHang(
  child: RunnerProcess,
  { pingEveryMs, hangAfterMs }: ChildTimings,
  monotonic: () => number,
  hung: (reason: Message) => void,
): NodeJS.Timeout {
  const watch = createHangWatch({ limitMs: hangAfterMs, tickMs: pingEveryMs, now: monotonic() })
  child.onMessage(() => watch.heard(monotonic()))
  return setInterval(() => {
    if (watch.tick(monotonic())) return hung({ code: 'runner_silent', params: { seconds: String(Math.round(hangAfterMs / 1000)) } })
    child.send({ type: 'ping', nonce: randomUUID() })
  }, pingEveryMs)
}

type Ask = Extract<FromRunner, { type: 'vault.ask' | 'trash.ask' | 'user.ask' }>

function answerRequest(asked: Ask, { vault, trash, resolveUser, log }: ChildDeps, dataDir: string): Promise<ToRunner> {
  switch (asked.type) {
    case 'vault.ask':
      return handleVaultRequest(vault, asked, log)
    case 'trash.ask':
      return handleTrashRequest(trash ?? null, asked, dataDir, log)
    case 'user.ask':
      return handleUserRequest(resolveUser ?? null, asked, log)
  }
}

function exitMessage({ code, signal }: RunnerExit): Message {
  if (signal !== null) return { code: 'runner_killed', params: { signal } }
  return code === null ? { code: 'runner_not_started', params: {} } : { code: 'runner_exited', params: { exitCode: String(code) } }
}
