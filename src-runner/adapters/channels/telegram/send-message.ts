import type { Button, OutgoingMessage, SendResult } from '../../../domain/outbox/outgoing.ts'
import type { ChannelLimits } from '../channel.ts'
import type { FormattedText } from '../formatted-text.ts'
import { FILE_DEADLINE_MS, sendParts, type Sending } from '../send-parts.ts'
import { createTextFormat } from '../text-format.ts'
import type { BotApi, Result } from './bot-api.ts'

export const LIMITS = { messageChars: 4096, fileBytes: 50_000_000 } satisfies ChannelLimits

type Calls = { api: BotApi; signal: AbortSignal }

/** Sends the parts of a message that no earlier try has sent. */
export async function sendMessage(sending: Sending & Calls, message: OutgoingMessage): Promise<SendResult> {
  const { chatId } = message
  const sender = {
    limits: LIMITS,
    format: await createTextFormat(sending.t),
    sendText: (piece: FormattedText, buttons: readonly Button[]) => sendText(sending, chatId, piece, buttons),
    sendFile: (name: string, bytes: Uint8Array) => sendDocument(sending, chatId, name, bytes),
  }
  return sendParts(sending, sender, message)
}

async function sendText(
  { api, signal }: Calls,
  chatId: string,
  { text, entities }: FormattedText,
  buttons: readonly Button[],
): Promise<Result<string>> {
  const send = (shown: FormattedText['entities'], below: readonly Button[]) =>
    api.call(
      (bot, callSignal) => {
        const options = {
          entities: shown,
          // Otherwise the service opens the addresses in the text for a preview.
          link_preview_options: { is_disabled: true },
          ...(below.length === 0 ? {} : { reply_markup: { inline_keyboard: rowsOf(below) } }),
        }
        return bot.sendMessage(idOf(chatId), text, options, callSignal)
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
  return !result.ok && result.kind === 'refused' && reason.test(result.words)
}

async function sendDocument({ api, signal }: Calls, chatId: string, name: string, bytes: Uint8Array): Promise<Result<string>> {
  const { InputFile } = await import('grammy/web')
  // The library writes the name into a header unescaped.
  const file = new InputFile(bytes, name.replace(/[\p{Cc}";\\]/gu, '_'))
  return withMessageId(
    await api.call((bot, callSignal) => bot.sendDocument(idOf(chatId), file, {}, callSignal), { signal, deadlineMs: FILE_DEADLINE_MS }),
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
