import { Worker } from 'node:worker_threads'
import type { DamageAnswer, DamageThreadData } from './damage-thread.ts'
import { threadFile } from './thread-file.ts'

export type DamageCheck = {
  /** What is wrong with the file, in SQLite's words; empty when it is sound. Rejects when that cannot be known now. */
  find(): Promise<string[]>
  stop(): void
}

/** Reads the whole file in a thread with a connection of its own, which takes seconds for a large one and blocks nobody. */
export function createDamageCheck(file: string): DamageCheck {
  const threads = new Set<Worker>()
  return {
    find() {
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
    stop() {
      for (const thread of threads) void thread.terminate()
    },
  }
}
