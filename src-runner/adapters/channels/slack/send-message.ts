import { createHash } from 'node:crypto'
import type { Button, OutgoingMessage, SendResult } from '../../../domain/outbox/outgoing.ts'
import type { ChannelLimits } from '../channel.ts'
import type { FormattedText } from '../formatted-text.ts'
import { FILE_DEADLINE_MS, sendParts, type Sending } from '../send-parts.ts'
import { createTextFormat } from '../text-format.ts'
import { messageIdOf, readChatId } from './events.ts'
import { blocksOf, escapeText } from './rich-text.ts'
import type { Result, SlackApi } from './web-api.ts'

/** The length that Slack recommends for a message. It cuts off texts of more than 40,000 characters. */
export const LIMITS = { messageChars: 4000, fileBytes: 50_000_000 } satisfies ChannelLimits

type Calls = { api: SlackApi; signal: AbortSignal }

/** Sends the parts of a message that no earlier try has sent. */
export async function sendMessage(sending: Sending & Calls, message: OutgoingMessage): Promise<SendResult> {
  const { chatId, id } = message
  const sender = {
    limits: LIMITS,
    format: await createTextFormat(sending.t),
    sendText: (piece: FormattedText, buttons: readonly Button[], part: number) =>
      sendText(sending, chatId, { piece, buttons, repeatId: repeatIdOf(id, part) }),
    sendFile: (name: string, bytes: Uint8Array) => sendFile(sending, chatId, name, bytes),
  }
  return sendParts(sending, sender, message)
}

/** Slack posts a message with the same id once, so a try whose response was lost does not double it. */
function repeatIdOf(messageId: string, index: number): string {
  const hex = createHash('sha256').update(`${messageId}:${index}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')
}

async function sendText(
  { api, signal }: Calls,
  chatId: string,
  { piece, buttons, repeatId }: { piece: FormattedText; buttons: readonly Button[]; repeatId: string },
): Promise<Result<string>> {
  const { channel, thread } = readChatId(chatId)
  const post = (more: Record<string, unknown>) =>
    api.call(
      'chat.postMessage',
      {
        channel,
        text: escapeText(piece.text),
        mrkdwn: false,
        client_msg_id: repeatId,
        // Otherwise Slack opens the addresses in the text for a preview.
        unfurl_links: false,
        unfurl_media: false,
        ...(thread === null ? {} : { thread_ts: thread }),
        ...more,
      },
      { signal },
    )
  let result = await post({ blocks: blocksOf(piece, buttons) })
  // The words must arrive, even without formatting and buttons. The text says what to write instead of pressing a button.
  if (!result.ok && result.kind === 'blocks') result = await post({})
  if (!result.ok) return result
  const { ts } = result.value
  // The message was accepted even if the response lacks its time.
  return { ok: true, value: messageIdOf(channel, typeof ts === 'string' ? ts : '') }
}

/** Slack takes a file in three steps. */
async function sendFile({ api, signal }: Calls, chatId: string, name: string, bytes: Uint8Array): Promise<Result<string>> {
  const { channel, thread } = readChatId(chatId)
  const options = { signal, deadlineMs: FILE_DEADLINE_MS }
  const place = await api.call('files.getUploadURLExternal', { filename: name, length: bytes.length }, options)
  if (!place.ok) return place
  const { upload_url: url, file_id: id } = place.value
  if (typeof url !== 'string' || typeof id !== 'string') return api.notUnderstood()
  const uploaded = await api.upload(url, bytes, options)
  if (!uploaded.ok) return uploaded
  const files = [{ id, title: name }]
  const where = thread === null ? { channel_id: channel } : { channel_id: channel, thread_ts: thread }
  const done = await api.call('files.completeUploadExternal', { files, ...where }, options)
  return done.ok ? { ok: true, value: '' } : done
}
