import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { TableSize } from '../../contract/diagnostics.ts'
import { messageOf } from '../../lib/errors.ts'

export type TableSizesData = { file: string }
/** `problem`: why they could not be read. */
export type TableSizesAnswer = { tables: TableSize[]; problem: string | null }

type Row = { name: string; bytes: number }

/** Reads the whole file. */
function measure(file: string): TableSize[] {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 10_000 })
  try {
    const sizes = connection
      .prepare<[], Row>(
        `SELECT schema.tbl_name AS name, sum(pages.pgsize) AS bytes FROM dbstat AS pages
           JOIN sqlite_schema AS schema ON schema.name = pages.name
          WHERE pages.aggregate = TRUE GROUP BY schema.tbl_name ORDER BY bytes DESC`,
      )
      .all()
    return sizes.map(({ name, bytes }) => ({
      name,
      bytes,
      rows: connection.prepare<[], number>(`SELECT count(*) FROM "${name}"`).pluck().get()!,
    }))
  } finally {
    connection.close()
  }
}

let answer: TableSizesAnswer
try {
  answer = { tables: measure((workerData as TableSizesData).file), problem: null }
} catch (error) {
  answer = { tables: [], problem: messageOf(error) }
}
parentPort!.postMessage(answer)
