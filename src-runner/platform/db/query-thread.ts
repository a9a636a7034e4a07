import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'

export type QueryData = { file: string; sql: string; params: object }
/** `problem`: why it could not be read. */
export type QueryAnswer = { row: unknown; problem: string | null }

function read({ file, sql, params }: QueryData): unknown {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 10_000 })
  try {
    return connection.prepare(sql).get(params)
  } finally {
    connection.close()
  }
}

let answer: QueryAnswer
try {
  answer = { row: read(workerData as QueryData), problem: null }
} catch (error) {
  answer = { row: null, problem: messageOf(error) }
}
parentPort!.postMessage(answer)
