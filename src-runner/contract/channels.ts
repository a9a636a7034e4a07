import { z } from 'zod'
import { Id, Moment } from './primitives.ts'
import { Message } from './messages.ts'

/** In the fixed order in which Auto chooses, apart from WhatsApp, which Auto never chooses. */
export const ChannelKind = z.enum(['telegram', 'discord', 'slack', 'messenger'])
export type ChannelKind = z.infer<typeof ChannelKind>
export const AUTO_ORDER = ['telegram', 'discord', 'slack'] as const satisfies readonly ChannelKind[]

/** Names of the services, as people know them. */
export const SERVICE_NAMES: Record<ChannelKind, string> = {
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
  messenger: 'WhatsApp',
}

/** Whether this is the name of a service, and not the host of somebody's own server. */
export function isServiceName(server: string): boolean {
  return Object.values(SERVICE_NAMES).includes(server)
}

/**
 * asked: wrote to the agent and waits for a decision. owner: the person, at most one for each channel. allowed: a guest.
 * refused: gets no reply.
 */
export const ChannelRole = z.enum(['requested', 'owner', 'allowed', 'refused'])
export type ChannelRole = z.infer<typeof ChannelRole>

/**
 * Somebody who wrote to a channel, or a room in which the account was mentioned. They chose their names themselves, so names prove
 * nothing.
 */
export const ChannelPerson = z.object({
  id: Id,
  channelId: Id,
  role: ChannelRole,
  /** A server, channel or group: everybody in it has the rights of a guest. It cannot be the owner. */
  isRoom: z.boolean(),
  displayName: z.string(),
  /** `@name`, if the service has handles. */
  handle: z.string().nullable(),
  /** Assigned by the service, so nobody can choose it. */
  externalId: z.string(),
  conversationId: Id.nullable(),
  firstSeenAt: Moment,
  lastMessageAt: Moment,
})
export type ChannelPerson = z.infer<typeof ChannelPerson>

/**
 * off: turned off by the person. open: the last round trip worked. failing: it did not, and Deckhand tries again.
 * logged_out: the service refuses the token, so a person must enter a new one.
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
  /** Its public address, if it has one: `https://t.me/my_bot`. */
  link: z.string().nullable(),
  status: ChannelStatus,
  /** What is wrong and what to do. */
  problem: Message.nullable(),
  /** When the service last answered. */
  lastRoundTripAt: Moment.nullable(),
  /** null: the service's own address. */
  baseUrl: z.string().nullable(),
  enabled: z.boolean(),
  /**
   * Whoever sends it to the account is listed as a request even if the list is full. It gives no access by itself. null for people of
   * the dashboard who are no owners.
   */
  pairingCode: z.string().nullable(),
  people: z.array(ChannelPerson),
  createdAt: Moment,
})
export type Channel = z.infer<typeof Channel>

const Token = z.string().trim().min(1).max(1000).regex(/^\S+$/, 'must have no spaces')
const BaseUrl = z.string().trim().min(1).max(2000)

/** The services that are connected by pasting tokens. */
export const TOKEN_SERVICES = ['telegram', 'discord', 'slack'] as const satisfies readonly ChannelKind[]

export const CreateChannel = z.object({
  agentId: Id,
  kind: z.enum(TOKEN_SERVICES),
  /** Stored in the vault and never returned. */
  token: Token,
  /** The second token of services that have two. */
  appToken: Token.nullable().default(null),
  /** Another server with the API of the service, such as an own Bot API server. */
  baseUrl: BaseUrl.nullable().default(null),
})
export type CreateChannel = z.infer<typeof CreateChannel>

/** Tokens of services that have two change together. */
export const UpdateChannel = z
  .object({ enabled: z.boolean(), token: Token, appToken: Token })
  .partial()
  .refine(({ token, appToken }) => token !== undefined || appToken === undefined, {
    path: ['token'],
    message: '“token” is missing: both tokens change together.',
  })
export type UpdateChannel = z.infer<typeof UpdateChannel>

/** A new owner replaces the old one, who becomes `allowed`. */
export const UpdateChannelPerson = z.object({ role: z.enum(['owner', 'allowed', 'refused']) })
export type UpdateChannelPerson = z.infer<typeof UpdateChannelPerson>
