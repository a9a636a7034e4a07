import type { Db } from '../platform/db/database.ts'
import type { Job, Step } from '../contract/jobs.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import type { EarlierTurn } from './prompt.ts'

/** About 40,000 tokens for earlier turns, half of them with their steps. */
const MAX_CHARS = 160_000
const MAX_CHARS_WITH_STEPS = 80_000
const MAX_TURNS = 200
const BOUNDARY_EVERY = 4

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
  let stepsEnded = false
  for (const { id } of before) {
    const turn = jobs.getJob(db, id)
    const steps = stepsEnded ? null : jobs.listSteps(db, id)
    const plain = turn.task.length + (turn.result?.length ?? 0)
    const own = steps === null ? 0 : charsOf(steps)
    const fits = steps !== null && chars + plain + own <= MAX_CHARS_WITH_STEPS
    if (!fits) stepsEnded = true
    chars += plain + (fits ? own : 0)
    // What was said last is never forgotten, however long it is.
    if (chars > MAX_CHARS && newest.length > 0) break
    const { task, status, result, errorMessage } = turn
    const parts = fits ? jobs.listReplyParts(db, id) : undefined
    newest.push({ jobId: id, task, status, result, errorMessage, steps: fits ? steps : null, parts })
  }
  const kept = newest.reverse()
  const hasOlder = kept.length < before.length || known.length === MAX_TURNS
  const firstKept = jobs.countJobsOfConversation(db, job.conversationId) - (known.length - here) - kept.length
  const left = hasOlder ? turnsToBoundary(firstKept, kept.length) : 0
  const earlier = kept.slice(left)
  const firstWithSteps = earlier.findIndex(({ steps }) => steps !== null)
  const stepsFrom =
    firstWithSteps <= 0
      ? firstWithSteps
      : firstWithSteps + turnsToBoundary(firstKept + left + firstWithSteps, earlier.length - firstWithSteps)
  return { earlier: earlier.map((turn, i) => (i < stepsFrom ? { ...turn, steps: null } : turn)), hasOlder }
}

/**
 * How many of these turns to leave out, so that the first that stays is a multiple of four in its conversation.
 * 0 if that would leave out all of them.
 */
function turnsToBoundary(first: number, turns: number): number {
  const toBoundary = (BOUNDARY_EVERY - (first % BOUNDARY_EVERY)) % BOUNDARY_EVERY
  return toBoundary < turns ? toBoundary : 0
}

function charsOf(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => {
    if (step.kind === 'tool_result') return sum + Math.min(step.output.length, 4_000)
    return step.kind === 'reply' ? sum + step.text.length + JSON.stringify(step.toolCalls).length : sum
  }, 0)
}
