import { parentPort, Worker } from 'node:worker_threads'
import { messageOf } from '../../lib/errors.ts'

type Answer = { value: unknown } | { problem: string }

/** The file of a thread. In the build it is beside runner.js, and this one too or, because threads share it, in `chunks/`. */
export function threadFile(name: string): URL {
  const here = import.meta.url
  if (here.endsWith('.ts')) return new URL(`${name}.ts`, here)
  return new URL(/\/chunks\/[^/]+$/.test(here) ? `../${name}.js` : `${name}.js`, here)
}

/** Threads for what would block the event loop. The process may end without them. */
export function createThreads() {
  const running = new Set<Worker>()
  return {
    /** Starts the thread of this name with `data`. Resolves with its answer. Rejects if it failed or was stopped. */
    run<Value>(name: string, data: object): Promise<Value> {
      const thread = new Worker(threadFile(name), { workerData: data })
      running.add(thread)
      thread.unref()
      return new Promise((resolve, reject) => {
        thread.once('message', (answer: Answer) => ('value' in answer ? resolve(answer.value as Value) : reject(new Error(answer.problem))))
        thread.once('error', reject)
        thread.once('exit', () => {
          running.delete(thread)
          reject(new Error('it was stopped'))
        })
      })
    },
    stop(): void {
      for (const thread of running) void thread.terminate()
    },
  }
}

/** In a thread: answers with what `work` returns, or with why it failed. */
export async function answerWith(work: () => unknown): Promise<void> {
  let answer: Answer
  try {
    answer = { value: await work() }
  } catch (error) {
    answer = { problem: messageOf(error) }
  }
  parentPort!.postMessage(answer)
}
