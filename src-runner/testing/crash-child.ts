import { commitSoon, transact } from '../platform/db/database.ts'
import { openDatabase } from '../platform/db/open-database.ts'
import { createLiveJobStreams } from '../platform/events/live-job-streams.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { createIds } from '../lib/ids.ts'
import { createAgent, findDefaultAgent } from '../domain/agents/agents.ts'
import { findDefaultEntity } from '../domain/entities/entities.ts'
import { createJobStore } from '../domain/jobs/job-store.ts'
import { replyOf } from './domain-rig.ts'

/**
 * A process to be killed: it creates and runs jobs as fast as it can. It prints each id as soon as it is stored, not before:
 * `+id`: accepted; `=id`: ended.
 */
const db = openDatabase({ file: process.argv[2]!, clock })
const ids = createIds(() => clock.now())
const store = createJobStore({ db, clock, ids, bootId: ids.next(), liveStreams: createLiveJobStreams() })
transact(db, (tx) => store.rescue(tx))
const agent = findDefaultAgent(db, findDefaultEntity(db).id) ?? transact(db, (tx) => createAgent(tx, { clock, ids }, { name: 'Kept' }))

async function enqueueForEver(): Promise<never> {
  for (;;) {
    const job = await commitSoon(db, (tx) =>
      store.enqueue(tx, { agentId: agent.id, channel: 'chat', task: `A task. ${'word '.repeat(200)}` }),
    )
    process.stdout.write(`+${job.id}\n`)
  }
}

async function workForEver(): Promise<never> {
  for (;;) {
    const claimed = await commitSoon(db, (tx) => store.claimNext(tx, 4))
    if (claimed === null) continue
    await commitSoon(db, (tx) => store.recordReply(tx, claimed.claim, replyOf('thinking')))
    await commitSoon(db, (tx) => store.settle(tx, claimed.claim, { kind: 'completed', text: 'done' }, replyOf('done')))
    process.stdout.write(`=${claimed.job.id}\n`)
  }
}

process.stdout.write('ready\n')
await Promise.all([enqueueForEver(), enqueueForEver(), enqueueForEver(), workForEver(), workForEver()])
