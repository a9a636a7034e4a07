import type { Db } from '../platform/db/database.ts'
import type { Job, Step } from '../contract/jobs.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import type { EarlierTurn } from './prompt.ts'

/** About 40,000 tokens for earlier turns, half of them with their steps. */
const MAX_CHARS = 160_000
const MAX_CHARS_WITH_STEPS = 80_000
const MAX_TURNS = 200

/**
 * The newest turns with their steps, older ones as question and answer, the oldest not at all. The boundaries move rarely: if
 * they moved with every turn, each prompt would begin differently, and no provider could cache it.
 */
export function readEarlierTurns(db: Db, jobs: JobStore, job: Job): { earlier: EarlierTurn[]; hasOlder: boolean } {
  if (job.conversationId === null) return { earlier: [], hasOlder: false }
  const known = jobs.listJobsOfConversation(db, job.conversationId, MAX_TURNS)
  const here = known.findIndex(({ id }) => id === job.id)
  const before = known.slice(0, Math.max(0, here)).reverse()
  const newest: EarlierTurn[] = []
  let chars = 0
  for (const { id } of before) {
    const turn = jobs.getJob(db, id)
    const steps = chars < MAX_CHARS_WITH_STEPS ? jobs.listSteps(db, id) : null
    const plain = turn.task.length + (turn.result?.length ?? 0)
    chars += plain + (steps === null ? 0 : charsOf(steps))
    if (chars > MAX_CHARS) break
    const { task, status, result, errorMessage } = turn
    const fits = steps !== null && chars <= MAX_CHARS_WITH_STEPS
    const parts = fits ? jobs.listReplyParts(db, id) : undefined
    newest.push({ jobId: id, task, status, result, errorMessage, steps: fits ? steps : null, parts })
  }
  const kept = newest.reverse()
  const hasOlder = kept.length < before.length || known.length === MAX_TURNS
  const earlier = hasOlder ? kept.slice(boundaryFrom(kept, 0)) : kept
  const firstWithSteps = earlier.findIndex(({ steps }) => steps !== null)
  const stepsFrom = firstWithSteps <= 0 ? firstWithSteps : boundaryFrom(earlier, firstWithSteps)
  return { earlier: earlier.map((turn, i) => (i < stepsFrom ? { ...turn, steps: null } : turn)), hasOlder }
}

/** The first turn from `from` on that may be a boundary: one in four, by a digit of its id, so that the choice is stable. */
function boundaryFrom(turns: readonly EarlierTurn[], from: number): number {
  const found = turns.findIndex(({ jobId }, i) => i >= from && Number.parseInt(jobId.at(-1)!, 16) % 4 === 0)
  return found === -1 ? from : found
}

function charsOf(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => {
    if (step.kind === 'tool_result') return sum + Math.min(step.output.length, 4_000)
    return step.kind === 'reply' ? sum + step.text.length + JSON.stringify(step.toolCalls).length : sum
  }, 0)
}
