import { createInterface } from 'node:readline'
import { utilityProcess } from 'electron'
import { runnerEnvironment, type RunnerProcess, type SpawnRunner } from './runner-process.ts'

export type UtilityRunner = {
  spawn: SpawnRunner
  /** Starts the process of the first `spawn`, which reads its code and then waits. Only when Electron is ready. */
  prepare(): void
}

/** The runner as a utility process of Electron. */
export function createUtilityRunner(options: { entry: string; codeCache: string }): UtilityRunner {
  let prepared: RunnerProcess | null = null
  return {
    prepare: () => void (prepared = fork(options)),
    spawn() {
      const child = prepared?.isAlive() ? prepared : fork(options)
      prepared = null
      return child
    },
  }
}

function fork({ entry, codeCache }: { entry: string; codeCache: string }): RunnerProcess {
  const child = utilityProcess.fork(entry, [], {
    serviceName: 'Deckhand runner',
    env: runnerEnvironment(process.env, codeCache),
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let gone = false
  child.once('exit', () => (gone = true))
  // Its first message may come before anybody listens.
  const early: unknown[] = []
  const keep = (message: unknown) => void early.push(message)
  child.on('message', keep)
  return {
    get pid() {
      return child.pid
    },
    isAlive: () => !gone,
    send(message) {
      if (!gone) child.postMessage(message)
    },
    onMessage(listener) {
      child.off('message', keep)
      child.on('message', listener)
      for (const message of early.splice(0)) listener(message)
    },
    onOutput(listener) {
      for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', listener)
    },
    onExit(listener) {
      child.once('exit', (code) => listener({ code, signal: null }))
    },
    kill() {
      if (child.pid === undefined) return
      // Electron's kill() sends SIGTERM, which a hanging runner ignores.
      try {
        process.kill(child.pid, 'SIGKILL')
      } catch {
        child.kill()
      }
    },
  }
}
