import { setTimeout } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { messageOf } from '../../lib/errors.ts'

type Answer = { value: unknown } | { problem: string }

/**
 * What a thread does, in memory that it shares with the process. Terminating a thread in the middle of better-sqlite3 would abort the
 * whole process, so a thread is `working` while it uses it, and is ended only when it is not.
 */
export type ThreadState = Int32Array<SharedArrayBuffer>

/** `leaving`: working, and to end as soon as it pauses. `ended`: must not work again. */
const IDLE = 0
const WORKING = 1
const LEAVING = 2
const ENDED = 3

const WAIT_FOR_THREAD_MS = 5000

export function createThreadState(): ThreadState {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}

/** In a thread: whether it may work now. If so, it calls `endWork` afterwards. */
export function beginWork(state: ThreadState): boolean {
  return Atomics.compareExchange(state, 0, IDLE, WORKING) === IDLE
}

/** In a thread. */
export function endWork(state: ThreadState): void {
  if (Atomics.compareExchange(state, 0, WORKING, IDLE) !== WORKING) Atomics.store(state, 0, ENDED)
  Atomics.notify(state, 0)
}

/**
 * From now on the thread does not begin to work. Waits up to five seconds for a pause in what it does. Returns whether it rests:
 * only then may it be terminated.
 */
export function forbidWork(state: ThreadState): boolean {
  while (Atomics.compareExchange(state, 0, IDLE, ENDED) === WORKING) {
    Atomics.compareExchange(state, 0, WORKING, LEAVING)
    if (Atomics.wait(state, 0, LEAVING, WAIT_FOR_THREAD_MS) === 'timed-out') return false
  }
  return Atomics.load(state, 0) === ENDED
}

/** The file of a thread. In the build it is beside runner.js, and this one too or, because threads share it, in `chunks/`. */
export function threadFile(name: string): URL {
  const here = import.meta.url
  if (here.endsWith('.ts')) return new URL(`${name}.ts`, here)
  return new URL(/\/chunks\/[^/]+$/.test(here) ? `../${name}.js` : `${name}.js`, here)
}

/** The threads of this process that have to answer. */
const running = new Set<ThreadState>()
// The process would end them too, but anywhere in their work.
if (isMainThread) process.on('exit', () => running.forEach(forbidWork))

/** Threads for what would block the event loop. The process may end without them. */
export function createThreads() {
  const own = new Set<ThreadState>()
  return {
    /** Starts the thread of this name with `data`. Resolves with its answer. Rejects if it failed or was stopped. */
    run<Value>(name: string, data: object): Promise<Value> {
      const state = createThreadState()
      const thread = new Worker(threadFile(name), { workerData: { ...data, state } })
      running.add(state)
      own.add(state)
      thread.unref()
      return new Promise((resolve, reject) => {
        thread.once('message', (answer: Answer) => ('value' in answer ? resolve(answer.value as Value) : reject(new Error(answer.problem))))
        thread.once('error', reject)
        thread.once('exit', () => {
          running.delete(state)
          own.delete(state)
          reject(new Error('it was stopped'))
        })
      })
    },
    /** Each thread ends by itself: before it works, or at the next pause. */
    stop(): void {
      own.forEach(forbidWork)
    },
  }
}

/** In a thread of `createThreads`: answers with what `work` returns, or with why it failed. */
export async function answerWith(work: () => unknown): Promise<void> {
  const { state } = workerData as { state: ThreadState }
  if (!beginWork(state)) return
  let answer: Answer
  try {
    answer = { value: await work() }
  } catch (error) {
    answer = { problem: messageOf(error) }
  }
  endWork(state)
  parentPort!.postMessage(answer)
}

/** In the middle of `answerWith`'s work, with nothing of better-sqlite3 open: a place where the thread may be ended. */
export async function pauseWork(ms: number): Promise<void> {
  const { state } = workerData as { state: ThreadState }
  endWork(state)
  await setTimeout(ms)
  if (!beginWork(state)) throw new Error('it was stopped')
}
