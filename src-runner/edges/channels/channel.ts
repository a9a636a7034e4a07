import type { ChannelKind, ChannelStatus } from '../../contract/channels.ts'
import type { ChannelAccount } from '../../records/channels/channels.ts'
import type { Sender } from '../../records/channels/people.ts'
import type { OnPart, OutgoingMessage, SendResult } from '../../records/outbox/outgoing.ts'

/**
 * A chat service, as the runner needs it. A driver knows its service and nothing of agents, jobs or tables; what it must
 * do is written down as tests in testing/channel-conformance.ts. Nothing of it throws for what a service or a network may answer.
 */
export type ChannelDriver = {
  readonly kind: ChannelKind
  /** How people call the service. */
  readonly serviceName: string
  readonly limits: ChannelLimits
  /** Whose token this is, asked of the service. */
  identify(access: ChannelAccess, signal: AbortSignal): Promise<Identified>
  /** Goes on taking in from `position`, and trying again by itself, until it is closed or the service refuses the token. */
  connect(access: ChannelAccess, position: string | null, runner: RunnerOfChannel): Connection
}

/** What one message of the service may hold. parts.ts makes of a longer text what may be sent. */
export type ChannelLimits = {
  /** In UTF-16 units, as they are shown. */
  messageChars: number
  /** Of a file; null: it takes none. */
  fileBytes: number | null
}

/** `baseUrl` null: the service's own address. */
export type ChannelAccess = { token: string; baseUrl: string | null }

/** `problem`: a sentence for people, which never holds the token. */
export type Identified = { state: 'known'; account: ChannelAccount } | { state: 'refused' | 'unreachable'; problem: string }

export type Connection = {
  /** Only one at a time for the same chat: parts of two messages would mix. Asks after each part but the last whether to go on. */
  deliver(message: OutgoingMessage, signal: AbortSignal, onPart: OnPart): Promise<SendResult>
  /** Says for a few seconds that an answer is being written. */
  showTyping(chatId: string): Promise<void>
  /** Shows a note to who pressed a button, which their service waits for. */
  answerPress(pressId: string, note: string): Promise<void>
  /** Takes the buttons away from a message that was sent earlier. */
  removeButtons(chatId: string, externalId: string): Promise<void>
  /** Resolves when nothing of it will be heard any more. */
  close(): Promise<void>
}

/** What a connection tells the runner, and asks it for. */
export type RunnerOfChannel = {
  /**
   * One after another, in the order of the service. The position is to be kept in the transaction that keeps the rest;
   * the next one is handed over when that has resolved. A rejection means that it was not kept: it comes again.
   */
  incoming(incoming: Incoming): Promise<void>
  status(status: Extract<ChannelStatus, 'open' | 'failing' | 'logged_out'>, problem: string): void
  /** The service has just answered. */
  roundTrip(): void
  /** A file of a message that is to be sent, or why it cannot be, as the end of a sentence. */
  readFile(path: string, mostBytes: number): Promise<{ bytes: Uint8Array } | { problem: string }>
}

/** `nothing`: what was there is of no concern, but is behind us. */
export type Incoming = { position: string } & (
  | { type: 'message'; message: IncomingMessage }
  | { type: 'press'; press: ButtonPress }
  | { type: 'nothing' }
)

/** What somebody wrote in a private chat. Groups are not handed over. */
export type IncomingMessage = {
  /** Unique within the channel. */
  externalId: string
  sender: Sender
  text: string
  /** The service's id of the message of ours that this one answers. */
  replyTo: string | null
  /** Whose words these are, where they are not the sender's own. */
  forwardedFrom: string | null
  files: IncomingFile[]
  /** Something that is neither text nor a file, named for people: “a poll”. */
  unreadable: string | null
}

export type IncomingFile = {
  name: string
  /** Where the service says so. */
  size: number | null
  /** Resolves with the bytes, or with why there are none. */
  download(signal: AbortSignal): Promise<{ bytes: Uint8Array } | { problem: string }>
}

export type ButtonPress = {
  /** By which it is answered. */
  pressId: string
  sender: Sender
  action: string
}
