import { createInterface } from 'node:readline'
import { utilityProcess } from 'electron'
import { runnerEnvironment, type SpawnRunner } from './runner-process.ts'

/** The runner as a utility process of Electron. */
export function createUtilityRunner({ entry, codeCache }: { entry: string; codeCache: string }): SpawnRunner {
  return () => {
    const child = utilityProcess.fork(entry, [], {
      serviceName: 'Deckhand runner',
      env: runnerEnvironment(process.env, codeCache),
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let gone = false
    return {
      get pid() {
        return child.pid
      },
      isAlive: () => !gone,
      send(message) {
        if (!gone) child.postMessage(message)
      },
      onMessage: (listener) => void child.on('message', listener),
      onOutput(listener) {
        for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', listener)
      },
      onExit(listener) {
        child.once('exit', (code) => {
          gone = true
          listener({ code, signal: null })
        })
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
}
