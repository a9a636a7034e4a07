import { z } from 'zod'
import { Message } from './messages.ts'
import { Id, Moment } from './primitives.ts'

/** Desktop notifications that a person can turn off. */
export const NotificationKind = z.enum([
  'job_failed',
  'approval_waiting',
  /** The spending limit of a job, an agent or all agents. */
  'budget_reached',
  /** The daily spending limit of a schedule. */
  'budget_exhausted',
  'delivery_impossible',
  'channel_logged_out',
  'channel_request',
  'credential_refused',
  /** A coding program has left changes for a review. */
  'code_ready',
  'public_address_unreachable',
])
export type NotificationKind = z.infer<typeof NotificationKind>

/** All kinds. `database_trouble` has no switch, because it could not be read when it matters. */
export const ShownNotificationKind = z.enum([...NotificationKind.options, 'database_trouble'])

const ClockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)

function kindsOf<Kind extends string>({ options }: { options: readonly Kind[] }): Record<Kind, z.ZodBoolean> {
  return Object.fromEntries(options.map((kind) => [kind, z.boolean()])) as Record<Kind, z.ZodBoolean>
}

/** `quietHours` are in the machine's local time. */
export const NotificationSettings = z.object({
  // The defaults are for settings that were stored before there were these kinds.
  kinds: z.object({
    ...kindsOf(NotificationKind.exclude(['credential_refused', 'code_ready'])),
    credential_refused: z.boolean().default(true),
    code_ready: z.boolean().default(true),
  }),
  /** May span midnight: from 22:00 until 07:00. */
  quietHours: z.object({ from: ClockTime, until: ClockTime }).nullable(),
})
export type NotificationSettings = z.infer<typeof NotificationSettings>

export const DEFAULT_NOTIFICATIONS: NotificationSettings = {
  kinds: Object.fromEntries(NotificationKind.options.map((kind) => [kind, true])) as NotificationSettings['kinds'],
  quietHours: null,
}

/** Jobs that were running when the last process crashed. */
export const Recovery = z.object({ at: Moment, jobs: z.number().int().positive() })
export type Recovery = z.infer<typeof Recovery>

/** Something that needs the person's attention. Approvals and failed jobs have lists of their own. */
export const AttentionItem = z.object({
  kind: z.enum([
    'budget_exhausted',
    'schedule_missed',
    'delivery_refused',
    'message_undeliverable',
    'channel_logged_out',
    'channel_failing',
    'channel_request',
    /** A connected account that a person must sign in with again. */
    'credential_refused',
    'mcp_server_failing',
    'mcp_tool_changed',
    'public_address_unreachable',
    'public_address_changed',
    'skill_changed',
    'database_trouble',
  ]),
  /** The id of a schedule, trigger, channel, account, MCP server, skill or outbound message. null: the machine. */
  subjectId: Id.nullable(),
  title: Message,
  detail: Message.nullable(),
  path: z.string(),
  at: Moment,
})
export type AttentionItem = z.infer<typeof AttentionItem>
