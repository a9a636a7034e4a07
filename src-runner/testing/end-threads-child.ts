import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createThreadState, forbidWork, threadFile } from '../platform/db/threads.ts'

/**
 * A process that starts `argv[3]` threads one after the other, each of which reads the database `argv[2]`, and ends each within
 * two milliseconds of the beginning of its work, when it loads better-sqlite3.
 */
const [, , file, times] = process.argv
const SPREAD_MS = 2

for (let i = 0; i < Number(times); i++) {
  const state = createThreadState()
  const thread = new Worker(threadFile('query-thread'), { workerData: { file, sql: 'SELECT 1', params: {}, state } })
  let isGone = false
  const ended = once(thread, 'exit').then(() => (isGone = true))
  // On a busy machine it can be done before this process sees it work.
  while (Atomics.load(state, 0) === 0 && !isGone) await setImmediate()
  const at = performance.now() + Math.random() * SPREAD_MS
  while (performance.now() < at);
  if (forbidWork(state)) void thread.terminate()
  await ended
}
process.stdout.write('all ended')
