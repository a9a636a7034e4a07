import type { ToRunner } from '../../src-runner/contract/port.ts'

export type RunnerExit = { code: number | null; signal: string | null }

/** A runner process, forked or a utility process. Its messages are not validated yet. */
export type RunnerProcess = {
  pid: number | undefined
  /** Whether the process is alive and its port open. */
  isAlive(): boolean
  /** Does nothing if the process is gone. */
  send(message: ToRunner): void
  onMessage(listener: (message: unknown) => void): void
  /** Lines of standard output and standard error. */
  onOutput(listener: (line: string) => void): void
  /** Called once. */
  onExit(listener: (exit: RunnerExit) => void): void
  /** SIGKILL. */
  kill(): void
}

export type SpawnRunner = () => RunnerProcess

/**
 * The environment of the runner, without the secret and the settings: both arrive over the port, so a stray variable
 * cannot contradict the start message.
 *
 * `codeCache`: a folder for Node's compile cache, which makes restarts faster.
 */
export function runnerEnvironment(env: NodeJS.ProcessEnv, codeCache: string): NodeJS.ProcessEnv {
  const withheld =
    /^(WORKER_SECRET(_FILE)?|NODE_OPTIONS|NODE_CHANNEL_.*|ELECTRON_RUN_AS_NODE|DECKHAND_.*|RUNNER_.*|DASHBOARD_.*|PUBLIC_RUNNER_URL|INGRESS_PORT|AUTH_MODE|LOG_LEVEL)$/
  const inherited = Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.test(name)))
  return { ...inherited, NODE_COMPILE_CACHE: codeCache }
}
