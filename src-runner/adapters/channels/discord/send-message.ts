import { createHash } from 'node:crypto'
import type { Translate } from '../../../../resources/locales/translate.ts'
import type { Button, OutgoingMessage, SendResult } from '../../../domain/outbox/outgoing.ts'
import type { ChannelLimits } from '../channel.ts'
import { formatMarkdown } from '../formatted-text.ts'
import type { TextFormat } from '../message-parts.ts'
import { FILE_DEADLINE_MS, sendParts, type Sending } from '../send-parts.ts'
import type { DiscordApi, Result } from './discord-api.ts'
import { splitForDiscord, writeMarkup } from './discord-text.ts'

export const LIMITS = { messageChars: 2000, fileBytes: 10_000_000 } satisfies ChannelLimits

/** Opens no address in the text for a preview. */
const SUPPRESS_EMBEDS = 4
const NOBODY = { parse: [] }
const MAX_LABEL_CHARS = 80
const BUTTONS_IN_ROW = 5
const MAX_ROWS = 5
const STYLE = { primary: 1, secondary: 2 }

type Calls = { api: DiscordApi; signal: AbortSignal }

/** Sends the parts of a message that no earlier try has sent. */
export async function sendMessage(sending: Sending & Calls, message: OutgoingMessage): Promise<SendResult> {
  const { api, signal, t } = sending
  const path = `/channels/${encodeURIComponent(message.chatId)}/messages`
  /** A part that is sent again after a lost response is recognised by the service. */
  const fieldsOf = (part: number) => ({
    allowed_mentions: NOBODY,
    nonce: createHash('sha256').update(`${message.id}:${part}`).digest('base64url').slice(0, 22),
    enforce_nonce: true,
  })

  async function sendText(content: string, buttons: readonly Button[], part: number): Promise<Result<string>> {
    const body = { content, flags: SUPPRESS_EMBEDS, ...fieldsOf(part) }
    const send = (components: unknown[]) =>
      api.call('POST', path, { signal, body: components.length === 0 ? body : { ...body, components } })
    const rows = rowsOf(buttons)
    const result = await send(rows)
    // The words must arrive, even without buttons. The text says what to write instead of pressing one.
    const isForButtons = !result.ok && result.kind === 'refused' && /component|custom_id|label/i.test(result.words)
    return withId(isForButtons && rows.length > 0 ? await send([]) : result)
  }

  async function sendFile(name: string, bytes: Uint8Array, part: number): Promise<Result<string>> {
    const file = { name: name.toWellFormed(), bytes }
    return withId(await api.call('POST', path, { signal, deadlineMs: FILE_DEADLINE_MS, body: fieldsOf(part), file }))
  }

  return sendParts(sending, { limits: LIMITS, format: await createFormat(t), sendText, sendFile }, message)
}

async function createFormat(t: Translate): Promise<TextFormat<string>> {
  const { lexer } = await import('marked')
  const plain = (words: string) => writeMarkup({ text: words, entities: [] })
  return {
    t,
    split: (markdown, maxChars) => splitForDiscord(formatMarkdown(markdown, lexer), maxChars),
    append: (piece, words) => {
      const below = `\n\n${plain(words)}`
      return piece.slice(0, LIMITS.messageChars - below.length).toWellFormed() + below
    },
    plain: (words) => plain(words).slice(0, LIMITS.messageChars).toWellFormed(),
  }
}

function rowsOf(buttons: readonly Button[]): unknown[] {
  const keys = buttons.slice(0, BUTTONS_IN_ROW * MAX_ROWS).map(({ label, action }, i) => ({
    type: 2,
    style: i === 0 ? STYLE.primary : STYLE.secondary,
    label: label.slice(0, MAX_LABEL_CHARS).toWellFormed(),
    custom_id: action,
  }))
  return keys.flatMap((_key, i) => (i % BUTTONS_IN_ROW === 0 ? [{ type: 1, components: keys.slice(i, i + BUTTONS_IN_ROW) }] : []))
}

/** The message was accepted even if the response lacks its id. */
function withId(result: Result<unknown>): Result<string> {
  if (!result.ok) return result
  const { id } = (result.value ?? {}) as { id?: unknown }
  return { ok: true, value: typeof id === 'string' ? id : '' }
}
