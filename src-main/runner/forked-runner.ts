import { fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { runnerEnvironment, type RunnerExit, type SpawnRunner } from './runner-process.ts'

const LAST_WORDS_MS = 500

/** The runner as a child process of plain Node (headless). */
export function createForkedRunner({
  entry,
  codeCache,
  env = process.env,
}: {
  entry: string
  codeCache: string
  env?: NodeJS.ProcessEnv
}): SpawnRunner {
  return () => {
    const child = fork(entry, [], {
      env: runnerEnvironment(env, codeCache),
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C reaches every process of the terminal's group, but the runner should stop in order, when asked.
      detached: process.platform !== 'win32',
    })
    let finished = false
    return {
      pid: child.pid,
      isAlive: () => !finished && child.exitCode === null && child.signalCode === null && child.connected,
      send(message) {
        if (child.connected) child.send(message, () => undefined)
      },
      onMessage: (listener) => void child.on('message', listener),
      onOutput(listener) {
        for (const stream of [child.stdout!, child.stderr!]) createInterface({ input: stream }).on('line', listener)
      },
      onExit(listener) {
        let exit: RunnerExit | null = null
        const finish = () => {
          if (exit === null || finished) return
          finished = true
          listener(exit)
        }
        child.on('exit', (code, signal) => {
          exit = { code, signal }
          // Its last messages may still be on their way. They end with the channel.
          if (!child.connected) return finish()
          setTimeout(finish, LAST_WORDS_MS).unref()
        })
        child.on('disconnect', finish)
        child.on('error', () => {
          if (child.pid !== undefined) return
          // The spawn failed: no exit event follows.
          exit = { code: null, signal: null }
          finish()
        })
      },
      kill: () => void child.kill('SIGKILL'),
    }
  }
}
