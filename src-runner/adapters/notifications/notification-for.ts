import type { Db } from '../../platform/db/database.ts'
import type { Approval } from '../../contract/approvals.ts'
import { SERVICE_NAMES } from '../../contract/channels.ts'
import { CODING_PROGRAM_NAMES } from '../../contract/coding-programs.ts'
import type { DatabaseTrouble } from '../../contract/database.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { Message } from '../../contract/messages.ts'
import type { NotificationKind } from '../../contract/notifications.ts'
import type { Notification } from '../../contract/port.ts'
import type { PublicAddressState } from '../../contract/public-address.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { findApproval } from '../../domain/approvals/find-approval.ts'
import { questionOf } from '../../domain/approvals/question-of.ts'
import { findChannel } from '../../domain/channels/channels.ts'
import { findCodeTask } from '../../domain/code-tasks/code-tasks.ts'
import { findCredential } from '../../domain/credentials/credentials.ts'
import { findJob } from '../../domain/jobs/read-jobs.ts'
import { findOutbound } from '../../domain/outbox/outbox.ts'

/** A notification, and whether it would still be true later. */
export type Candidate = { notification: Notification & { kind: NotificationKind }; isStill(): boolean }

export type NotificationSources = { db: Db; publicAddress(): PublicAddressState | null }

const NAME_CHARS = 200

/** null: the event needs no notification. */
export function notificationFor(event: StoredEvent, sources: NotificationSources): Candidate | null {
  const { db } = sources
  switch (event.type) {
    case 'job.finished': {
      if (event.payload.status !== 'failed') return codeReady(event.payload.jobId, db)
      const job = findJob(db, event.payload.jobId)
      // The job that delegated it gets the failure, and fails itself if it cannot continue.
      if (job === null || job.channel === 'delegation') return null
      return candidate('job_failed', quote(shorten(job.title)), job.errorMessage, `/jobs/${job.id}`)
    }
    case 'job.postponed': {
      const { jobId, message: why } = event.payload
      const job = findJob(db, jobId)
      if (job === null) return null
      const isStill = () => findJob(db, jobId)?.status === 'pending'
      return candidate('job_failed', createMessage('notify_job_postponed', { job: shorten(job.title) }), why, `/jobs/${job.id}`, isStill)
    }
    case 'approval.asked': {
      const approval = findApproval(db, event.payload.approvalId)
      return approval?.status === 'pending' ? notificationOfApproval(approval, db) : null
    }
    case 'schedule.budget_exhausted': {
      const { scheduleId, name } = event.payload
      const path = `/automations/schedules/${scheduleId}`
      const title = createMessage('attention_budget_exhausted', { schedule: shorten(name) })
      return candidate('budget_exhausted', title, createMessage('notify_budget_resumes'), path)
    }
    case 'outbound.failed': {
      const { messageId } = event.payload
      const isGivenUp = () => findOutbound(db, messageId)?.state === 'undeliverable'
      const outbound = findOutbound(db, messageId)
      if (outbound === null || !isGivenUp()) return null
      const title = createMessage('not_delivered', { agentName: outbound.agentName })
      return candidate('delivery_impossible', title, outbound.problem, '/channels', isGivenUp)
    }
    case 'channel.changed': {
      const { channelId } = event.payload
      const isLoggedOut = () => findChannel(db, channelId)?.status === 'logged_out'
      const channel = findChannel(db, channelId)
      if (channel === null || !isLoggedOut()) return null
      const title = createMessage('channel_logged_out', { agentName: channel.agentName, service: SERVICE_NAMES[channel.kind] })
      return candidate('channel_logged_out', title, channel.problem, '/channels', isLoggedOut)
    }
    case 'credential.changed': {
      const { credentialId } = event.payload
      const isRefused = () => findCredential(db, credentialId)?.status === 'needs_sign_in'
      const credential = findCredential(db, credentialId)
      if (credential === null || !isRefused()) return null
      const title = createMessage('credential_refused', { name: shorten(credential.name) })
      return candidate('credential_refused', title, credential.problem, `/connections/${credentialId}`, isRefused)
    }
    case 'channel.access_requested': {
      const { channelId, personId } = event.payload
      const findAsker = () => findChannel(db, channelId)?.people.find(({ id, role }) => id === personId && role === 'requested')
      const channel = findChannel(db, channelId)
      const asker = findAsker()
      if (channel === null || asker === undefined) return null
      const title = createMessage('notify_channel_request', { agentName: channel.agentName })
      const service = SERVICE_NAMES[channel.kind]
      const body = createMessage('notify_channel_request_detail', { person: shorten(asker.displayName), service })
      return candidate('channel_request', title, body, '/channels', () => findAsker() !== undefined)
    }
    case 'public_address.changed': {
      const check = sources.publicAddress()?.check
      if (check?.state !== 'unreachable' && check?.state !== 'exposed') return null
      const { state, problem } = check
      const isStill = () => sources.publicAddress()?.check.state === state
      return candidate('public_address_unreachable', createMessage(`address_${state}`), problem, '/settings/webhooks', isStill)
    }
    default:
      return null
  }
}

/** Several of one kind as one notification. */
export function summaryOf(kind: NotificationKind, count: number): Notification {
  return { kind, title: countOf(kind, count), body: createMessage('notify_open'), path: SUMMARY_PATHS[kind] }
}

/** Several kinds as one notification, which leads to the list of all. */
export function summaryOfAll(notifications: readonly Notification[]): Notification {
  const byKind = Object.groupBy(notifications, ({ kind }) => kind)
  const kinds = (Object.keys(SUMMARY_PATHS) as NotificationKind[]).filter((kind) => byKind[kind] !== undefined)
  if (kinds.length === 1) return summaryOf(kinds[0]!, notifications.length)
  const counts = kinds.map((kind) => countOf(kind, byKind[kind]!.length))
  const body = counts.reduce((first, second) => createMessage('notify_list', { first, second }))
  return { kind: kinds[0]!, title: createMessage('notify_several'), body, path: '/' }
}

function countOf(kind: NotificationKind, count: number): Message {
  return createMessage(`notify_count_${kind}`, { count })
}

/** In the order of urgency: what waits for the person, then what failed, then the rest. */
const SUMMARY_PATHS: Record<NotificationKind, string> = {
  approval_waiting: '/approvals',
  budget_reached: '/approvals',
  channel_request: '/channels',
  channel_logged_out: '/channels',
  credential_refused: '/connections',
  public_address_unreachable: '/settings/webhooks',
  job_failed: '/activity?status=failed',
  code_ready: '/code',
  delivery_impossible: '/channels',
  budget_exhausted: '/automations',
}

/** A task of a coding program takes long, so its end is news. One that an agent asked for is the agent's to look at. */
function codeReady(jobId: string, db: Db): Candidate | null {
  const task = findCodeTask(db, jobId)
  if (task?.result !== 'ready' || findJob(db, jobId)?.channel === 'delegation') return null
  const body = createMessage('notify_code_ready', { program: CODING_PROGRAM_NAMES[task.cli], count: task.fileCount })
  return candidate('code_ready', quote(shorten(task.title)), body, `/jobs/${jobId}`, () => findCodeTask(db, jobId)?.result === 'ready')
}

const APPROVAL_TITLES = {
  tool: 'notify_approval',
  question: 'notify_question',
  unknown_outcome: 'notify_unknown_outcome',
  budget: 'notify_limit',
} as const

function notificationOfApproval(approval: Approval, db: Db): Candidate {
  const { id, kind, agentName, jobTitle } = approval
  const server = approval.question?.server
  const title =
    server === undefined
      ? createMessage(APPROVAL_TITLES[kind], { agentName })
      : createMessage('notify_server_question', { agentName, server })
  const isStill = () => findApproval(db, id)?.status === 'pending'
  const path = `/approvals?id=${id}`
  if (kind === 'budget') return candidate('budget_reached', title, quote(shorten(jobTitle)), path, isStill)
  return candidate('approval_waiting', title, questionOf(approval), path, isStill)
}

/** Shown even in quiet hours: every job waits for it. */
export function notificationOfDatabase(trouble: DatabaseTrouble): Notification {
  return {
    kind: 'database_trouble',
    title: createMessage(`database_${trouble}`),
    body: createMessage(`database_${trouble}_detail`, { fix: createMessage(`database_${trouble}_fix`) }),
    path: '/settings/health',
  }
}

function candidate(
  kind: NotificationKind,
  title: Message,
  body: Message | null,
  path: string,
  isStill: () => boolean = () => true,
): Candidate {
  return { notification: { kind, title, body, path }, isStill }
}

/** Limits what is sent. The desktop shortens what it shows. */
function shorten(text: string): string {
  const chars = [...text.replace(/\s+/g, ' ').trim()]
  return chars.length <= NAME_CHARS ? chars.join('') : `${chars.slice(0, NAME_CHARS - 1).join('')}…`
}
