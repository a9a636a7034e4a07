import Sqlite from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { openDomainRig } from '../testing/domain-rig.ts'
import { createRetention } from './retention.ts'

it('reports the end of a deletion once another program no longer locks the database', async () => {
  const rig = openDomainRig()
  const { clock, db, store: jobs, folder: dataDir } = rig
  const other = new Sqlite(rig.file)
  onTestFinished(() => {
    other.close()
    rig.close()
  })
  const log = { error() {}, warn() {}, info() {}, debug() {} }
  const notForLogs = {} as never
  const deps = { db, clock, log, jobs, dataDir, age: clock, hub: notForLogs, blobs: notForLogs, codeResults: notForLogs }
  const retention = createRetention(deps)

  other.exec('BEGIN IMMEDIATE')
  retention.deleteDue('logs')
  await expect.poll(async () => (await retention.measure('logs', null)).isDeleting).toBe(false)
  other.exec('COMMIT')
  const newest = () => {
    clock.advance(25)
    return other.prepare('SELECT type FROM events ORDER BY id DESC LIMIT 1').pluck().get()
  }
  await expect.poll(newest).toBe('retention.deleted')
})
