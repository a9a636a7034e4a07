import { z } from 'zod'
import { Id, Moment } from './primitives.ts'
import { Message } from './messages.ts'

/** In the fixed order in which Auto chooses, apart from WhatsApp, which Auto never chooses. */
export const ChannelKind = z.enum(['telegram', 'discord', 'slack', 'messenger'])
export type ChannelKind = z.infer<typeof ChannelKind>
export const AUTO_ORDER = ['telegram', 'discord', 'slack'] as const satisfies readonly ChannelKind[]

/** What people call the services. */
export const SERVICE_NAMES: Record<ChannelKind, string> = {
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
  messenger: 'WhatsApp',
}

/** Whether that is what people call a service, and not the host of a server of their own. */
export function isServiceName(server: string): boolean {
  return Object.values(SERVICE_NAMES).includes(server)
}

/**
 * asked: wrote to the agent and waits for the person's word. owner: the person, at most one for each channel.
 * allowed: may talk to the agent, as a stranger. refused: is not answered any more.
 */
export const ChannelRole = z.enum(['asked', 'owner', 'allowed', 'refused'])
export type ChannelRole = z.infer<typeof ChannelRole>

/** Somebody on the other side of a channel. Names are what they gave themselves: anybody can take any. */
export const ChannelPerson = z.object({
  id: Id,
  channelId: Id,
  role: ChannelRole,
  displayName: z.string(),
  /** `@name`, where the service has such. */
  handle: z.string().nullable(),
  /** The service's own id of them, which nobody can choose. */
  externalId: z.string(),
  conversationId: Id.nullable(),
  firstSeenAt: Moment,
  lastMessageAt: Moment,
})
export type ChannelPerson = z.infer<typeof ChannelPerson>

/**
 * off: by the person. connecting: on its way, or trying again. open: the last round trip worked. failing: it did not, and
 * is tried again. logged_out: the service refuses the token, and only a person can mend that.
 */
export const ChannelStatus = z.enum(['off', 'connecting', 'open', 'failing', 'logged_out'])
export type ChannelStatus = z.infer<typeof ChannelStatus>

/** An account at a chat service through which one agent is reached. */
export const Channel = z.object({
  id: Id,
  agentId: Id,
  agentName: z.string(),
  kind: ChannelKind,
  /** The account's name at the service: `@my_bot`. */
  name: z.string(),
  /** Where people find it: `https://t.me/my_bot`; null where there is no such address. */
  link: z.string().nullable(),
  status: ChannelStatus,
  /** What is wrong and what to do; null when nothing is. */
  problem: Message.nullable(),
  /** When the service last answered us, which is all that is really known. */
  lastRoundTripAt: Moment.nullable(),
  /** null: the service's own address. */
  baseUrl: z.string().nullable(),
  enabled: z.boolean(),
  /** Who writes it to the account is among those who ask, however many do, and is let in by nothing but the person's word. */
  pairingCode: z.string(),
  people: z.array(ChannelPerson),
  createdAt: Moment,
})
export type Channel = z.infer<typeof Channel>

const Token = z.string().trim().min(1).max(1000)
const BaseUrl = z.string().trim().min(1).max(2000)

export const CreateChannel = z.object({
  agentId: Id,
  kind: z.enum(['telegram']),
  /** Goes to the vault and never comes back. */
  token: Token,
  /** Another server that speaks the service's interface (a Bot API server of one's own). */
  baseUrl: BaseUrl.nullable().default(null),
})
export type CreateChannel = z.infer<typeof CreateChannel>

export const UpdateChannel = z.object({ enabled: z.boolean(), token: Token }).partial()
export type UpdateChannel = z.infer<typeof UpdateChannel>

/** What the person says of somebody who wrote. A new owner takes the place of the old one, who is then merely allowed. */
export const UpdateChannelPerson = z.object({ role: z.enum(['owner', 'allowed', 'refused']) })
export type UpdateChannelPerson = z.infer<typeof UpdateChannelPerson>
