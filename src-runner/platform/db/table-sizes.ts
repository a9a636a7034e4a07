import { Worker } from 'node:worker_threads'
import type { TableSize } from '../../contract/diagnostics.ts'
import { threadFile } from './thread-file.ts'
import type { TableSizesAnswer, TableSizesData } from './table-sizes-thread.ts'

/** Rows and bytes of each table with its indexes, the largest first. In a thread, because that reads the whole file. */
export function measureTables(file: string): Promise<TableSize[]> {
  const thread = new Worker(threadFile('table-sizes-thread'), { workerData: { file } satisfies TableSizesData })
  thread.unref()
  return new Promise((resolve, reject) => {
    thread.once('message', ({ tables, problem }: TableSizesAnswer) => (problem === null ? resolve(tables) : reject(new Error(problem))))
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the measurement was stopped')))
  })
}
