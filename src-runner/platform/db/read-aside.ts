import type { TableSize } from '../../contract/diagnostics.ts'
import type { QueryData } from './query-thread.ts'
import { createThreads } from './threads.ts'

/** The first row of a query that reads too much for the event loop. In a thread with a connection of its own. */
export function readAside<Row>(file: string, sql: string, params: object): Promise<Row> {
  return createThreads().run('query-thread', { file, sql, params } satisfies QueryData)
}

/** Rows and bytes of each table with its indexes, the largest first. In a thread, because that reads the whole file. */
export function measureTables(file: string): Promise<TableSize[]> {
  return createThreads().run('table-sizes-thread', { file })
}
