import { basename } from 'node:path'
import { renderMessage, type Translate } from '../../../../resources/locales/translate.ts'
import type { Message } from '../../../contract/messages.ts'
import { createMessage, englishText } from '../../../lib/messages.ts'
import type { Button, OnPart, OutgoingMessage, SendResult } from '../../../domain/outbox/outgoing.ts'
import type { ChannelLimits, RunnerOfChannel } from '../channel.ts'
import { firstPartOf, partsOf, type Part, type TextFormat } from '../message-parts.ts'
import type { BotApi, Result } from './bot-api.ts'
import { formatMarkdown, type FormattedText } from './formatted-text.ts'
import { MAX_MESSAGE_CHARS, splitText } from './split-text.ts'

export const FILE_DEADLINE_MS = 180_000
export const LIMITS = { messageChars: MAX_MESSAGE_CHARS, fileBytes: 50_000_000 } satisfies ChannelLimits
const WITHDRAWN = createMessage('sent_withdrawn')

export type Sending = {
  api: BotApi
  t: Translate
  readFile: RunnerOfChannel['readFile']
  signal: AbortSignal
  onPart: OnPart
  onTokenRefused(problem: Message): void
}

/** Sends the parts of a message that no earlier try has sent. */
export async function sendMessage(sending: Sending, message: OutgoingMessage): Promise<SendResult> {
  const { t, onPart, onTokenRefused } = sending
  const parts = partsOf(message, LIMITS, await createFormat(t))
  const first = firstPartOf(message, parts)
  const onlyFilesLeft = (from: number) => parts.slice(from).every(({ type }) => type !== 'text')
  const failed = (partsSent: number, problem: Message) =>
    ({ state: 'failed', permanent: false, partsSent, retryAfterMs: null as number | null, problem }) as const
  let externalId: string | null = null
  let isIncomplete = false
  // A message of files alone has no text that later messages must wait for.
  if (onlyFilesLeft(first)) onPart(first, { onlyFilesLeft: true })
  for (let i = first; i < parts.length; i++) {
    const part: Part<FormattedText> = isIncomplete ? withoutAttachment(t, parts[i]!) : parts[i]!
    const result = await sendPart(sending, message.chatId, part)
    if (!result.ok) {
      // A question is sent without its attachment, and without the buttons that need it.
      isIncomplete = part.type === 'attachment' && (result.kind === 'service' || result.kind === 'refused')
      if (!isIncomplete) {
        if (result.kind === 'token') onTokenRefused(result.problem)
        const permanent = result.kind === 'forbidden' || result.kind === 'refused'
        return { ...failed(i, result.problem), permanent, retryAfterMs: result.retryAfterMs }
      }
    } else if (part.type === 'text' && part.isLastText) externalId = result.value
    const isLast = i === parts.length - 1
    if (!isLast && !onPart(i + 1, result.ok ? { onlyFilesLeft: onlyFilesLeft(i + 1) } : { incomplete: true }))
      return failed(i + 1, WITHDRAWN)
  }
  return { state: 'sent', externalId }
}

async function createFormat(t: Translate): Promise<TextFormat<FormattedText>> {
  const { lexer } = await import('marked')
  return {
    t,
    split: (markdown, maxChars) => splitText(formatMarkdown(markdown, lexer), maxChars),
    append: ({ text, entities }, words) => ({
      text: `${text}\n\n${words}`,
      entities: [...entities, { type: 'italic', offset: text.length + 2, length: words.length }],
    }),
  }
}

function withoutAttachment(t: Translate, part: Part<FormattedText>): Part<FormattedText> {
  if (part.type !== 'text' || !part.isLastText) return part
  const { text, entities } = part.piece
  const piece = { text: `${text}\n\n${t('outbound.approval.incomplete')}`, entities }
  return { ...part, piece, buttons: part.buttons.filter((button) => !button.needsCompleteCall) }
}

/** Returns the service's id of the message. A file that cannot be sent is replaced by a sentence that says so. */
async function sendPart(sending: Sending, chatId: string, part: Part<FormattedText>): Promise<Result<string>> {
  if (part.type === 'text') return sendText(sending, chatId, part.piece, part.buttons)
  if (part.type === 'attachment') return sendDocument(sending, chatId, part.name, part.bytes)
  const name = part.type === 'file' ? basename(part.path) : part.name
  const file = part.type === 'file' ? await sending.readFile(part.path, LIMITS.fileBytes) : part
  const { t } = sending
  let problem = 'problem' in file ? `${file.problem}.` : t('outbound.file.empty')
  if ('bytes' in file && file.bytes.length > 0) {
    const result = await sendDocument(sending, chatId, name, file.bytes)
    if (result.ok || result.kind !== 'refused') return result
    problem = renderMessage(t, result.problem)
  }
  return sendText(sending, chatId, { text: t('outbound.file.notSent', { file: name, why: problem }), entities: [] }, [])
}

async function sendText(
  { api, signal }: Sending,
  chatId: string,
  { text, entities }: FormattedText,
  buttons: readonly Button[],
): Promise<Result<string>> {
  const send = (shown: FormattedText['entities'], below: readonly Button[]) =>
    api.call(
      (bot, ending) => {
        const options = {
          entities: shown,
          // Otherwise the service opens the addresses in the text for a preview.
          link_preview_options: { is_disabled: true },
          ...(below.length === 0 ? {} : { reply_markup: { inline_keyboard: rowsOf(below) } }),
        }
        return bot.sendMessage(idOf(chatId), text, options, ending)
      },
      { signal },
    )
  let result = await send(entities, buttons)
  // The words must arrive, even without formatting or buttons. The text says what to write instead of pressing a button.
  if (isRefusedFor(result, /entit/i) && entities.length > 0) result = await send([], buttons)
  if (isRefusedFor(result, /button|keyboard|reply.?markup/i) && buttons.length > 0) result = await send([], [])
  return withMessageId(result)
}

function isRefusedFor(result: Result<unknown>, reason: RegExp): boolean {
  return !result.ok && result.kind === 'refused' && reason.test(englishText(result.problem))
}

async function sendDocument({ api, signal }: Sending, chatId: string, name: string, bytes: Uint8Array): Promise<Result<string>> {
  const { InputFile } = await import('grammy/web')
  // The library writes the name into a header unescaped.
  const file = new InputFile(bytes, name.replace(/[\p{Cc}";\\]/gu, '_'))
  return withMessageId(
    await api.call((bot, ending) => bot.sendDocument(idOf(chatId), file, {}, ending), { signal, deadlineMs: FILE_DEADLINE_MS }),
  )
}

/** The message was accepted even if the response lacks its id. */
function withMessageId(result: Result<{ message_id?: number } | null>): Result<string> {
  return result.ok ? { ok: true, value: String(result.value?.message_id ?? '') } : result
}

const NARROW_LABEL = 18

/** Short buttons are two to a row. */
function rowsOf(buttons: readonly Button[]): { text: string; callback_data: string }[][] {
  const perRow = buttons.every(({ label }) => label.length <= NARROW_LABEL) ? 2 : 1
  const keys = buttons.map(({ label, action }) => ({ text: label.toWellFormed(), callback_data: action }))
  return keys.flatMap((_key, i) => (i % perRow === 0 ? [keys.slice(i, i + perRow)] : []))
}

/** A chat's id is a number for the service and text for us. */
export function idOf(chatId: string): number | string {
  const id = Number(chatId)
  return Number.isSafeInteger(id) ? id : chatId
}
