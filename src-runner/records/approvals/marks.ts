import type { Db } from '../../base/db/database.ts'
import type { JobChannel } from '../../contract/jobs.ts'
import { NO_MARKS, type Brings, type Mark, type Marks } from '../../contract/rules.ts'
import { hadPromptMemories, hasPromptMemories } from '../memory/job-memories.ts'
import { readWatchBrings } from '../schedules/watching.ts'

/** A recorded tool step, as far as marks go. */
export type MarkedStep = { seq: number; name: string; brings: readonly Brings[]; leftMachine: boolean }

/** What started the job. `fromOwner`: said by the one who wrote it into the job's context, which is never the model. */
export type Origin = { channel: JobChannel; fromOwner: boolean }

/** Channels through which somebody else than the person in front of the app may speak. */
const OTHERS_SPEAK: Partial<Record<JobChannel, string>> = {
  webhook: 'a webhook started it',
  telegram: 'a message in Telegram started it',
  discord: 'a message in Discord started it',
  slack: 'a message in Slack started it',
  messenger: 'a message in WhatsApp started it',
}

/**
 * How a job is marked: by what started it, by the marks it was handed down, and by its recorded steps, the first cause of
 * each. More steps never take a mark away.
 */
export function marksOf(origin: Origin, inherited: readonly Marks[], steps: readonly MarkedStep[]): Marks {
  const started = OTHERS_SPEAK[origin.channel]
  const first: Marks = {
    ...NO_MARKS,
    untrusted:
      started !== undefined && !origin.fromOwner
        ? { seq: 0, cause: started, about: { code: 'started_by', channel: origin.channel } }
        : null,
  }
  const atStart = inherited.reduce(
    (marks, more): Marks => ({
      untrusted: marks.untrusted ?? handedDown(more.untrusted),
      private: marks.private ?? handedDown(more.private),
      outside: marks.outside,
    }),
    first,
  )
  return steps.reduce(
    (marks, { seq, name, brings, leftMachine }): Marks => ({
      untrusted: marks.untrusted ?? (brings.includes('untrusted') ? answerOf(seq, name) : null),
      private: marks.private ?? (brings.includes('private') ? answerOf(seq, name) : null),
      outside: marks.outside ?? (leftMachine ? { seq, cause: name, about: { code: 'call_of', tool: name } } : null),
    }),
    atStart,
  )
}

function answerOf(seq: number, tool: string): Mark {
  return { seq, cause: `the answer of ${tool}`, about: { code: 'answer_of', tool } }
}

function handedDown(mark: Mark | null): Mark | null {
  return mark === null ? null : { ...mark, seq: 0 }
}

const WATCH_IN_PROMPT: Mark = { seq: 0, cause: 'what the runs before it said and kept, in its prompt', about: { code: 'runs_before' } }
const MEMORY_IN_PROMPT: Marks = {
  ...NO_MARKS,
  private: { seq: 0, cause: 'what the agent remembers, in its prompt', about: { code: 'memories' } },
}

type JobRow = {
  seq: number
  channel: JobChannel
  conversation_id: string | null
  parent_job_id: string | null
  from_owner: number | null
}

const SELECT_JOB = `SELECT job.seq, job.channel, job.conversation_id, job.parent_job_id,
  json_extract(texts.context, '$.fromOwner') AS from_owner FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq`

/**
 * The marks of a job as it is recorded now. A delegated job has those of the job above it; a turn of a conversation
 * those of the turns before it, whose text it reads; a run of a schedule what the runs before it handed on.
 */
export function readMarks(db: Db, jobId: string): Marks {
  const job = db.prepare<JobRow>(`${SELECT_JOB} WHERE job.id = ?`).get(jobId)
  if (job === undefined) return NO_MARKS
  const inherited: Marks[] = hasPromptMemories(db, jobId) ? [MEMORY_IN_PROMPT] : []
  const handedOn = readWatchBrings(db, jobId)
  inherited.push({
    ...NO_MARKS,
    untrusted: handedOn.includes('untrusted') ? WATCH_IN_PROMPT : null,
    private: handedOn.includes('private') ? WATCH_IN_PROMPT : null,
  })
  // Retried by a person it answers no call any more, but its task is still the words of the job above.
  if (job.channel === 'delegation' && job.parent_job_id !== null) inherited.push(readMarks(db, job.parent_job_id))
  if (job.conversation_id !== null) inherited.push(...marksOfEarlierTurns(db, job))
  return marksOf(originOf(job), inherited, readSteps(db, 'step.job_seq = ?', job.seq))
}

function marksOfEarlierTurns(db: Db, job: JobRow): Marks[] {
  const turns = db
    .prepare<JobRow>(`${SELECT_JOB} WHERE job.conversation_id = ? AND job.seq < ? AND job.channel NOT IN ('chat', 'api', 'schedule')`)
    .all(job.conversation_id, job.seq)
  const steps = readSteps(
    db,
    'step.job_seq IN (SELECT seq FROM agent_jobs WHERE conversation_id = ? AND seq < ?)',
    job.conversation_id!,
    job.seq,
  )
  const told = hadPromptMemories(db, job.conversation_id!, job.seq) ? [MEMORY_IN_PROMPT] : []
  return [...turns.map((turn) => marksOf(originOf(turn), [], [])), marksOf({ channel: 'chat', fromOwner: true }, told, steps)]
}

function originOf({ channel, from_owner }: JobRow): Origin {
  return { channel, fromOwner: from_owner === 1 }
}

/** The first step of each kind is enough: marks stay. */
function readSteps(db: Db, which: string, ...params: (string | number)[]): MarkedStep[] {
  const rows = db
    .prepare<{ seq: number; name: string; brings: string | null; left_machine: number | null }>(
      `SELECT step.seq, step.name, step.brings, step.left_machine, min(step.id) FROM job_steps AS step
       WHERE ${which} AND (step.brings IS NOT NULL OR step.left_machine = 1)
       GROUP BY step.brings, step.left_machine ORDER BY min(step.id)`,
    )
    .all(...params)
  return rows.map(({ seq, name, brings, left_machine }) => ({
    seq,
    name,
    brings: (brings?.split(',') ?? []) as Brings[],
    leftMachine: left_machine === 1,
  }))
}
