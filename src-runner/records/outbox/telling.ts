import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import { JobOutput, type JobChannel, type JobStatus } from '../../contract/jobs.ts'
import type { NotifyVia } from '../../contract/triggers.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Ids } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import { say } from '../../kit/said.ts'
import { findApproval } from '../approvals/approval-rows.ts'
import { choicesOf, needsToBeWhole } from '../approvals/choices.ts'
import { readMarks } from '../approvals/marks.ts'
import { findChannelPersonOfConversation, findOwnerConversation, type ChannelChat, type Nowhere } from '../channels/owner-conversation.ts'
import type { MovedJob } from '../jobs/job-deps.ts'
import {
  approvalText,
  showsEverything,
  confirmationText,
  exhaustedText,
  HELD_FOR_OWNER,
  linkTo,
  replyText,
  WAITS_FOR_OWNER,
} from './message-texts.ts'
import type { Button } from './outgoing.ts'
import { writeOutbound, type NewOutbound } from './writing.ts'

export type TellingDeps = {
  clock: Clock
  ids: Ids
  log: Log
  /** Where people open the dashboard from elsewhere; null: only on this machine. */
  dashboardUrl: () => string | null
  /** A schedule's run succeeded, and there was nobody to tell. */
  markNotifyUnreachable(tx: Tx, scheduleId: string): void
}

/** A schedule whose budget of its local day is spent. */
export type SpentSchedule = {
  scheduleId: string
  agentId: string
  name: string
  dailyBudgetUsd: number
  notifyVia: NotifyVia
  /** When its next local day begins. */
  resumeAt: number
}

export type Telling = {
  jobEnded(tx: Tx, job: MovedJob): void
  approvalAsked(tx: Tx, approvalId: string): void
  budgetExhausted(tx: Tx, schedule: SpentSchedule): void
}

/** Writes what people are told over channels, each in the transaction of what it tells of. */
export function createTelling(deps: TellingDeps): Telling {
  const link = (path: string, screen: string) => linkTo(deps.dashboardUrl(), { path, screen })

  return {
    jobEnded(tx, job) {
      if (MESSAGE_CHANNELS.has(job.channel)) reply(tx, deps, job)
      else if (job.status === 'completed') confirm(tx, deps, job, link(`/jobs/${job.id}`, 'Activity'))
    },

    approvalAsked(tx, approvalId) {
      const approval = findApproval(tx, approvalId)
      if (approval === null) return
      const { agentId, jobId } = approval
      const first = findFirstJob(tx, jobId)
      const asker = first.conversationId === null ? null : findChannelPersonOfConversation(tx, first.conversationId)
      if (asker?.role === 'allowed' && first.channel !== 'chat') {
        const { agentId: spokenWith, jobId: turnId } = first
        const message = { key: `waits:${turnId}`, kind: 'reply', agentId: spokenWith, jobId: turnId, text: WAITS_FOR_OWNER } as const
        writeOutbound(tx, deps, { ...message, to: asker })
      }
      const owner = asker?.role === 'owner' ? asker : findOwner(tx, [agentId, first.agentId])
      // Approvals wait in the app in any case: an agent without an owner to write to owes nobody this message.
      if ('nowhere' in owner) return
      const text = approvalText(approval, link(`/approvals?id=${approvalId}`, 'Approvals'))
      const buttons = choicesOf(approval).map(({ label, decision, answer }, n): Button => {
        const needsWhole = decision === 'approve' && needsToBeWhole(approval)
        const action = answer === undefined ? `${decision}:${approvalId}` : `choose:${approvalId}:${n}`
        return { label, action, ...(needsWhole ? { whole: true } : {}) }
      })
      const offered = showsEverything(approval) ? buttons : buttons.filter(({ whole }) => whole !== true)
      writeOutbound(tx, deps, {
        key: `approval:${approvalId}`,
        kind: 'approval',
        agentId,
        jobId,
        approvalId,
        text,
        buttons: offered,
        to: owner,
      })
    },

    budgetExhausted(tx, schedule) {
      const { scheduleId, agentId, notifyVia, resumeAt } = schedule
      const text = exhaustedText(
        { ...schedule, agentName: nameOfAgent(tx, agentId) },
        link(`/automations/schedules/${scheduleId}`, 'Automations'),
      )
      const message = { key: `exhausted:${scheduleId}:${resumeAt}`, kind: 'notice', agentId, jobId: null, text } as const
      writeToOwner(tx, deps, message, notifyVia)
    },
  }
}

/** The job that somebody asked for, when others were handed on from it; otherwise the job itself. */
function findFirstJob(db: Db, jobId: string): { jobId: string; agentId: string; channel: JobChannel; conversationId: string | null } {
  return db
    .prepare<{ jobId: string; agentId: string; channel: JobChannel; conversationId: string | null }>(
      `WITH RECURSIVE above (id, depth) AS (
         SELECT ?, 0
         UNION ALL
         SELECT job.parent_job_id, depth + 1 FROM above JOIN agent_jobs AS job ON job.id = above.id
         WHERE job.channel = 'delegation' AND job.parent_job_id IS NOT NULL)
       SELECT job.id AS jobId, job.agent_id AS agentId, job.channel, job.conversation_id AS conversationId
       FROM above JOIN agent_jobs AS job ON job.id = above.id ORDER BY depth DESC LIMIT 1`,
    )
    .get(jobId)!
}

/** Of the first of these agents that has one. */
function findOwner(db: Db, agentIds: readonly string[]): ChannelChat | Nowhere {
  const found = agentIds.map((agentId) => findOwnerConversation(db, agentId, 'auto'))
  return found.find((one) => !('nowhere' in one)) ?? found[0]!
}

/** Where a message started the job, and an answer goes back. */
const MESSAGE_CHANNELS: ReadonlySet<string> = new Set(['telegram', 'discord', 'slack', 'messenger'])

function reply(tx: Tx, deps: TellingDeps, job: MovedJob): void {
  const person = job.conversationId === null ? null : findChannelPersonOfConversation(tx, job.conversationId)
  const text = replyText(readEnding(tx, job), person?.role === 'owner')
  const to = person === null ? say('sent_chat_removed') : person.role === 'refused' ? say('sent_to_refused') : person
  const files = job.status === 'completed' ? readFiles(tx, job.id) : []
  const held = person?.role === 'allowed' ? whyHeld(tx, job.id, files) : undefined
  const outcome = writeOutbound(tx, deps, {
    key: `reply:${job.id}`,
    kind: 'reply',
    agentId: job.agentId,
    jobId: job.id,
    text,
    files,
    to,
    held,
  })
  if (outcome !== 'held') return
  writeOutbound(tx, deps, { key: `held:${job.id}`, kind: 'notice', agentId: job.agentId, jobId: job.id, text: HELD_FOR_OWNER, to })
}

/** What is sent to somebody else leaves the machine: with private data in the job, or a file that it need not have read, a person decides. */
function whyHeld(db: Db, jobId: string, files: readonly string[]): string | undefined {
  if (readMarks(db, jobId).private !== null) {
    return say('sent_guest_private')
  }
  if (files.length === 0) return undefined
  return say('sent_guest_files')
}

function confirm(tx: Tx, deps: TellingDeps, job: MovedJob, link: string): void {
  const wish = readWish(tx, job)
  if (wish === null) return
  const text = confirmationText(readEnding(tx, job), wish.name, link)
  const message = { key: `confirmation:${job.id}`, kind: 'confirmation', agentId: job.agentId, jobId: job.id, text } as const
  const outcome = writeToOwner(tx, deps, message, wish.via)
  if (outcome === 'nowhere' && job.scheduleId !== null) deps.markNotifyUnreachable(tx, job.scheduleId)
}

function writeToOwner(tx: Tx, deps: TellingDeps, message: Omit<NewOutbound, 'to'>, via: NotifyVia): ReturnType<typeof writeOutbound> {
  const owner = findOwnerConversation(tx, message.agentId, via)
  const to: ChannelChat | string = 'nowhere' in owner ? WHY_NOWHERE[owner.nowhere] : owner
  const outcome = writeOutbound(tx, deps, { ...message, to })
  if (outcome === 'nowhere') {
    const { agentId, jobId, kind } = message
    tx.afterCommit(() => deps.log.info({ agentId, jobId, kind, via, why: to }, 'a message had nowhere to go'))
  }
  return outcome
}

const WHY_NOWHERE: Record<Nowhere['nowhere'], string> = {
  no_channel: say('sent_no_channel'),
  not_on_that_channel: say('sent_not_on_channel'),
  no_owner: say('sent_no_owner'),
}

/** Whether somebody wants to hear that this job succeeded, and what started it. null: nobody does. */
function readWish(db: Db, job: MovedJob): { name: string; via: NotifyVia } | null {
  const [table, id] = job.scheduleId === null ? ['webhook_triggers', job.triggerId] : ['schedules', job.scheduleId]
  if (id === null) return null
  const wish = db
    .prepare<{ name: string; via: NotifyVia }>(
      `SELECT origin.name, origin.notify_via AS via FROM ${table} AS origin JOIN agent_jobs AS job ON job.id = ?
       WHERE origin.id = ? AND origin.notify_on_success = 1 AND job.quiet = 0`,
    )
    .get(job.id, id)
  return wish ?? null
}

function readEnding(db: Db, { id }: MovedJob) {
  return db
    .prepare<{ status: JobStatus; agentName: string; title: string; result: string | null; errorMessage: string | null }>(
      `SELECT job.status, agent.name AS agentName, job.title, texts.result, job.error_message AS errorMessage FROM agent_jobs AS job
       JOIN agents AS agent ON agent.id = job.agent_id JOIN job_texts AS texts ON texts.job_seq = job.seq WHERE job.id = ?`,
    )
    .get(id)!
}

function readFiles(db: Db, jobId: string): string[] {
  const row = db
    .prepare<{ output: string | null }>(
      'SELECT texts.output FROM job_texts AS texts WHERE texts.job_seq = (SELECT seq FROM agent_jobs WHERE id = ?)',
    )
    .get(jobId)
  return row?.output ? JobOutput.parse(JSON.parse(row.output)).files : []
}

function nameOfAgent(db: Db, agentId: string): string {
  return db.prepare<{ name: string }>('SELECT name FROM agents WHERE id = ?').get(agentId)?.name ?? 'An agent'
}
