import type { Message } from '../../contract/messages.ts'
import type { ChannelKind, ChannelStatus } from '../../contract/channels.ts'
import type { ChannelAccess } from '../../domain/channels/channel-access.ts'
import type { Identified } from '../../domain/channels/channels.ts'
import type { Sender } from '../../domain/channels/people.ts'
import type { OnPart, OutgoingMessage, SendResult } from '../../domain/outbox/outgoing.ts'

/**
 * A chat service. A driver knows its service, and no agents, jobs or tables. testing/channel-conformance.ts tests what it
 * must do. It never throws for a failure of the service or the network.
 */
export type ChannelDriver = {
  readonly kind: ChannelKind
  readonly serviceName: string
  readonly limits: ChannelLimits
  /** How long the service keeps messages for us, in ms. Missing: for weeks. */
  readonly keepsMessagesMs?: number
  /** Asks the service whose token this is. */
  identify(access: ChannelAccess, signal: AbortSignal): Promise<Identified>
  /** Reads messages from `position`. It retries by itself whatever fails at the service or on the way there. */
  connect(access: ChannelAccess, position: string | null, runner: RunnerOfChannel): Connection
  /**
   * The channel was deleted and its connection is closed. Removes what the driver keeps of it. `access` is null if the vault
   * cannot be read.
   */
  forget?(channelId: string, access: ChannelAccess | null): Promise<void>
}

/** The limits of one message; message-parts.ts splits longer texts. */
export type ChannelLimits = {
  /** In UTF-16 units of the shown text. */
  messageChars: number
  /** null: the service accepts no files. */
  fileBytes: number | null
}

export type Connection = {
  /**
   * Resolves when a person has to act, who sees why in the status. Rejects when it is closed, and when a fault of ours ended it,
   * such as a database that cannot be read: the channel is then connected again.
   */
  readonly ended: Promise<void>
  /** Called for one message of a chat at a time, so that parts do not mix. `onPart` returns after each part whether to continue. */
  deliver(message: OutgoingMessage, signal: AbortSignal, onPart: OnPart): Promise<SendResult>
  /** Shows for a few seconds that a reply is being written. */
  showTyping(chatId: string): Promise<void>
  /** Shows a note to the person who pressed a button. The service waits for it. */
  answerPress(pressId: string, note: string): Promise<void>
  /** Removes the buttons of a sent message. */
  removeButtons(chatId: string, externalId: string): Promise<void>
  /** The machine was asleep until now. */
  woke?(): void
  /** Resolves when the connection makes no more calls. */
  close(): Promise<void>
}

export type RunnerOfChannel = {
  /**
   * Called one at a time, in the order of the service; the next call follows when this one has resolved. The position is
   * stored in the same transaction as the content. After a rejection the same content is handed over again.
   */
  incoming(incoming: Incoming): Promise<void>
  status(status: Extract<ChannelStatus, 'open' | 'failing' | 'logged_out'>, problem: Message | null): void
  /** The service has just responded. */
  roundTrip(): void
  /** The chats in which messages may have been missed while the service could not be reached: up to 20 of each of 100 people. */
  knownChats(): string[]
  /** A file to send, or why it cannot be sent, as the end of a sentence. */
  readFile(path: string, maxBytes: number): Promise<{ bytes: Uint8Array } | { problem: string }>
}

/**
 * `rest`: what the person sent together with it, such as the other pictures of an album. `undecrypted`: a message arrived that nobody
 * could decrypt or repeat; `externalId` is that of the message. `nothing`: an update without content for us; only the position moves.
 */
export type Incoming = { position: string } & (
  | { type: 'message'; message: IncomingMessage; rest?: readonly IncomingMessage[] }
  | { type: 'press'; press: ButtonPress }
  | { type: 'undecrypted'; externalId: string; sender: Sender }
  | { type: 'nothing' }
)

/**
 * A message in a private chat, or one in a room that mentions the account. `sender.chatId` is where replies go, in the driver's own
 * format. Other messages of rooms are not handed over.
 */
export type IncomingMessage = {
  /** Unique within the channel. */
  externalId: string
  sender: Sender
  /** null: a private chat. */
  room: Room | null
  /** When it was sent, in ms. null: the service does not say, and keeps nothing for longer than a day. */
  sentAt: number | null
  text: string
  /** The service's id of the message of ours that this one answers. */
  replyTo: string | null
  /** The author, if the sender forwarded it. */
  forwardedFrom: string | null
  /** It holds words that others may have chosen: a contact, a place, the name of a file. */
  quotesOthers?: true
  files: IncomingFile[]
  /** The kind of content that is neither text nor a file: `poll`. */
  unreadable: string | null
}

/** A server, channel or group with several people. The person allows each one by itself. */
export type Room = { externalId: string; name: string }

export type IncomingFile = {
  name: string
  size: number | null
  download(signal: AbortSignal): Promise<{ bytes: Uint8Array } | { problem: string }>
}

export type ButtonPress = {
  pressId: string
  sender: Sender
  action: string
}
