import type { Message } from '../../contract/messages.ts'

/** A tap sends `action` back: `approve:<approvalId>`, `reject:<approvalId>`, `choose:<approvalId>:<n>`. At most 64 bytes. */
export type Button = {
  label: string
  action: string
  /** Only for a message that shows the complete call, with its attachments. */
  needsCompleteCall?: true
}

/** A message as a channel gets it. The text is Markdown of any length: the channel splits and formats it. */
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
  /** Parts that were sent in an earlier try. */
  partsSent: number
}

/**
 * The result of a try. `partsSent`: also after a failure, so that a later try does not repeat them. `permanent`: a later try would
 * fail too, because the person blocked the account or the chat is gone.
 */
export type SendResult =
  /** `externalId`: the service's id of the part with the buttons, which is the last one of the text. */
  | { state: 'sent'; externalId: string | null }
  | { state: 'failed'; permanent: boolean; partsSent: number; retryAfterMs: number | null; problem: Message }

/** `onlyFilesLeft`: the complete text is in the chat. `incomplete`: the service rejected an attachment of the question. */
export type PartNote = { onlyFilesLeft?: boolean; incomplete?: boolean }

/** Called with the number of parts sent. Returns whether to send the rest, because the message may have been withdrawn. */
export type OnPart = (partsSent: number, note?: PartNote) => boolean

/** Sends one message. Does not reject, whatever the service responds. */
export type Deliver = (message: OutgoingMessage, signal: AbortSignal, onPart?: OnPart) => Promise<SendResult>
