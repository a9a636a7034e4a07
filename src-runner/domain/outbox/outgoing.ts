import type { Message } from '../../contract/messages.ts'
/** A tap on it sends `action` back: `approve:<approvalId>`, `reject:<approvalId>`, `choose:<approvalId>:<n>`. At most 64 bytes. */
export type Button = {
  label: string
  action: string
  /** Only below a message that shows, with its attachments, everything that decides. */
  whole?: true
}

/** A message on its way out, as a channel needs it. The text is Markdown, of any length: the channel cuts and dresses it. */
export type OutgoingMessage = {
  id: string
  channelId: string
  /** The service's id of the private chat. */
  chatId: string
  text: string
  buttons: readonly Button[]
  /** Texts to send as files before the text, which refers to them. */
  attachments?: readonly { name: string; text: string }[]
  /** Absolute paths of files to send after the text. */
  files: readonly string[]
  /** Parts that went out in an earlier try. */
  partsSent: number
}

/**
 * What became of a try. `failed` after some parts went out says how many, so that a later try does not repeat them.
 * `permanent`: no later try will do better (the person blocked the account, the chat is gone).
 */
export type SendResult =
  /** `externalId`: the service's id of the piece that carries the buttons, which is the last one of the text. */
  | { state: 'sent'; externalId: string | null }
  | { state: 'failed'; permanent: boolean; partsSent: number; retryAfterMs: number | null; problem: Message }

/** `onlyFilesLeft`: all of its text stands in the chat. `incomplete`: an attachment that belongs to its question was not taken. */
export type PartNote = { onlyFilesLeft?: boolean; incomplete?: boolean }

/** So many parts of the message have gone out. Returns whether the rest is to follow: it may have been withdrawn meanwhile. */
export type OnPart = (partsSent: number, note?: PartNote) => boolean

/** Sends one message. Never rejects for what a service may answer. */
export type Deliver = (message: OutgoingMessage, signal: AbortSignal, onPart?: OnPart) => Promise<SendResult>
