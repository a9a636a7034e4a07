import type { Message } from '../../contract/messages.ts'
import { createMessage, type Speech } from '../../lib/messages.ts'
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { NotifyVia } from '../../contract/triggers.ts'
import { findApproval } from '../approvals/find-approval.ts'
import { choicesOf, needsCompleteCall } from '../approvals/answer-choices.ts'
import { readTaints } from '../approvals/taints.ts'
import { findChannelPersonOfConversation, findOwnerConversation, type ChannelChat, type NoAddress } from './owner-conversation.ts'
import type { MovedJob } from '../jobs/job-deps.ts'
import { jobs, jobTexts } from '../jobs/jobs-table.ts'
import type { ExhaustedSchedule } from '../schedules/schedule-deps.ts'
import { eachVia } from '../schedules/notify-via.ts'
import { schedules } from '../schedules/schedules-table.ts'
import { triggers } from '../triggers/triggers-table.ts'
import { agents } from '../agents/agents-table.ts'
import { findFirstJob } from './channels.sql.ts'
import { approvalText, confirmationText, exhaustedText, linkText, replyText } from '../outbox/message-texts.ts'
import type { Button } from '../outbox/outgoing.ts'
import { writeOutbound, type NewOutbound } from '../outbox/write-message.ts'

export type OwnerNotificationsDeps = Pick<Services, 'clock' | 'ids' | 'log'> & {
  speech: Speech
  /** The address of the dashboard for other devices. null: it is only on this machine. */
  dashboardUrl: () => string | null
  /** Called when a schedule's run succeeded and nobody could be notified. */
  markNotifyUnreachable(tx: Tx, scheduleId: string): void
}

/** Writes replies and notifications to the outbox, each in the transaction of what it reports. */
export function createOwnerNotifications(deps: OwnerNotificationsDeps) {
  const link = (path: string, screen: Parameters<typeof linkText>[2]['screen']) =>
    linkText(deps.speech(), deps.dashboardUrl(), { path, screen })

  return {
    jobEnded(tx: Tx, job: MovedJob): void {
      if (MESSAGE_CHANNELS.has(job.channel)) reply(tx, deps, job)
      else if (job.status === 'completed') confirm(tx, deps, job, link(`/jobs/${job.id}`, 'activity'))
    },

    approvalAsked(tx: Tx, approvalId: string): void {
      const approval = findApproval(tx, approvalId)
      if (approval === null) return
      const { agentId, jobId } = approval
      const first = findFirstJob(tx, jobId)
      const asker = first.conversationId === null ? null : findChannelPersonOfConversation(tx, first.conversationId)
      if (asker?.role === 'allowed' && first.channel !== 'chat') {
        const { agentId: spokenWith, jobId: turnId } = first
        const message = { key: `waits:${turnId}`, kind: 'reply', agentId: spokenWith, jobId: turnId } as const
        writeOutbound(tx, deps, { ...message, text: deps.speech()('outbound.waitsForOwner'), to: asker })
      }
      const owner = asker?.role === 'owner' ? asker : findOwner(tx, [agentId, first.agentId])
      // The app shows the approval in any case, so a missing address is no failure.
      if ('noAddress' in owner) return
      const text = approvalText(deps.speech(), approval, link(`/approvals?id=${approvalId}`, 'approvals'), owner.kind !== 'messenger')
      const buttons = choicesOf(deps.speech(), approval).map(({ label, decision, answer }, n): Button => {
        const action = answer === undefined ? `${decision}:${approvalId}` : `choose:${approvalId}:${n}`
        return { label, action, ...(decision === 'approve' && needsCompleteCall(approval) ? { needsCompleteCall: true } : {}) }
      })
      writeOutbound(tx, deps, { key: `approval:${approvalId}`, kind: 'approval', agentId, jobId, approvalId, text, buttons, to: owner })
    },

    budgetExhausted(tx: Tx, schedule: ExhaustedSchedule): void {
      const { scheduleId, agentId, notifyVia, resumeAt } = schedule
      const text = exhaustedText(
        deps.speech(),
        { ...schedule, agentName: nameOfAgent(tx, agentId) },
        link(`/automations/schedules/${scheduleId}`, 'automations'),
      )
      const message = { key: `exhausted:${scheduleId}:${resumeAt}`, kind: 'notification', agentId, jobId: null, text } as const
      writeToOwner(tx, deps, message, eachVia(notifyVia))
    },
  }
}

/** The owner of the first of these agents that has one. */
function findOwner(db: Db, agentIds: readonly string[]): ChannelChat | NoAddress {
  const found = agentIds.map((agentId) => findOwnerConversation(db, agentId, 'auto'))
  return found.find((one) => !('noAddress' in one)) ?? found[0]!
}

/** Jobs of these channels were started by a message, so they get a reply. */
const MESSAGE_CHANNELS: ReadonlySet<string> = new Set(['telegram', 'discord', 'slack', 'messenger'])

function reply(tx: Tx, deps: OwnerNotificationsDeps, job: MovedJob): void {
  const person = job.conversationId === null ? null : findChannelPersonOfConversation(tx, job.conversationId)
  const { startedByGuest, ...outcomeOfJob } = readOutcome(tx, job)
  const text = replyText(deps.speech(), outcomeOfJob, person?.role === 'owner')
  const to = person === null ? createMessage('sent_chat_removed') : person.role === 'refused' ? createMessage('sent_to_refused') : person
  const files = job.status === 'completed' ? readFiles(tx, job.id) : []
  const wasOwner = startedByGuest !== 1
  const held = person?.role === 'allowed' ? whyHeld(tx, job.id, { files, wasOwner }) : undefined
  const about = { agentId: job.agentId, jobId: job.id, to }
  const outcome = writeOutbound(tx, deps, { ...about, key: `reply:${job.id}`, kind: 'reply', text, files, held })
  if (outcome !== 'held') return
  writeOutbound(tx, deps, { ...about, key: `held:${job.id}`, kind: 'notification', text: deps.speech()('outbound.heldForOwner') })
}

/**
 * A reply to a guest leaves the machine, so the owner decides if the job has private data or files, or if it was told that it
 * talks with the owner.
 */
function whyHeld(db: Db, jobId: string, { files, wasOwner }: { files: readonly string[]; wasOwner: boolean }): Message | undefined {
  if (wasOwner) return createMessage('sent_former_owner')
  if (readTaints(db, jobId).private !== null) return createMessage('sent_guest_private')
  return files.length === 0 ? undefined : createMessage('sent_guest_files')
}

function confirm(tx: Tx, deps: OwnerNotificationsDeps, job: MovedJob, link: string): void {
  const origin = findNotifyingOrigin(tx, job)
  if (origin === null) return
  const text = confirmationText(deps.speech(), readOutcome(tx, job), origin.name, link)
  const message = { key: `confirmation:${job.id}`, kind: 'confirmation', agentId: job.agentId, jobId: job.id, text } as const
  const outcome = writeToOwner(tx, deps, message, eachVia(origin.via))
  if (outcome === 'not_sent' && job.scheduleId !== null) deps.markNotifyUnreachable(tx, job.scheduleId)
}

/** Writes one message for each of these channels. `not_sent`: none of them has an address. */
function writeToOwner(
  tx: Tx,
  deps: OwnerNotificationsDeps,
  message: Omit<NewOutbound, 'to'>,
  vias: readonly NotifyVia[],
): ReturnType<typeof writeOutbound> {
  const key = (via: NotifyVia) => (vias.length === 1 ? message.key : `${message.key}:${via}`)
  const outcomes = vias.map((via) => writeVia(tx, deps, { ...message, key: key(via) }, via))
  return outcomes.find((outcome) => outcome !== 'not_sent') ?? 'not_sent'
}

function writeVia(
  tx: Tx,
  deps: OwnerNotificationsDeps,
  message: Omit<NewOutbound, 'to'>,
  via: NotifyVia,
): ReturnType<typeof writeOutbound> {
  const owner = findOwnerConversation(tx, message.agentId, via)
  const to: ChannelChat | Message = 'noAddress' in owner ? WHY_NO_ADDRESS[owner.noAddress] : owner
  const outcome = writeOutbound(tx, deps, { ...message, to })
  if (outcome === 'not_sent') {
    const { agentId, jobId, kind } = message
    tx.afterCommit(() => deps.log.info({ agentId, jobId, kind, via, why: to }, 'a message has no address'))
  }
  return outcome
}

const WHY_NO_ADDRESS: Record<NoAddress['noAddress'], Message> = {
  no_channel: createMessage('sent_no_channel'),
  not_on_that_channel: createMessage('sent_not_on_channel'),
  no_owner: createMessage('sent_no_owner'),
}

/** The schedule or webhook of the job, if the owner is to be notified of this success. */
function findNotifyingOrigin(
  db: Db,
  { id, scheduleId, triggerId }: MovedJob,
): { name: string; via: ExhaustedSchedule['notifyVia'] } | null {
  const [table, originId] = scheduleId === null ? [triggers, triggerId] : [schedules, scheduleId]
  if (originId === null) return null
  const origin = db
    .select({ name: table.name, via: table.notifyVia })
    .from(table)
    .innerJoin(jobs, eq(jobs.id, id))
    .where(and(eq(table.id, originId), eq(table.notifyOnSuccess, true), eq(jobs.noOp, false)))
    .get()
  return origin ?? null
}

function readOutcome(db: Db, { id }: MovedJob) {
  return db
    .select({
      status: jobs.status,
      agentName: agents.name,
      title: jobs.title,
      result: jobTexts.result,
      errorMessage: jobs.errorMessage,
      startedByGuest: sql<number | null>`json_extract(${jobTexts.context}, '$.isGuest')`,
    })
    .from(jobs)
    .innerJoin(agents, eq(agents.id, jobs.agentId))
    .innerJoin(jobTexts, eq(jobTexts.jobSeq, jobs.seq))
    .where(eq(jobs.id, id))
    .get()!
}

function readFiles(db: Db, jobId: string): string[] {
  const isOfJob = inArray(jobTexts.jobSeq, db.select({ seq: jobs.seq }).from(jobs).where(eq(jobs.id, jobId)))
  return db.select({ output: jobTexts.output }).from(jobTexts).where(isOfJob).get()?.output?.files ?? []
}

function nameOfAgent(db: Db, agentId: string): string {
  return db.select({ name: agents.name }).from(agents).where(eq(agents.id, agentId)).get()?.name ?? 'An agent'
}
