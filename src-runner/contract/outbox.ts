import { z } from 'zod'
import { ChannelKind } from './channels.ts'
import { Id, Moment } from './primitives.ts'
import { Message } from './messages.ts'

/**
 * reply: to a message. confirmation: that a webhook's or a schedule's run succeeded. approval: a question of the policy or
 * of the agent. notification: something the person should know.
 */
export const OutboundKind = z.enum(['reply', 'confirmation', 'approval', 'notification'])
export type OutboundKind = z.infer<typeof OutboundKind>

/**
 * pending: not sent yet, or to be tried again. sent: the service accepted it. undeliverable: given up, and shown to the
 * person. not_sent: it has no address, or no longer needs to be sent.
 */
export const OutboundState = z.enum(['pending', 'sent', 'undeliverable', 'not_sent'])
export type OutboundState = z.infer<typeof OutboundState>

/** The longest text of a message that is shown. */
export const OUTBOUND_TEXT_CHARS = 2000

/** An outbound message, written in the transaction of what it reports. */
export const OutboundMessage = z.object({
  id: Id,
  kind: OutboundKind,
  state: OutboundState,
  agentId: Id,
  agentName: z.string(),
  channelId: Id.nullable(),
  channelKind: ChannelKind.nullable(),
  jobId: Id.nullable(),
  /** Its beginning. The job's result has the rest. */
  text: z.string(),
  tries: z.number().int(),
  /** Why the last try failed, or why it has no address. */
  problem: Message.nullable(),
  createdAt: Moment,
  nextTryAt: Moment.nullable(),
  sentAt: Moment.nullable(),
})
export type OutboundMessage = z.infer<typeof OutboundMessage>
