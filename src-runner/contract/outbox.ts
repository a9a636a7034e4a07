import { z } from 'zod'
import { ChannelKind } from './channels.ts'
import { Id, Moment } from './primitives.ts'
import { Said } from './said.ts'

/**
 * reply: to a message. confirmation: that a webhook's or a schedule's run succeeded. approval: a question of the policy or
 * of the agent. notice: something the person should know.
 */
export const OutboundKind = z.enum(['reply', 'confirmation', 'approval', 'notice'])
export type OutboundKind = z.infer<typeof OutboundKind>

/**
 * pending: not sent yet, or tried and to be tried again. sent: the service took it. undeliverable: given up, and shown.
 * nowhere: there was no conversation to send it to, there is none any more, or nothing to say; the run it tells of was not
 * held up by that.
 */
export const OutboundState = z.enum(['pending', 'sent', 'undeliverable', 'nowhere'])
export type OutboundState = z.infer<typeof OutboundState>

/** So much of a message is shown. */
export const OUTBOUND_TEXT_CHARS = 2000

/** One outbound message, written in the transaction of what it tells of. */
export const OutboundMessage = z.object({
  id: Id,
  kind: OutboundKind,
  state: OutboundState,
  agentId: Id,
  agentName: z.string(),
  channelId: Id.nullable(),
  channelKind: ChannelKind.nullable(),
  jobId: Id.nullable(),
  /** Its beginning: what is longer is the result of its job. */
  text: z.string(),
  tries: z.number().int(),
  /** Why the last try failed, or why there is nowhere to send it. Empty when nothing went wrong. */
  problem: z.string(),
  problemSaid: Said.optional(),
  createdAt: Moment,
  nextTryAt: Moment.nullable(),
  sentAt: Moment.nullable(),
})
export type OutboundMessage = z.infer<typeof OutboundMessage>
