import { workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { TableSize } from '../../contract/diagnostics.ts'
import { answerWith } from './threads.ts'

type Row = { name: string; bytes: number }

const { file } = workerData as { file: string }
await answerWith((): TableSize[] => {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 10_000 })
  try {
    const sizes = connection
      .prepare<[], Row>(
        `SELECT schema.tbl_name AS name, sum(pages.pgsize) AS bytes FROM dbstat AS pages
           JOIN sqlite_schema AS schema ON schema.name = pages.name
          WHERE pages.aggregate = TRUE GROUP BY schema.tbl_name ORDER BY bytes DESC`,
      )
      .all()
    const countRows = (name: string) => connection.prepare<[], number>(`SELECT count(*) FROM "${name}"`).pluck().get()!
    return sizes.map(({ name, bytes }) => ({ name, bytes, rows: countRows(name) }))
  } finally {
    connection.close()
  }
})
