import type { StoredEvent } from '../contract/events.ts'
import type { Database } from '../platform/db/database.ts'

type Fault = { inTransaction: string } | { afterCommit(event: StoredEvent): boolean }

const recorded = (kind: string) => (event: StoredEvent) => event.type === 'job.step_recorded' && event.payload.kind === kind

/** Where a runner can be killed: in the middle of a transaction, or right after a commit, before any listener. */
export const FAULT_POINTS = {
  'a job is being kept': { inTransaction: 'AFTER INSERT ON main.agent_jobs' },
  'a job is kept': { afterCommit: ({ type }) => type === 'job.created' },
  'a job is claimed': { afterCommit: ({ type }) => type === 'job.started' },
  'a reply is being recorded': { inTransaction: "AFTER INSERT ON main.job_steps WHEN NEW.kind = 'reply'" },
  'a reply is recorded': { afterCommit: recorded('reply') },
  'a call is started': { afterCommit: recorded('tool_started') },
  'a result is being recorded': { inTransaction: "BEFORE INSERT ON main.job_steps WHEN NEW.kind = 'tool_result'" },
  'an approval is asked': { afterCommit: ({ type }) => type === 'approval.asked' },
  'an approval is answered': { afterCommit: ({ type }) => type === 'approval.answered' },
  'the end is being recorded': { inTransaction: "AFTER UPDATE OF status ON main.agent_jobs WHEN NEW.status = 'completed'" },
  'a due time is being decided': { inTransaction: 'AFTER INSERT ON main.occurrences' },
  'the next due time is being noted': { inTransaction: 'BEFORE UPDATE OF next_due_at ON main.schedules' },
  'the end is recorded': { afterCommit: ({ type }) => type === 'job.finished' },
} satisfies Record<string, Fault>

export type FaultPoint = keyof typeof FAULT_POINTS

/**
 * Returns what makes this process die without warning the first time that it gets to `point` or, with `after`, that many times
 * later. The point is inside the database: a trigger in the middle of a transaction, or the first listener after a commit,
 * which is why this is called before any other listener is added.
 */
export function prepareDeath(db: Database): (point: FaultPoint, after?: number) => void {
  let left = 0
  let isPoint = (_event: StoredEvent) => false
  function die(): void {
    if (left-- > 0) return
    process.kill(process.pid, 'SIGKILL')
  }
  db.onEvents((event) => {
    if (isPoint(event)) die()
  })
  return (point, after = 0) => {
    left = after
    const fault: Fault = FAULT_POINTS[point]
    if ('inTransaction' in fault) {
      db.connection.function('die', { deterministic: false }, () => (die(), null))
      // A temporary trigger, which is not in the file.
      db.connection.exec(`CREATE TEMP TRIGGER kill_here ${fault.inTransaction} BEGIN SELECT die(); END`)
    } else isPoint = fault.afterCommit
  }
}
