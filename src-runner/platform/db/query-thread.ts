import { workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { answerWith } from './threads.ts'

export type QueryData = { file: string; sql: string; params: object }

const { file, sql, params } = workerData as QueryData
await answerWith(() => {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 10_000 })
  try {
    return connection.prepare(sql).get(params)
  } finally {
    connection.close()
  }
})
