import type { ToRunner } from '../../src-runner/contract/port.ts'

export type RunnerExit = { code: number | null; signal: string | null }

/** One running runner, however it was started. What arrives is unchecked; whoever listens parses it. */
export type RunnerProcess = {
  pid: number | undefined
  /** Whether the process is still there and its port open. */
  isAlive(): boolean
  /** Does nothing once the process is gone. */
  send(message: ToRunner): void
  onMessage(listener: (message: unknown) => void): void
  /** Lines of standard output and standard error. */
  onOutput(listener: (line: string) => void): void
  /** Called once. */
  onExit(listener: (exit: RunnerExit) => void): void
  /** Ends it at once, without asking. */
  kill(): void
}

export type SpawnRunner = () => RunnerProcess

/**
 * What the runner inherits: everything but what is not its business. The secret reaches it over the port alone, and
 * what configures it arrives there too, so a stray variable cannot contradict the start message.
 *
 * `codeCache`: a folder where Node keeps compiled code, so that a restart after a crash is faster than the first start.
 */
export function runnerEnvironment(env: NodeJS.ProcessEnv, codeCache: string): NodeJS.ProcessEnv {
  const withheld =
    /^(WORKER_SECRET(_FILE)?|NODE_OPTIONS|NODE_CHANNEL_.*|ELECTRON_RUN_AS_NODE|DECKHAND_.*|RUNNER_.*|DASHBOARD_.*|PUBLIC_RUNNER_URL|INGRESS_PORT|AUTH_MODE|LOG_LEVEL)$/
  const inherited = Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.test(name)))
  return { ...inherited, NODE_COMPILE_CACHE: codeCache }
}
