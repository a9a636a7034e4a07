import type { Language } from '../../resources/locales/texts.ts'
import type { Message } from '../../src-runner/contract/messages.ts'
import { Access, type Replacement, type RunnerConfig, type ToRunner } from '../../src-runner/contract/port.ts'
import type { TunnelProgram } from '../../src-runner/contract/public-address.ts'
import type { RunnerState } from '../contract/desktop-api.ts'
import { createListeners } from '../listeners.ts'
import { messageOf } from '../log/log.ts'
import { problemOf } from '../message-error.ts'
import { suggestPort } from '../net/address.ts'
import { VaultError } from '../vault/vault.ts'
import { decideRestart } from './restart-policy.ts'
import {
  startRunnerChild,
  type ChildDeps,
  type ChildEnd,
  type ChildTimings,
  type Notification,
  type RunnerChild,
  type RunnerEndpoint,
  type Running,
} from './runner-child.ts'
import { createRunnerStates } from './runner-states.ts'

export type ApprovalAnswer = Omit<Extract<ToRunner, { type: 'answer_approval' }>, 'type'>

export type Supervisor = {
  state(): RunnerState
  /** null: no runner of ours is ready. */
  endpoint(): RunnerEndpoint | null
  /** Waits for a runner that is starting, for `limitMs` at most. */
  endpointSoon(limitMs: number): Promise<RunnerEndpoint | null>
  running(): Running
  /** Resolves when the runner is ready or could not start; the state tells which. */
  start(options?: StartOptions): Promise<RunnerState>
  /** Stops the runner, forgets earlier crashes, and starts it with the present settings. */
  restart(options?: StartOptions): Promise<RunnerState>
  /** Resolves when the process is gone: by itself within `graceMs`, or killed after it. */
  stop(graceMs?: number): Promise<void>
  /** Tells the runner the present access. Resolves with null, or with why it does not listen where it should. */
  changeAccess(): Promise<Message | null>
  cancelJob(jobId: string): void
  answerApproval(answer: ApprovalAnswer): void
  setPauseAll(on: boolean): void
  setTunnel(program: TunnelProgram, on: boolean): void
  setLanguage(language: Language): void
  /** The dashboard's, after the addresses of this machine have changed. */
  setOrigins(origins: string[]): void
  /** The machine woke from sleep. */
  reportWake(): void
  isSafeMode(): boolean
  onState(listener: (state: RunnerState) => void): () => void
  onRunning(listener: (running: Running) => void): () => void
  onNotification(listener: (notification: Notification) => void): () => void
}

/** `replaceDatabase`: only at this start, not after a crash. */
export type StartOptions = { safeMode?: boolean; replaceDatabase?: Replacement }

export type SupervisorTimings = ChildTimings & { stopGraceMs: number }

const TIMINGS: SupervisorTimings = {
  pingEveryMs: 5_000,
  hangAfterMs: 30_000,
  startLimitMs: 120_000,
  refusalLimitMs: 2_000,
  stopGraceMs: 8_000,
}
const IDLE: Running = {
  jobs: [],
  pending: 0,
  approvals: 0,
  waiting: [],
  pauseAll: false,
  webhooks: { url: null, check: 'unknown', tunnel: null },
}

export type SupervisorDeps = Omit<ChildDeps, 'timings' | 'monotonic'> & {
  /** Called before every start, so that a changed port or secret takes effect. May reject with a VaultError. */
  configure: (safeMode: boolean) => Promise<RunnerConfig>
  /** The runner ended by itself. */
  crashed?: (crash: { reason: Message; lastLines: string[] }) => void
  timings?: Partial<SupervisorTimings>
  monotonic?: () => number
}

/**
 * Starts the runner, keeps it running, and is the only source of its address and secret. After a crash it restarts the
 * runner, up to the limit of `decideRestart`. What a restart cannot fix (a taken port, a damaged database) becomes the
 * state instead. The secret goes over the port to our own child and nowhere else.
 */
export function createSupervisor(deps: SupervisorDeps): Supervisor {
  const { log } = deps
  const timings = { ...TIMINGS, ...deps.timings }
  const monotonic = deps.monotonic ?? (() => performance.now())
  const states = createRunnerStates(log)
  const { become, settled } = states
  const runningListeners = createListeners<[Running]>()
  const notificationListeners = createListeners<[Notification]>()

  let running = IDLE
  let child: RunnerChild | null = null
  let isWanted = false
  let safeMode = false
  let crashes: number[] = []
  let accessChange: Promise<unknown> | null = null
  let restartTimer: NodeJS.Timeout | null = null

  function setRunning(next: Running): void {
    running = next
    runningListeners.tell(next)
  }

  async function launch(replaceDatabase?: Replacement): Promise<void> {
    let config: RunnerConfig
    try {
      config = { ...(await deps.configure(safeMode)), replaceDatabase }
    } catch (error) {
      log.error({ error: messageOf(error) }, 'the runner cannot be configured')
      if (isWanted)
        fail({
          code: error instanceof VaultError ? 'vault_unavailable' : 'internal',
          message: problemOf(error),
        })
      return
    }
    if (!isWanted || child !== null) return
    child = startRunnerChild({ ...deps, timings, monotonic }, config, {
      ready: ({ url }) => become({ state: 'ready', runnerUrl: url }),
      running: setRunning,
      notification: notificationListeners.tell,
      ended: (end) => void afterEnd(end, config),
    })
  }

  function fail(failure: Omit<Extract<RunnerState, { state: 'failed' }>, 'state'>): void {
    isWanted = false
    become({ state: 'failed', ...failure })
  }

  async function afterEnd({ wasStopped, refusal, reason, lastLines }: ChildEnd, { host, port }: RunnerConfig): Promise<void> {
    child = null
    if (running !== IDLE) setRunning(IDLE)
    if (wasStopped || !isWanted) return become({ state: 'stopped' })
    if (refusal?.code === 'port_taken') {
      isWanted = false
      const suggestedPort = await suggestPort(host, port)
      // Somebody may have started or stopped it while the ports were probed.
      if (!isWanted && child === null) become({ state: 'port_taken', port, suggestedPort })
      return
    }
    if (refusal && refusal.code !== 'internal') return fail({ code: refusal.code, message: refusal.message })
    log.error({ lastLines }, 'the last lines of the runner')
    deps.crashed?.({ reason, lastLines })
    restartAfterCrash(reason)
  }

  function restartAfterCrash(reason: Message): void {
    const now = monotonic()
    crashes = [...crashes, now].slice(-10)
    const decision = decideRestart(crashes, now)
    log.error({ reason, restart: decision.restart }, 'the runner crashed')
    if (!decision.restart) return fail({ code: 'crash_loop', message: reason })
    become({ state: 'restarting', attempt: decision.attempt, reason })
    restartTimer = setTimeout(() => {
      restartTimer = null
      void launch()
    }, decision.delayMs)
  }

  async function start(options: StartOptions = {}): Promise<RunnerState> {
    if (isWanted) return settled()
    isWanted = true
    safeMode = options.safeMode ?? false
    crashes = []
    become({ state: 'starting' })
    await launch(options.replaceDatabase)
    return settled()
  }

  async function stop(graceMs = timings.stopGraceMs): Promise<void> {
    isWanted = false
    if (restartTimer) clearTimeout(restartTimer)
    restartTimer = null
    if (child !== null) return child.stop(graceMs)
    if (['starting', 'restarting'].includes(states.current().state)) become({ state: 'stopped' })
  }

  async function changeAccess(): Promise<Message | null> {
    if (child === null) return null
    const access = Access.parse(await deps.configure(safeMode))
    // A runner that was started meanwhile has the present access.
    const change = child?.changeAccess(access) ?? null
    accessChange = change
    return change
  }

  const endpoint = () => child?.endpoint() ?? null

  return {
    state: states.current,
    endpoint,
    async endpointSoon(limitMs) {
      const limit = Promise.withResolvers<void>()
      const timer = setTimeout(limit.resolve, limitMs)
      await Promise.race([settled().then(() => accessChange), limit.promise])
      clearTimeout(timer)
      return endpoint()
    },
    running: () => running,
    start,
    async restart(options = {}) {
      await stop()
      return start(options)
    },
    stop,
    changeAccess,
    ...commandsOf((message) => child?.send(message)),
    isSafeMode: () => safeMode,
    onState: states.onState,
    onRunning: runningListeners.add,
    onNotification: notificationListeners.add,
  }
}

/** What a person asks of the runner that runs; nothing if there is none. */
function commandsOf(send: (message: ToRunner) => void) {
  return {
    cancelJob: (jobId) => send({ type: 'cancel_job', jobId }),
    answerApproval: ({ approvalId, decision, answer }) => send({ type: 'answer_approval', approvalId, decision, answer }),
    setPauseAll: (on) => send({ type: 'set_pause_all', on }),
    setTunnel: (program, on) => send({ type: 'set_tunnel', program, on }),
    setLanguage: (language) => send({ type: 'set_language', language }),
    setOrigins: (origins) => send({ type: 'set_origins', origins }),
    reportWake: () => send({ type: 'woke' }),
  } satisfies Partial<Supervisor>
}
