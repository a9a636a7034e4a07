import { z } from 'zod'
import { Message } from './messages.ts'
import { Id, Moment } from './primitives.ts'

/** What a person is told of although the window may be closed. */
export const NotificationKind = z.enum([
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
export type NotificationKind = z.infer<typeof NotificationKind>

/** What a notification can be. One about the database is always shown: a switch for it could not be read when it matters. */
export const ShownNotificationKind = z.enum([...NotificationKind.options, 'database_trouble'])

const ClockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)

/** Desktop notifications: one switch for each kind, and hours of the machine's local day in which none appears. */
export const NotificationSettings = z.object({
  kinds: z.record(NotificationKind, z.boolean()),
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

/** Jobs that were running when the last process crashed. */
export const Recovery = z.object({ at: Moment, jobs: z.number().int().positive() })
export type Recovery = z.infer<typeof Recovery>

/** Something that needs the person, besides approvals and failed jobs, which have their own lists. */
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
  title: Message,
  detail: Message.nullable(),
  path: z.string(),
  at: Moment,
})
export type AttentionItem = z.infer<typeof AttentionItem>
