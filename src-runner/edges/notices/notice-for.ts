import type { Db } from '../../base/db/database.ts'
import type { Approval } from '../../contract/approvals.ts'
import { SERVICE_NAMES } from '../../contract/channels.ts'
import { DATABASE_TROUBLE_WORDS, type DatabaseTrouble } from '../../contract/database.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { NoticeAbout, NoticeKind } from '../../contract/notifications.ts'
import type { Notice } from '../../contract/port.ts'
import type { PublicAddress } from '../../contract/public-address.ts'
import { saidAs } from '../../kit/said.ts'
import { findApproval } from '../../records/approvals/approval-rows.ts'
import { askedOf } from '../../records/approvals/asked.ts'
import { findChannel } from '../../records/channels/channels.ts'
import { findJob } from '../../records/jobs/reading.ts'
import { findOutbound } from '../../records/outbox/outbox.ts'

/** A notice, and whether it would still be true later. */
export type Candidate = { notice: Notice & { kind: NoticeKind }; isStill(): boolean }

export type NoticeSources = { db: Db; publicAddress(): PublicAddress | null }

/** It appears on screens that are locked, so it is short and on one line. */
const TITLE_CHARS = 80
const BODY_CHARS = 200

/** What an event is worth telling. null: nothing, like most. */
export function noticeFor(event: StoredEvent, sources: NoticeSources): Candidate | null {
  const { db } = sources
  switch (event.type) {
    case 'job.finished': {
      if (event.payload.status !== 'failed') return null
      const job = findJob(db, event.payload.jobId)
      // The job that delegated it is told, and fails itself if that is the end of it.
      if (job === null || job.channel === 'delegation') return null
      return candidate({ code: 'job_failed' }, job.title, job.errorMessage ?? '', `/jobs/${job.id}`)
    }
    case 'job.postponed': {
      const { jobId, message } = event.payload
      const job = findJob(db, jobId)
      if (job === null) return null
      const isStill = () => findJob(db, jobId)?.status === 'pending'
      return candidate({ code: 'job_postponed', job: job.title }, `“${job.title}” waits`, message, `/jobs/${job.id}`, isStill)
    }
    case 'approval.asked': {
      const approval = findApproval(db, event.payload.approvalId)
      return approval?.status === 'pending' ? noticeOfApproval(approval, db) : null
    }
    case 'schedule.budget_exhausted': {
      const { scheduleId, name } = event.payload
      const path = `/automations/schedules/${scheduleId}`
      const title = `“${name}” has used up its budget`
      return candidate({ code: 'budget_exhausted', schedule: name }, title, 'It goes on by itself tomorrow.', path)
    }
    case 'outbound.failed': {
      const { messageId } = event.payload
      const isGivenUp = () => findOutbound(db, messageId)?.state === 'undeliverable'
      const message = findOutbound(db, messageId)
      if (message === null || !isGivenUp()) return null
      const title = `A message of ${message.agentName} could not be delivered`
      const about = { code: 'delivery_impossible', agentName: message.agentName } as const
      return candidate(about, title, message.problem, '/channels', isGivenUp)
    }
    case 'channel.changed': {
      const { channelId } = event.payload
      const isLoggedOut = () => findChannel(db, channelId)?.status === 'logged_out'
      const channel = findChannel(db, channelId)
      if (channel === null || !isLoggedOut()) return null
      const title = `${channel.agentName} is logged out of ${SERVICE_NAMES[channel.kind]}`
      const about = { code: 'channel_logged_out', agentName: channel.agentName, service: channel.kind } as const
      return candidate(about, title, channel.problem, '/channels', isLoggedOut)
    }
    case 'channel.asked': {
      const { channelId, personId } = event.payload
      const findAsker = () => findChannel(db, channelId)?.people.find(({ id, role }) => id === personId && role === 'asked')
      const channel = findChannel(db, channelId)
      const asker = findAsker()
      if (channel === null || asker === undefined) return null
      const body = `${asker.displayName} wrote on ${SERVICE_NAMES[channel.kind]} and waits for your word.`
      const { agentName, kind: service } = channel
      const about = { code: 'channel_request', agentName, service, person: asker.displayName } as const
      return candidate(about, `Somebody wants to talk to ${agentName}`, body, '/channels', () => findAsker() !== undefined)
    }
    case 'public_address.changed': {
      const check = sources.publicAddress()?.check
      if (check?.state !== 'unreachable' && check?.state !== 'exposed') return null
      const { state, problem } = check
      const exposed = state === 'exposed'
      const about = { code: 'public_address_unreachable', exposed } as const
      const title = exposed ? 'Deckhand can be reached from the internet' : 'Webhooks cannot reach this machine'
      return candidate(about, title, problem, '/settings/webhooks', () => sources.publicAddress()?.check.state === state)
    }
    default:
      return null
  }
}

/** Many of a kind, as one. */
export function summaryOf(kind: NoticeKind, count: number): Notice {
  const { words, path } = SUMMARIES[kind]
  return { kind, title: words(count), body: 'Open Deckhand to see them.', about: { code: 'several', counts: [{ kind, count }] }, path }
}

/** Of several kinds, as one that leads to where all of them are. */
export function summaryOfAll(notices: readonly Notice[]): Notice {
  const kinds = BY_URGENCY.filter((kind) => notices.some((notice) => notice.kind === kind))
  if (kinds.length === 1) return summaryOf(kinds[0]!, notices.length)
  const counts = kinds.map((kind) => ({ kind, count: notices.filter((notice) => notice.kind === kind).length }))
  const parts = counts.map(({ kind, count }) => SUMMARIES[kind].words(count))
  return { kind: kinds[0]!, title: 'While it was quiet', body: `${parts.join('. ')}.`, about: { code: 'several', counts }, path: '/' }
}

const counted = (one: string, many: string) => (count: number) => (count === 1 ? `1 ${one}` : `${count} ${many}`)

const SUMMARIES: Record<NoticeKind, { words(count: number): string; path: string }> = {
  job_failed: { words: counted('job failed', 'jobs failed'), path: '/activity?status=failed' },
  approval_waiting: { words: counted('decision waits for you', 'decisions wait for you'), path: '/approvals' },
  budget_reached: { words: counted('job has reached a limit', 'jobs have reached a limit'), path: '/approvals' },
  budget_exhausted: { words: counted('schedule has used up its budget', 'schedules have used up their budgets'), path: '/automations' },
  delivery_impossible: { words: counted('message could not be delivered', 'messages could not be delivered'), path: '/channels' },
  channel_logged_out: { words: counted('channel is logged out', 'channels are logged out'), path: '/channels' },
  channel_request: { words: counted('person wants to talk to an agent', 'people want to talk to an agent'), path: '/channels' },
  public_address_unreachable: { words: () => 'Webhooks cannot reach this machine', path: '/settings/webhooks' },
}

/** What waits for an answer first, then what does not work, then what is over. */
const BY_URGENCY: readonly NoticeKind[] = [
  'approval_waiting',
  'budget_reached',
  'channel_request',
  'channel_logged_out',
  'public_address_unreachable',
  'job_failed',
  'delivery_impossible',
  'budget_exhausted',
]

function noticeOfApproval(approval: Approval, db: Db): Candidate {
  const { id, kind, agentName, jobTitle, facts, question, tool } = approval
  const path = `/approvals?id=${id}`
  const isStill = () => findApproval(db, id)?.status === 'pending'
  if (kind === 'budget') return candidate({ code: 'approval', kind, agentName }, `${agentName} reached a limit`, jobTitle, path, isStill)
  const body = question?.text ?? facts?.summary ?? `Did ${tool ?? 'the call'} take effect?`
  const title =
    kind === 'question' ? `${agentName} asks` : kind === 'tool' ? `${agentName} needs your approval` : `${agentName}: what happened?`
  return candidate({ code: 'approval', kind, agentName, ...askedOf(approval) }, title, body, path, isStill)
}

/** Told at once, quiet hours or not: every job waits for it. */
export function noticeOfDatabase(trouble: DatabaseTrouble): Notice {
  const { title, detail, fix } = DATABASE_TROUBLE_WORDS[trouble]
  return {
    ...{ kind: 'database_trouble', title: short(title, TITLE_CHARS), body: short(`${detail} ${fix}`, BODY_CHARS) },
    ...{ about: { code: 'database_trouble', trouble }, path: '/settings/health' },
  }
}

/** Of what is told as it happens and may be held back. */
type CandidateAbout = Exclude<NoticeAbout, { code: 'database_trouble' }>

function candidate(about: CandidateAbout, title: string, body: string, path: string, isStill: () => boolean = () => true): Candidate {
  const said = { title: short(title, TITLE_CHARS), body: short(body, BODY_CHARS), about, ...saidAs('bodySaid', body) }
  return { notice: { kind: kindOf(about), ...said, path }, isStill }
}

function kindOf(about: CandidateAbout): NoticeKind {
  if (about.code === 'several') return about.counts[0]!.kind
  if (about.code === 'job_postponed') return 'job_failed'
  if (about.code !== 'approval') return about.code
  return about.kind === 'budget' ? 'budget_reached' : 'approval_waiting'
}

function short(text: string, most: number): string {
  const chars = [...text.replace(/\s+/g, ' ').trim()]
  return chars.length <= most ? chars.join('') : `${chars.slice(0, most - 1).join('')}…`
}
