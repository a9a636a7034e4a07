import { and, eq, inArray, isNotNull, lt, notInArray, sql, type SQL } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { JobChannel } from '../../contract/jobs.ts'
import { NO_TAINTS, Taints, type Taint, type TaintSource } from '../../contract/rules.ts'
import { parseJson } from '../../lib/json-values.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { jobs, jobSteps, jobTexts } from '../jobs/jobs-table.ts'
import { decisions } from './approvals-table.ts'
import { hadPromptMemories, hasPromptMemories } from '../memory/job-memories.ts'
import { readCursorTaints } from '../schedules/schedule-cursor.ts'

/** The part of a recorded tool step that concerns taints. */
export type TaintedStep = { seq: number; name: string; addsTaint: readonly Taint[]; leftMachine: boolean }

/**
 * What started the job. `fromOwner` is written into the job's context by the channel, never by the model. `overMcp`: a model of
 * another program worded the task, perhaps as a page or the tainted job that called the program told it.
 */
export type Origin = { channel: JobChannel; fromOwner: boolean; overMcp?: boolean }

/** Channels through which others than the person in front of the app may write. */
const OTHERS_WRITE: ReadonlySet<JobChannel> = new Set(['webhook', 'telegram', 'discord', 'slack', 'messenger'])

/** Whether nothing worse is known than that another program worded the task. */
export function isOverMcp({ cause }: TaintSource): boolean {
  return cause.code === 'taint_started_by' && cause.params.channel === 'mcp'
}

/** The first cause counts, but the text of others more than that of another program's model. */
function firstOf(known: TaintSource | null, next: TaintSource | null): TaintSource | null {
  return known === null || (next !== null && isOverMcp(known)) ? next : known
}

/** The taints of a job, each with its first cause. Further steps never remove one. */
export function taintsOf(origin: Origin, inherited: readonly Taints[], steps: readonly TaintedStep[]): Taints {
  const fromOthers = (OTHERS_WRITE.has(origin.channel) && !origin.fromOwner) || origin.overMcp === true
  const channel = origin.overMcp === true ? 'mcp' : origin.channel
  const first: Taints = {
    ...NO_TAINTS,
    untrusted: fromOthers ? { seq: 0, cause: createMessage('taint_started_by', { channel }) } : null,
  }
  const atStart = inherited.reduce(
    (taints, more): Taints => ({
      untrusted: firstOf(taints.untrusted, fromStart(more.untrusted)),
      private: taints.private ?? fromStart(more.private),
      outside: taints.outside,
    }),
    first,
  )
  return steps.reduce(
    (taints, { seq, name, addsTaint, leftMachine }): Taints => ({
      untrusted: firstOf(taints.untrusted, addsTaint.includes('untrusted') ? resultOf(seq, name) : null),
      private: taints.private ?? (addsTaint.includes('private') ? resultOf(seq, name) : null),
      outside: taints.outside ?? (leftMachine ? { seq, cause: quote(name) } : null),
    }),
    atStart,
  )
}

function resultOf(seq: number, tool: string): TaintSource {
  return { seq, cause: createMessage('taint_result', { tool }) }
}

function fromStart(source: TaintSource | null): TaintSource | null {
  return source === null ? null : { ...source, seq: 0 }
}

const CURSOR_IN_PROMPT: TaintSource = { seq: 0, cause: createMessage('taint_earlier_runs') }
const MEMORY_IN_PROMPT: Taints = { ...NO_TAINTS, private: { seq: 0, cause: createMessage('taint_memories') } }
const OWNER_IN_PROMPT: Taints = { ...NO_TAINTS, private: { seq: 0, cause: createMessage('taint_owner_turns') } }

const JOB = {
  id: jobs.id,
  seq: jobs.seq,
  channel: jobs.channel,
  conversationId: jobs.conversationId,
  parentJobId: jobs.parentJobId,
  fromOwner: sql<number | null>`json_extract(${jobTexts.context}, '$.fromOwner')`,
  overMcp: sql<number | null>`json_extract(${jobTexts.context}, '$.overMcp')`,
  isGuest: sql<number | null>`json_extract(${jobTexts.context}, '$.isGuest')`,
  /** See `keepTaintsOfTurns`. */
  keptTaints: sql<string | null>`json_extract(${jobTexts.context}, '$.keptTaints')`,
}

function selectJobs(db: Db) {
  return db.select(JOB).from(jobs).innerJoin(jobTexts, eq(jobTexts.jobSeq, jobs.seq))
}

const JOB_BY_ID = prepareOnce((db: Db) => selectJobs(db).where(eq(jobs.id, sql.placeholder('jobId'))))

type TaintedJob = NonNullable<ReturnType<ReturnType<typeof selectJobs>['get']>>

/**
 * The taints of a job as recorded now. It inherits those of its parent job, of the earlier turns of its
 * conversation, and of the earlier runs of its schedule, because it reads their text. `besides`: without what was read from this
 * origin with a connected account.
 */
export function readTaints(db: Db, jobId: string, besides: string | null = null): Taints {
  // In loops and each job once, because clients may put any number of jobs under one another.
  const found = new Map<string, TaintedJob & { parentsOfTurns: string[] }>()
  const open = [jobId]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const job = found.has(id) ? undefined : JOB_BY_ID(db).get({ jobId: id })
    if (job === undefined) continue
    const parentsOfTurns = PARENTS_OF_EARLIER_TURNS(db)
      .all(job)
      .flatMap(({ parentJobId }) => parentJobId ?? [])
    found.set(id, { ...job, parentsOfTurns })
    open.push(...parentsOfTurns, ...(job.parentJobId === null ? [] : [job.parentJobId]))
  }
  // A job is newer than those that it inherits from.
  const known = new Map<string, Taints>()
  const taintsOfJob = (id: string) => known.get(id) ?? NO_TAINTS
  for (const job of [...found.values()].sort((a, b) => a.seq - b.seq)) {
    const ofTurns = job.parentsOfTurns.map(taintsOfJob)
    known.set(
      job.id,
      taintsUnder(db, job, { above: job.parentJobId === null ? NO_TAINTS : taintsOfJob(job.parentJobId), ofTurns }, besides),
    )
  }
  return taintsOfJob(jobId)
}

/**
 * `above`: the taints of its parent, also when a person retried the job or a client made it: its task may be text of the parent.
 * `ofTurns`: those of the parents of earlier turns of its conversation.
 */
function taintsUnder(db: Db, job: TaintedJob, { above, ofTurns }: { above: Taints; ofTurns: Taints[] }, besides: string | null): Taints {
  const inherited: Taints[] = hasPromptMemories(db, job.id) ? [MEMORY_IN_PROMPT] : []
  const ofCursor = readCursorTaints(db, job.id)
  inherited.push({
    ...NO_TAINTS,
    untrusted: ofCursor.includes('untrusted') ? CURSOR_IN_PROMPT : null,
    private: ofCursor.includes('private') ? CURSOR_IN_PROMPT : null,
  })
  inherited.push(above)
  if (job.keptTaints !== null) inherited.push(Taints.safeParse(parseJson(job.keptTaints)).data ?? NO_TAINTS)
  if (job.conversationId !== null) inherited.push(...taintsOfEarlierTurns(db, job, job.conversationId, besides), ...ofTurns)
  return taintsOf(originOf(job), inherited, taintedSteps(STEPS_OF_JOB(db).all({ jobSeq: job.seq, origin: besides })))
}

function taintsOfEarlierTurns(db: Db, { seq, isGuest }: TaintedJob, conversationId: string, besides: string | null): Taints[] {
  const isEarlier = and(eq(jobs.conversationId, conversationId), lt(jobs.seq, seq))
  const turns = selectJobs(db)
    .where(and(isEarlier, notInArray(jobs.channel, ['chat', 'api', 'schedule'])))
    .all()
  const steps = taintedSteps(STEPS_OF_EARLIER_TURNS(db).all({ conversationId, seq, origin: besides }))
  const memories = hadPromptMemories(db, conversationId, seq) ? [MEMORY_IN_PROMPT] : []
  const ofTurns = [
    ...turns.map((turn) => taintsOf(originOf(turn), [], [])),
    taintsOf({ channel: 'chat', fromOwner: true }, memories, steps),
  ]
  // A guest has not seen what the owner wrote into the conversation in the app, nor the answers.
  const isOwners = and(isEarlier, inArray(jobs.channel, ['chat', 'api']))
  const hasOwnerTurn = isGuest === 1 && db.select({ seq: jobs.seq }).from(jobs).where(isOwners).limit(1).get() !== undefined
  return hasOwnerTurn ? [...ofTurns, OWNER_IN_PROMPT] : ofTurns
}

const HAS_CHILDREN = sql`EXISTS (SELECT 1 FROM agent_jobs AS child WHERE child.parent_job_id = agent_jobs.id)`

/**
 * Before a conversation is deleted. Its jobs stay and lose their earlier turns, but the jobs below them were made from those, and may
 * be retried. So the jobs in between keep their taints.
 */
export function keepTaintsOfTurns(tx: Tx, conversationId: string): void {
  const parents = tx
    .select({ id: jobs.id, seq: jobs.seq })
    .from(jobs)
    .where(and(eq(jobs.conversationId, conversationId), HAS_CHILDREN))
    .orderBy(jobs.seq)
    .all()
  let taints = NO_TAINTS
  for (const { id, seq } of parents) {
    // A later turn has those of an earlier one, too.
    if (taints.private === null || taints.untrusted === null || isOverMcp(taints.untrusted)) taints = readTaints(tx, id)
    if (taints.private === null && taints.untrusted === null) continue
    const kept = JSON.stringify(taints)
    tx.update(jobTexts)
      .set({ context: sql`json_set(coalesce(${jobTexts.context}, '{}'), '$.keptTaints', json(${kept}))` })
      .where(eq(jobTexts.jobSeq, seq))
      .run()
  }
}

function originOf({ channel, fromOwner, overMcp }: TaintedJob): Origin {
  return { channel, fromOwner: fromOwner === 1, overMcp: overMcp === 1 }
}

/**
 * The first step of each kind is enough, because taints stay. The condition is that of the partial index. Without what was read
 * from `origin`; null: with everything.
 */
function selectSteps(db: Db, which: SQL) {
  const { seq, name, addsTaint, leftMachine } = jobSteps
  return db
    .select({ seq, name, addsTaint, leftMachine, first: sql<number>`min(${jobSteps.id})` })
    .from(jobSteps)
    .where(and(which, sql`(${addsTaint} IS NOT NULL OR ${leftMachine} = 1)`, IS_ELSEWHERE))
    .groupBy(addsTaint, leftMachine)
    .orderBy(sql`min(${jobSteps.id})`)
}

const IS_OF_STEP = sql`${decisions.jobSeq} = ${jobSteps.jobSeq} AND ${decisions.callId} = ${jobSteps.callId}`
const IS_FROM_ORIGIN = sql`${IS_OF_STEP} AND json_extract(${decisions.facts}, '$.readsFrom') = ${sql.placeholder('origin')}`
const IS_ELSEWHERE = sql`(${sql.placeholder('origin')} IS NULL OR NOT EXISTS (SELECT 1 FROM ${decisions} WHERE ${IS_FROM_ORIGIN}))`

const PARENTS_OF_EARLIER_TURNS = prepareOnce((db: Db) =>
  db
    .selectDistinct({ parentJobId: jobs.parentJobId })
    .from(jobs)
    .where(
      and(eq(jobs.conversationId, sql.placeholder('conversationId')), lt(jobs.seq, sql.placeholder('seq')), isNotNull(jobs.parentJobId)),
    ),
)
const STEPS_OF_JOB = prepareOnce((db: Db) => selectSteps(db, eq(jobSteps.jobSeq, sql.placeholder('jobSeq'))))
const STEPS_OF_EARLIER_TURNS = prepareOnce((db: Db) => {
  const isEarlier = and(eq(jobs.conversationId, sql.placeholder('conversationId')), lt(jobs.seq, sql.placeholder('seq')))
  return selectSteps(db, inArray(jobSteps.jobSeq, db.select({ seq: jobs.seq }).from(jobs).where(isEarlier)))
})

function taintedSteps(rows: ReturnType<ReturnType<typeof selectSteps>['all']>): TaintedStep[] {
  return rows.map((row) => ({
    seq: row.seq,
    name: row.name!,
    addsTaint: (row.addsTaint?.split(',') ?? []) as Taint[],
    leftMachine: row.leftMachine === true,
  }))
}
