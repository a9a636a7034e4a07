import { Worker } from 'node:worker_threads'
import type { DamageAnswer, DamageThreadData } from './damage-thread.ts'
import { threadFile } from './thread-file.ts'

/** Checks the whole file in a thread, which takes seconds for a large file. */
export function createDamageCheck(file: string) {
  const threads = new Set<Worker>()
  return {
    /** SQLite's messages. Empty: there is no damage. Rejects if the check could not be made. */
    find(): Promise<string[]> {
      const thread = new Worker(threadFile('damage-thread'), { workerData: { file } satisfies DamageThreadData })
      threads.add(thread)
      thread.unref()
      return new Promise((resolve, reject) => {
        thread.once('message', ({ found, problem }: DamageAnswer) => (problem === null ? resolve(found) : reject(new Error(problem))))
        thread.once('error', reject)
        thread.once('exit', () => {
          threads.delete(thread)
          reject(new Error('the check was stopped'))
        })
      })
    },
    stop(): void {
      for (const thread of threads) void thread.terminate()
    },
  }
}
