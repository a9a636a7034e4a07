import { Worker } from 'node:worker_threads'
import type { QueryAnswer, QueryData } from './query-thread.ts'
import { threadFile } from './thread-file.ts'

/** The first row of a query that reads too much for the event loop. In a thread with a connection of its own. */
export function readAside<Row>(file: string, sql: string, params: object): Promise<Row> {
  const thread = new Worker(threadFile('query-thread'), { workerData: { file, sql, params } satisfies QueryData })
  thread.unref()
  return new Promise((resolve, reject) => {
    thread.once('message', ({ row, problem }: QueryAnswer) => (problem === null ? resolve(row as Row) : reject(new Error(problem))))
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the query was stopped')))
  })
}
