import { randomUUID } from 'node:crypto'
import { FromRunner, type RunnerConfig, type ToRunner } from '../../src-runner/contract/port.ts'
import type { TunnelProgram } from '../../src-runner/contract/public-address.ts'
import type { RunnerState } from '../contract/desktop-api.ts'
import { messageOf, type Log } from '../log/log.ts'
import { suggestPort, urlOf } from '../net/address.ts'
import { VaultError, type Vault } from '../vault/vault.ts'
import { createHangWatch } from './hang-watch.ts'
import { decideRestart } from './restart-policy.ts'
import type { RunnerExit, RunnerProcess, SpawnRunner } from './runner-process.ts'
import { answerTrash, type MoveToTrash } from './trash-answers.ts'
import { answerVault } from './vault-answers.ts'

/** Where our own runner listens, and what opens it. There is one only while our own child is alive and has said so. */
export type RunnerEndpoint = { url: string; host: string; port: number; secret: string }

export type Running = Omit<Extract<FromRunner, { type: 'running' }>, 'type'>
export type Notice = Extract<FromRunner, { type: 'notice' }>
export type ApprovalAnswer = Omit<Extract<ToRunner, { type: 'answer_approval' }>, 'type'>

export type Supervisor = {
  state(): RunnerState
  endpoint(): RunnerEndpoint | null
  /** The same, after waiting for a runner that is starting; null when it does not come, or not within `limitMs`. */
  endpointSoon(limitMs: number): Promise<RunnerEndpoint | null>
  running(): Running
  /** Resolves when the runner is ready or has said why not; the state tells which. */
  start(options?: { safeMode?: boolean }): Promise<RunnerState>
  /** Stops what runs, forgets earlier crashes, and starts again with the settings of now. */
  restart(options?: { safeMode?: boolean }): Promise<RunnerState>
  /** Resolves when the process is gone: by itself within `graceMs`, else ended. */
  stop(graceMs?: number): Promise<void>
  cancelJob(jobId: string): void
  /** What the person answered in the tray. A late answer does nothing but a notice. */
  answerApproval(answer: ApprovalAnswer): void
  /** The emergency brake, pulled or released by the person in the tray. */
  setBrake(on: boolean): void
  setTunnel(program: TunnelProgram, on: boolean): void
  /** The machine was asleep until now. */
  tellWoke(): void
  isSafeMode(): boolean
  onState(listener: (state: RunnerState) => void): () => void
  onRunning(listener: (running: Running) => void): () => void
  onNotice(listener: (notice: Notice) => void): () => void
}

export type SupervisorTimings = {
  pingEveryMs: number
  hangAfterMs: number
  /** From spawning to ready. Generous: a large database is copied and migrated in this time. */
  startLimitMs: number
  /** Between "I cannot start" and being gone. */
  refusalLimitMs: number
  stopGraceMs: number
}

const TIMINGS: SupervisorTimings = {
  pingEveryMs: 5_000,
  hangAfterMs: 30_000,
  startLimitMs: 120_000,
  refusalLimitMs: 2_000,
  stopGraceMs: 8_000,
}
/** What a stopping runner gets beyond the grace it was told, to write its last line. */
const KILL_MARGIN_MS = 1_000
const KEPT_LINES = 30
const MAX_LINE_CHARS = 2_000
const IDLE: Running = {
  jobs: [],
  pending: 0,
  approvals: 0,
  waiting: [],
  brake: false,
  webhooks: { url: null, check: 'unknown', tunnel: null },
}

export type SupervisorDeps = {
  spawn: SpawnRunner
  /** Asked before every start, so that a changed port or secret counts. May reject with a VaultError. */
  configure: (safeMode: boolean) => Promise<RunnerConfig>
  vault: Vault
  /** null: nothing here can move files to the trash. */
  trash?: MoveToTrash | null
  log: Log
  /** Every line the runner prints. */
  output?: (line: string) => void
  timings?: Partial<SupervisorTimings>
  monotonic?: () => number
}

/** One child, from spawn to exit. A message of an earlier one finds that its life is no longer the present one. */
type Life = {
  child: RunnerProcess
  config: RunnerConfig
  ready: boolean
  stopping: boolean
  /** Why it will go by itself, or why we end it. */
  reason: string | null
  refusal: Extract<FromRunner, { type: 'failed' }> | null
  /** The last lines it printed: where a crash says its cause. */
  lastLines: string[]
  timers: Set<NodeJS.Timeout>
  gone: Promise<void>
}

/**
 * Starts the runner, keeps it running, and is the only one that hands out its address and secret. A crash is answered
 * by a restart until the limit of `decideRestart`; what a restart cannot heal (a taken port, a damaged database) is
 * shown instead. The secret goes over the port to our own child and nowhere else.
 */
export function createSupervisor(deps: SupervisorDeps): Supervisor {
  const { log, vault } = deps
  const timings = { ...TIMINGS, ...deps.timings }
  const monotonic = deps.monotonic ?? (() => performance.now())
  const stateListeners = new Set<(state: RunnerState) => void>()
  const runningListeners = new Set<(running: Running) => void>()
  const noticeListeners = new Set<(notice: Notice) => void>()

  let state: RunnerState = { state: 'stopped' }
  let endpoint: RunnerEndpoint | null = null
  let running = IDLE
  let life: Life | null = null
  let wanted = false
  let safeMode = false
  let crashes: number[] = []
  let restartTimer: NodeJS.Timeout | null = null

  function become(next: RunnerState): void {
    state = next
    log.info({ runner: next }, `runner ${next.state}`)
    for (const listener of stateListeners) listener(next)
  }

  function setRunning(next: Running): void {
    running = next
    for (const listener of runningListeners) listener(next)
  }

  async function launch(): Promise<void> {
    let config: RunnerConfig
    try {
      config = await deps.configure(safeMode)
    } catch (error) {
      log.error({ error: messageOf(error) }, 'the runner cannot be configured')
      if (wanted)
        become({ state: 'failed', code: error instanceof VaultError ? 'vault_unavailable' : 'internal', message: messageOf(error) })
      wanted = false
      return
    }
    if (!wanted || life !== null) return
    const child = deps.spawn()
    const gone = Promise.withResolvers<void>()
    const own: Life = {
      child,
      config,
      ready: false,
      stopping: false,
      reason: null,
      refusal: null,
      lastLines: [],
      timers: new Set(),
      gone: gone.promise,
    }
    life = own
    log.info({ pid: child.pid, port: config.port, safeMode }, 'runner started')
    own.timers.add(setTimeout(() => end(own, `was not ready after ${timings.startLimitMs / 1000} s`), timings.startLimitMs))
    child.onOutput((line) => {
      own.lastLines = [...own.lastLines, line.slice(0, MAX_LINE_CHARS)].slice(-KEPT_LINES)
      deps.output?.(line)
    })
    child.onMessage((message) => receive(own, message))
    child.onExit((exit) => {
      clearTimers(own)
      if (life === own) void ended(own, exit)
      gone.resolve()
    })
  }

  function receive(own: Life, message: unknown): void {
    if (life !== own) return
    const parsed = FromRunner.safeParse(message)
    if (!parsed.success) {
      // Only where it went wrong: the message itself may carry a key.
      log.warn({ issues: parsed.error.issues.map((issue) => issue.path.join('.')) }, 'a message of the runner does not fit and was dropped')
      return
    }
    const said = parsed.data
    switch (said.type) {
      case 'hello':
        return own.child.send({ type: 'start', config: own.config })
      case 'ready':
        return becomeReady(own, said)
      case 'failed':
        own.refusal = said
        log.error({ code: said.code }, `the runner ${own.ready ? 'ends' : 'cannot start'}: ${said.message}`)
        own.timers.add(setTimeout(() => own.child.kill(), timings.refusalLimitMs))
        return
      case 'vault.ask':
        void answerVault(vault, said, log).then((answer) => own.child.send(answer))
        return
      case 'trash.ask':
        void answerTrash(deps.trash ?? null, said, own.config.dataDir, log).then((answer) => own.child.send(answer))
        return
      case 'running': {
        const { jobs, pending, approvals, waiting, brake, webhooks } = said
        return setRunning({ jobs, pending, approvals, waiting, brake, webhooks })
      }
      case 'notice':
        for (const listener of noticeListeners) listener(said)
        return
      case 'pong':
      case 'heartbeat':
      case 'stopped':
    }
  }

  function becomeReady(own: Life, said: Extract<FromRunner, { type: 'ready' }>): void {
    if (own.ready || own.stopping) return
    own.ready = true
    clearTimers(own)
    const url = urlOf(said.host, said.port)
    endpoint = { url, host: new URL(url).hostname.replace(/^\[|\]$/g, ''), port: said.port, secret: own.config.workerSecret }
    log.info({ pid: own.child.pid, bootId: said.bootId, port: said.port }, 'the runner reports ready')
    watch(own)
    become({ state: 'ready', runnerUrl: url })
  }

  function watch(own: Life): void {
    const hang = createHangWatch({ limitMs: timings.hangAfterMs, tickMs: timings.pingEveryMs, now: monotonic() })
    own.child.onMessage(() => hang.heard(monotonic()))
    const timer = setInterval(() => {
      if (hang.tick(monotonic())) return end(own, `did not answer for ${Math.round(timings.hangAfterMs / 1000)} s`)
      own.child.send({ type: 'ping', nonce: randomUUID() })
    }, timings.pingEveryMs)
    own.timers.add(timer)
  }

  /** Ends a child that is of no use any more; its exit then counts as a crash. */
  function end(own: Life, reason: string): void {
    own.reason = reason
    log.error({ pid: own.child.pid }, `the runner ${reason}; ending it`)
    clearTimers(own)
    own.child.kill()
  }

  async function ended(own: Life, exit: RunnerExit): Promise<void> {
    life = null
    endpoint = null
    if (running !== IDLE) setRunning(IDLE)
    log.info({ ...exit, pid: own.child.pid }, 'runner ended')
    if (own.stopping || !wanted) return become({ state: 'stopped' })
    const refusal = own.refusal
    if (refusal?.code === 'port_taken') {
      wanted = false
      const { host, port } = own.config
      const suggestedPort = await suggestPort(host, port)
      if (!wanted && life === null) become({ state: 'port_taken', port, suggestedPort })
      return
    }
    if (refusal && refusal.code !== 'internal') {
      wanted = false
      return become({ state: 'failed', code: refusal.code, message: refusal.message })
    }
    log.error({ lastLines: own.lastLines }, 'what the runner printed last')
    crashed(refusal?.message ?? `The runner ${own.reason ?? exitText(exit)}.`)
  }

  function crashed(reason: string): void {
    const now = monotonic()
    crashes = [...crashes, now].slice(-10)
    const decision = decideRestart(crashes, now)
    log.error({ reason, restart: decision.restart }, 'the runner crashed')
    if (!decision.restart) {
      wanted = false
      return become({
        state: 'failed',
        code: 'crash_loop',
        message: `The runner crashed three times in five minutes. The last time: ${reason}`,
      })
    }
    become({ state: 'restarting', attempt: decision.attempt, reason })
    restartTimer = setTimeout(() => {
      restartTimer = null
      void launch()
    }, decision.delayMs)
  }

  function settled(): Promise<RunnerState> {
    const isSettled = (now: RunnerState) => now.state !== 'starting' && now.state !== 'restarting'
    if (isSettled(state)) return Promise.resolve(state)
    return new Promise((resolve) => {
      const listener = (next: RunnerState) => {
        if (!isSettled(next)) return
        stateListeners.delete(listener)
        resolve(next)
      }
      stateListeners.add(listener)
    })
  }

  async function start(options: { safeMode?: boolean } = {}): Promise<RunnerState> {
    if (wanted) return settled()
    wanted = true
    safeMode = options.safeMode ?? false
    crashes = []
    become({ state: 'starting' })
    await launch()
    return settled()
  }

  async function stop(graceMs = timings.stopGraceMs): Promise<void> {
    wanted = false
    if (restartTimer) clearTimeout(restartTimer)
    restartTimer = null
    const own = life
    if (own === null) {
      if (state.state === 'starting' || state.state === 'restarting') become({ state: 'stopped' })
      return
    }
    own.stopping = true
    // From here on nothing new is sent to it.
    endpoint = null
    clearTimers(own)
    own.child.send({ type: 'stop', graceMs })
    own.timers.add(
      setTimeout(() => {
        log.warn({ pid: own.child.pid }, 'the runner did not stop in time; ending it')
        own.child.kill()
      }, graceMs + KILL_MARGIN_MS),
    )
    await own.gone
  }

  const currentEndpoint = () => (life?.child.isAlive() ? endpoint : null)

  return {
    state: () => state,
    endpoint: currentEndpoint,
    async endpointSoon(limitMs) {
      const limit = Promise.withResolvers<void>()
      const timer = setTimeout(limit.resolve, limitMs)
      await Promise.race([settled(), limit.promise])
      clearTimeout(timer)
      return currentEndpoint()
    },
    running: () => running,
    start,
    async restart(options = {}) {
      await stop()
      return start(options)
    },
    stop,
    cancelJob: (jobId) => life?.child.send({ type: 'cancel_job', jobId }),
    answerApproval: ({ approvalId, decision, answer }) => life?.child.send({ type: 'answer_approval', approvalId, decision, answer }),
    setBrake: (on) => life?.child.send({ type: 'set_brake', on }),
    setTunnel: (program, on) => life?.child.send({ type: 'set_tunnel', program, on }),
    tellWoke: () => life?.child.send({ type: 'woke' }),
    isSafeMode: () => safeMode,
    onState: (listener) => subscribe(stateListeners, listener),
    onRunning: (listener) => subscribe(runningListeners, listener),
    onNotice: (listener) => subscribe(noticeListeners, listener),
  }
}

function subscribe<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function clearTimers(life: Life): void {
  for (const timer of life.timers) clearTimeout(timer)
  life.timers.clear()
}

function exitText({ code, signal }: RunnerExit): string {
  if (signal !== null) return `was ended by ${signal}`
  return code === null ? 'could not be started' : `ended with code ${code}`
}
