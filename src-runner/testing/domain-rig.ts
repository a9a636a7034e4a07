import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transact, type Database } from '../platform/db/database.ts'
import { createLiveJobStreams, type LiveJobStreams } from '../platform/events/live-job-streams.ts'
import type { Agent } from '../contract/agents.ts'
import { createIds, type Ids } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { inEnglish, type Speech } from '../lib/messages.ts'
import { entities } from '../domain/entities/entities-table.ts'
import { createAgent } from '../domain/agents/agents.ts'
import { withdrawApprovals } from '../domain/approvals/answer-approval.ts'
import { createJobStore, type JobStore } from '../domain/jobs/job-store.ts'
import type { NewReply } from '../domain/jobs/record-steps.ts'
import { openTestDatabase } from './open-test-database.ts'
import { createHandClock, type HandClock } from './hand-clock.ts'

export type DomainRig = {
  folder: string
  file: string
  db: Database
  clock: HandClock
  ids: Ids
  liveStreams: LiveJobStreams
  store: JobStore
  speech: Speech
  /** What was logged as warning or error. */
  logged: string[]
  /** `entityId`: its workspace, Personal by default. */
  addAgent(name: string, entityId?: string): Agent
  addEntity(name: string): string
  /** The process dies and another one starts on the same file. */
  reboot(): void
  close(): void
}

/** The domain with a real database file in a folder of its own, and a hand clock. */
export function openDomainRig(clock: HandClock = createHandClock()): DomainRig {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-domain-'))
  const file = join(folder, 'deckhand.db')
  const ids = createIds(() => clock.now())
  const logged: string[] = []
  const collect = (_fields: unknown, message: string) => void logged.push(message)
  const log: Log = { error: collect, warn: collect, info() {}, debug() {} }
  const boot = () => {
    const db = openTestDatabase({ file, clock, ids, log })
    const liveStreams = createLiveJobStreams({ log })
    return {
      db,
      liveStreams,
      store: createJobStore({ db, clock, ids, bootId: ids.next(), liveStreams, hooks: { ended: withdrawApprovals } }),
    }
  }
  const rig: DomainRig = {
    folder,
    file,
    clock,
    ids,
    speech: () => inEnglish,
    logged,
    ...boot(),
    addAgent: (name, entityId) => transact(rig.db, (tx) => createAgent(tx, { clock, ids }, { name, entityId })),
    addEntity(name) {
      const id = ids.next()
      transact(rig.db, (tx) => tx.insert(entities).values({ id, name, isDefault: false, createdAt: clock.now() }).run())
      return id
    },
    reboot() {
      rig.db.close()
      Object.assign(rig, boot())
    },
    close() {
      rig.db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return rig
}

export function replyOf(text: string, more: Partial<NewReply> = {}): NewReply {
  return {
    text,
    reasoning: '',
    toolCalls: [],
    model: { providerId: 'demo', model: 'demo' },
    usage: { input: 100, output: 20, cached: 10 },
    estimated: false,
    costMicros: 150,
    priced: true,
    interrupted: false,
    durationMs: 40,
    ...more,
  }
}
