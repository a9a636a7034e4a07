import type { Database } from '../platform/db/database.ts'
import { openDatabase } from '../platform/db/database.ts'
import { readRunnerEnvironment } from '../adapters/host/environment.ts'
import { createMemoryVault } from '../lib/vault.ts'
import { createRunner } from '../runner.ts'
import { FAULT_POINTS, type FaultPoint } from './fault-points.ts'

/**
 * The runner as a process that dies without warning at a point of its work, named by KILL_AT: the first time that it gets
 * there or, with KILL_AFTER, that many times later. The point is inside the database: a trigger in the middle of a
 * transaction, or the first listener after a commit. The product does not know of it. Without KILL_AT it lives on.
 */
const point = process.env['KILL_AT'] as FaultPoint | undefined

/** How many times it still passes the point. */
let left = Number(process.env['KILL_AFTER'] ?? 0)

function die(): void {
  if (left-- > 0) return
  process.kill(process.pid, 'SIGKILL')
}

function arm(db: Database): Database {
  const fault = point === undefined ? undefined : FAULT_POINTS[point]
  if (fault === undefined) return db
  if ('inTransaction' in fault) {
    db.connection.function('die', { deterministic: false }, () => (die(), null))
    // A temporary trigger, which is not in the file.
    db.connection.exec(`CREATE TEMP TRIGGER kill_here ${fault.inTransaction} BEGIN SELECT die(); END`)
  } else {
    db.onEvents((event) => {
      if (fault.afterCommit(event)) die()
    })
  }
  return db
}

const runner = createRunner({
  config: readRunnerEnvironment(process.env),
  vault: createMemoryVault(),
  openDatabase: (given) => arm(openDatabase(given)),
})
const { host, port } = await runner.start()
process.stdout.write(`${JSON.stringify({ ready: true, runnerUrl: `http://${host}:${port}` })}\n`)
process.once('SIGTERM', () => void runner.stop({ graceMs: 2_000 }).then(() => process.exit(0)))
