import { openDatabase } from '../platform/db/open-database.ts'
import { readRunnerEnvironment } from '../adapters/host/environment.ts'
import { createMemoryVault } from '../lib/vault.ts'
import { createRunner } from '../runner.ts'
import { prepareDeath, type FaultPoint } from './fault-points.ts'

/**
 * The runner as a process that dies without warning at a point of its work, named by KILL_AT: the first time that it gets
 * there or, with KILL_AFTER, that many times later. The product does not know of it. Without KILL_AT it lives on, and dies
 * at a point that its parent sends later.
 */
const point = process.env['KILL_AT'] as FaultPoint | undefined

const runner = createRunner({
  config: readRunnerEnvironment(process.env),
  vault: createMemoryVault(),
  openDatabase(given) {
    const db = openDatabase(given)
    const dieAt = prepareDeath(db)
    if (point !== undefined) dieAt(point, Number(process.env['KILL_AFTER'] ?? 0))
    process.on('message', (later: FaultPoint) => (dieAt(later), process.send!('armed')))
    return db
  },
})
const { host, port } = await runner.start()
process.stdout.write(`${JSON.stringify({ ready: true, runnerUrl: `http://${host}:${port}` })}\n`)
process.once('SIGTERM', () => void runner.stop({ graceMs: 2_000 }).then(() => process.exit(0)))
