import { z } from 'zod'
import { ApprovalKind } from './approval-kinds.ts'
import { Asked } from './approvals.ts'
import { ChannelKind } from './channels.ts'
import { DatabaseTrouble } from './database.ts'
import { Id, Moment, Usd } from './primitives.ts'
import { Said } from './said.ts'
import { DeliveryOutcome } from './triggers.ts'

/** What a person is told of although the window may be closed. */
export const NoticeKind = z.enum([
  'job_failed',
  'approval_waiting',
  /** A cap of a job, an agent or all agents. */
  'budget_reached',
  /** A schedule's budget of the day. */
  'budget_exhausted',
  'delivery_impossible',
  'channel_logged_out',
  'channel_request',
  'public_address_unreachable',
])
export type NoticeKind = z.infer<typeof NoticeKind>

/** What a notice tells, for a desktop that has words of its own. Its title and its text say the same in English. */
export const NoticeAbout = z.discriminatedUnion('code', [
  /** Under the title of the job. */
  z.object({ code: z.literal('job_failed') }),
  /** No model answers it. It goes on by itself, and is of the same kind as a failure: a person may have to do something. */
  z.object({ code: z.literal('job_postponed'), job: z.string() }),
  /** `asked` left out: in the words of whoever asks. */
  z.object({ code: z.literal('approval'), kind: ApprovalKind, agentName: z.string(), asked: Asked.optional() }),
  z.object({ code: z.literal('budget_exhausted'), schedule: z.string() }),
  z.object({ code: z.literal('delivery_impossible'), agentName: z.string() }),
  z.object({ code: z.literal('channel_logged_out'), agentName: z.string(), service: ChannelKind }),
  z.object({ code: z.literal('channel_request'), agentName: z.string(), service: ChannelKind, person: z.string() }),
  /** `exposed`: more than webhooks is reached through it. */
  z.object({ code: z.literal('public_address_unreachable'), exposed: z.boolean().optional() }),
  z.object({ code: z.literal('database_trouble'), trouble: DatabaseTrouble }),
  /** Several as one. */
  z.object({ code: z.literal('several'), counts: z.array(z.object({ kind: NoticeKind, count: z.number().int() })) }),
])
export type NoticeAbout = z.infer<typeof NoticeAbout>

/** What a notice can be. One about the database is always shown: a switch for it could not be read when it matters. */
export const ShownNoticeKind = z.enum([...NoticeKind.options, 'database_trouble'])

const ClockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)

/** Desktop notifications: one switch for each kind, and hours of the machine's local day in which none appears. */
export const NotificationSettings = z.object({
  kinds: z.record(NoticeKind, z.boolean()),
  /** May go over midnight: from 22:00 until 07:00. null: none. */
  quietHours: z.object({ from: ClockTime, until: ClockTime }).nullable(),
})
export type NotificationSettings = z.infer<typeof NotificationSettings>

export const DEFAULT_NOTIFICATIONS: NotificationSettings = {
  kinds: {
    job_failed: true,
    approval_waiting: true,
    budget_reached: true,
    budget_exhausted: true,
    delivery_impossible: true,
    channel_logged_out: true,
    channel_request: true,
    public_address_unreachable: true,
  },
  quietHours: null,
}

/** What an entry is about, for a page that has words of its own. */
export const AttentionAbout = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('budget_exhausted'), schedule: z.string(), agentName: z.string(), budgetUsd: Usd }),
  z.object({ kind: z.literal('schedule_missed'), schedule: z.string(), times: z.number().int() }),
  z.object({ kind: z.literal('delivery_refused'), trigger: z.string(), times: z.number().int(), outcome: DeliveryOutcome }),
  z.object({ kind: z.literal('message_undeliverable'), agentName: z.string() }),
  z.object({ kind: z.literal('channel_logged_out'), agentName: z.string(), service: ChannelKind }),
  z.object({ kind: z.literal('channel_failing'), agentName: z.string(), service: ChannelKind }),
  z.object({ kind: z.literal('channel_request'), agentName: z.string(), service: ChannelKind, person: z.string() }),
  z.object({ kind: z.literal('public_address_unreachable'), exposed: z.boolean().optional() }),
  z.object({ kind: z.literal('database_trouble'), trouble: DatabaseTrouble }),
])
export type AttentionAbout = z.infer<typeof AttentionAbout>

/** One thing that needs the person, apart from approvals and failed jobs, which have lists of their own. */
/** What the start found that came after a crash: jobs that were at work then. */
export const Recovery = z.object({ at: Moment, jobs: z.number().int().positive() })
export type Recovery = z.infer<typeof Recovery>

export const AttentionItem = z.object({
  kind: z.enum([
    'budget_exhausted',
    'schedule_missed',
    'delivery_refused',
    'message_undeliverable',
    'channel_logged_out',
    'channel_failing',
    'channel_request',
    'public_address_unreachable',
    'database_trouble',
  ]),
  /** What it is about: a schedule, a trigger, a channel, an outbound message. null: the machine. */
  subjectId: Id.nullable(),
  title: z.string(),
  detail: z.string(),
  about: AttentionAbout.optional(),
  detailSaid: Said.optional(),
  path: z.string(),
  at: Moment,
})
export type AttentionItem = z.infer<typeof AttentionItem>
