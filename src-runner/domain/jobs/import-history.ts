import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import type { HistoryImport, HistoryLine } from '../../contract/export.ts'
import { isTerminal, type Job, type Step } from '../../contract/jobs.ts'
import { quote } from '../../lib/messages.ts'
import { toMicros } from '../../lib/micros.ts'
import { keepAgentForHistory } from '../agents/agents.ts'
import { conversations } from '../conversations/conversations-table.ts'
import { addMessage } from '../conversations/turns.ts'
import { addImportedSpend } from '../spend/imported-spend.ts'
import type { JobDeps } from './job-deps.ts'
import { jobs, jobSteps, jobTexts } from './jobs-table.ts'
import { findSeq } from './read-jobs.ts'
import { previewOf } from './titles.ts'

type Deps = Pick<JobDeps, 'clock' | 'ids' | 'search' | 'buckets'>
type JobLine = Extract<HistoryLine, { kind: 'job' }>
type ConversationLine = Extract<HistoryLine, { kind: 'conversation' }>

const MAX_USD = 1_000_000
const MAX_TITLE = 300

/**
 * Adds jobs and conversations of an export as records: nothing of them runs, waits, notifies or can be continued. They keep their
 * ids, so what is here already is skipped. Unfinished jobs become cancelled. All lines are added or none.
 */
export function importHistory(tx: Tx, deps: Deps, lines: readonly HistoryLine[]): HistoryImport {
  const done: HistoryImport = { conversations: 0, jobs: 0, known: 0 }
  for (const line of lines) {
    const isNew = line.kind === 'job' ? importJob(tx, deps, line) : importConversation(tx, deps, line)
    if (!isNew) done.known++
    else if (line.kind === 'job') done.jobs++
    else done.conversations++
  }
  if (done.jobs + done.conversations > 0)
    tx.emit({ type: 'history.imported', payload: { jobs: done.jobs, conversations: done.conversations } })
  return done
}

/** Its messages come with its jobs, which they belong to. */
function importConversation(tx: Tx, { clock }: Deps, { conversation }: ConversationLine): boolean {
  const { id, agentId, agentName } = conversation
  if (tx.select({ id: conversations.id }).from(conversations).where(eq(conversations.id, id)).get() !== undefined) return false
  const agent = keepAgentForHistory(tx, { clock }, { id: agentId, name: agentName })
  // Continued, it would be a conversation whose taints are not known.
  if (!agent.isDeleted) return false
  const past = pastOf(clock.now())
  tx.insert(conversations)
    .values({
      id,
      agentId,
      entityId: agent.entityId,
      title: conversation.title.slice(0, MAX_TITLE),
      createdAt: past(conversation.createdAt),
      updatedAt: past(conversation.updatedAt),
    })
    .run()
  return true
}

function importJob(tx: Tx, deps: Deps, { job, steps }: JobLine): boolean {
  if (findSeq(tx, job.id) !== undefined) return false
  const agent = keepAgentForHistory(tx, deps, { id: job.agentId, name: job.agentName })
  const conversationId = agent.isDeleted ? findConversation(tx, job) : null
  const { seq, createdAt, finishedAt } = insertJob(tx, deps, { job, steps, entityId: agent.entityId, conversationId })
  insertSteps(tx, deps, seq, job, steps)
  const task = job.plainTask ?? job.task
  const { status: was, result } = job
  const { fromOwner: _claimed, ...context } = job.context ?? {}
  const output = job.output === null ? null : { ...job.output, files: [] }
  tx.insert(jobTexts)
    .values({ jobSeq: seq, task, context: { ...context, imported: { at: deps.clock.now(), status: was } }, result, output })
    .run()
  if (conversationId !== null) {
    const message = { conversationId, jobId: job.id }
    addMessage(tx, { ...message, id: deps.ids.next(), role: 'user', createdAt, text: task })
    if (result !== null) addMessage(tx, { ...message, id: deps.ids.next(), role: 'assistant', createdAt: finishedAt, text: result })
  }
  deps.buckets.added(tx, seq, createdAt)
  deps.search.added(tx)
  return true
}

type NewRow = Omit<JobLine, 'kind'> & { entityId: string; conversationId: string | null }

function insertJob(tx: Tx, { clock }: Deps, { job, steps, entityId, conversationId }: NewRow) {
  const past = pastOf(clock.now())
  const status = isTerminal(job.status) ? job.status : ('cancelled' as const)
  const createdAt = past(job.createdAt)
  const finishedAt = past(job.finishedAt ?? clock.now())
  const hasStarted = status !== 'cancelled' || job.startedAt !== null || steps.length > 0
  const error = status === 'failed' ? (job.error ?? 'internal') : null
  const known = (id: string | null) => (id !== null && findSeq(tx, id) !== undefined ? id : null)
  const { seq } = tx
    .insert(jobs)
    .values({
      id: job.id,
      entityId,
      agentId: job.agentId,
      channel: job.channel,
      status,
      conversationId,
      createdAt,
      finishedAt,
      title: job.title.slice(0, MAX_TITLE),
      parentJobId: known(job.parentJobId),
      retryOfJobId: known(job.retryOfJobId),
      providerId: job.model?.providerId ?? null,
      model: job.model?.model ?? null,
      inputTokens: job.inputTokens,
      outputTokens: job.outputTokens,
      cachedTokens: Math.min(job.cachedTokens, job.inputTokens),
      costUsd: usdOf(job.costUsd),
      childrenCostUsd: usdOf(job.childrenCostUsd),
      unpricedCalls: job.priced ? 0 : 1,
      turns: steps.filter(({ kind }) => kind === 'reply').length,
      toolCalls: steps.filter(({ kind }) => kind === 'tool_result').length,
      steps: steps.length,
      attempt: hasStarted ? 1 : 0,
      claim: hasStarted ? 1 : 0,
      startedAt: hasStarted ? past(job.startedAt ?? createdAt) : null,
      workingMs: Math.max(0, job.workingMs),
      error,
      errorMessage: error === null ? null : (job.errorMessage ?? quote(error)),
      resultPreview: job.result === null ? null : previewOf(job.result),
      noOp: job.noOp,
    })
    .returning({ seq: jobs.seq })
    .get()
  return { seq, createdAt, finishedAt }
}

/** What tools returned counts as private and untrusted, because the export does not say. */
function insertSteps(tx: Tx, { clock }: Deps, jobSeq: number, job: Job, steps: readonly Step[]): void {
  const past = pastOf(clock.now())
  const models = new Set<string>()
  for (const [i, step] of steps.entries()) {
    const createdAt = past(step.createdAt)
    const durationMs = Math.max(0, step.durationMs)
    const head = { jobSeq, seq: i + 1, kind: step.kind, attempt: 1, claim: 1, createdAt, durationMs }
    if (step.kind !== 'reply') {
      const { callId, name } = step
      const result =
        step.kind === 'tool_result' ? { ok: step.ok, text: step.output, addsTaint: 'private,untrusted' as const } : { text: '' }
      tx.insert(jobSteps)
        .values({ ...head, callId, name, ...result })
        .run()
      continue
    }
    const { providerId, model } = step.model
    const [firstOfJob, firstOfModel] = [models.size === 0, !models.has(`${providerId}/${model}`)]
    models.add(`${providerId}/${model}`)
    const costUsd = usdOf(step.costUsd)
    const { inputTokens, outputTokens, priced } = step
    const counts = { providerId, model, inputTokens, outputTokens, cachedTokens: Math.min(step.cachedTokens, inputTokens), priced }
    const { estimated, interrupted, toolCalls, reasoning, text, askedBy } = step
    tx.insert(jobSteps)
      .values({ ...head, ...counts, costUsd, firstOfJob, firstOfModel, estimated, interrupted, toolCalls, reasoning, text, askedBy })
      .run()
    const { agentId, channel } = job
    addImportedSpend(
      tx,
      { ...counts, agentId, channel, at: createdAt, costMicros: toMicros(costUsd), firstOfJob, firstOfModel },
      clock.now(),
    )
  }
}

function findConversation(tx: Tx, { conversationId, agentId }: Job): string | null {
  if (conversationId === null) return null
  const row = tx.select({ agentId: conversations.agentId }).from(conversations).where(eq(conversations.id, conversationId)).get()
  return row?.agentId === agentId ? conversationId : null
}

/** A record is never of the future. */
const pastOf = (now: number) => (at: number) => Math.min(at, now)
const usdOf = (usd: number) => Math.min(Math.max(0, usd), MAX_USD)
