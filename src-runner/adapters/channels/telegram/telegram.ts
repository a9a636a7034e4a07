import { problemOf } from '../../../lib/errors.ts'
import type { Message } from '../../../contract/messages.ts'
import { createMessage, englishText } from '../../../lib/messages.ts'
import { basename } from 'node:path'
import type { OutboundFetch } from '../../../platform/net/outbound.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { CHAT_COMMANDS } from '../../../domain/channels/commands.ts'
import type { Button, OnPart, OutgoingMessage, SendResult } from '../../../domain/outbox/outgoing.ts'
import type { ChannelAccess, ChannelDriver, ChannelLimits, Connection, Incoming, RunnerOfChannel } from '../channel.ts'
import { firstPartOf, partsOf, type Part, type Writing } from '../message-parts.ts'
import { createBotApi, type Answer, type BotApi, type Trouble } from './bot-api.ts'
import { dressMarkdown, type DressedText } from './formatted-text.ts'
import { MOST_MESSAGE_CHARS, splitText } from './split-text.ts'
import { joinAlbums, readUpdates, type GetFile, type TakenUpdate } from './updates.ts'

export type TelegramDeps = {
  fetch: OutboundFetch
  clock: Clock
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
}

/** How long the service may hold a question for new messages. */
const POLL_SECONDS = 30
/** Beyond the time for which the service holds the question. */
const POLL_SLACK_MS = 15_000
/** A question that was held for less, and brought nothing, was not held. */
const LEAST_HOLD_MS = 1000
const BATCH = 100
/** When a batch has more bytes than are taken, the next ones are smaller. One update is never that large. */
const SMALLER_BATCH = 4
const RETRY = { firstMs: 1000, mostMs: 60_000 }
/** A service may ask to be left alone for as long as that, and has to be at least for as long as this. */
const ASKED_WAIT = { leastMs: 1000, mostMs: 3_600_000 }
/** The pictures of an album arrive one after another; the rest of one is waited for this long. */
const ALBUM_WAIT_MS = 700
/** Bots may fetch files up to this size. */
const MOST_FILE_IN = 20_000_000
const LIMITS = { messageChars: MOST_MESSAGE_CHARS, fileBytes: 50_000_000 } satisfies ChannelLimits
const FILE_DEADLINE_MS = 180_000
const MOST_NOTE_CHARS = 200
const WITHDRAWN = createMessage('sent_withdrawn')
/** Nobody should wait long for a message because of the menu. */
const MENU_DEADLINE_MS = 5_000
/** After a week without updates the service may restart its numbers, so an old position is not used. */
const POSITION_KEPT_MS = 3 * 24 * 3_600_000

export function createTelegramDriver(deps: TelegramDeps): ChannelDriver {
  return {
    kind: 'telegram',
    serviceName: 'Telegram',
    limits: LIMITS,

    async identify(access, signal) {
      const api = createBotApi({ ...deps, access, onRoundTrip() {} })
      const answer = await api.call((bot, ending) => bot.getMe(ending), { signal })
      if (!answer.ok) {
        const isOver = answer.kind === 'token' || answer.kind === 'refused' || answer.kind === 'forbidden'
        return { state: isOver ? 'refused' : 'unreachable', problem: answer.problem }
      }
      const { id, username } = (answer.value ?? {}) as { id?: unknown; username?: unknown }
      if (typeof id !== 'number' || typeof username !== 'string' || !/^\w{1,64}$/.test(username)) {
        return { state: 'unreachable', problem: createMessage('chat_not_understood', { server: 'Telegram' }) }
      }
      return { state: 'known', account: { accountId: String(id), name: `@${username}`, link: `https://t.me/${username}` } }
    },

    connect: (access, position, runner) => connect(deps, access, position, runner),
  }
}

function connect(deps: TelegramDeps, access: ChannelAccess, position: string | null, runner: RunnerOfChannel): Connection {
  const { clock } = deps
  const closing = new AbortController()
  const api = createBotApi({ ...deps, access, onRoundTrip: () => closing.signal.aborted || runner.roundTrip() })
  let next = readPosition(position)
  let batch = BATCH

  const getFile: GetFile = async ({ fileId, size }, signal) => {
    if (size !== null && size > MOST_FILE_IN) return { problem: 'it is larger than the 20 MB that a bot may fetch' }
    const options = { signal: AbortSignal.any([signal, closing.signal]) }
    const found = await api.call((bot, ending) => bot.getFile(fileId, ending), options)
    if (!found.ok) return { problem: englishText(found.problem) }
    const path = (found.value as { file_path?: unknown }).file_path
    if (typeof path !== 'string' || path.split('/').includes('..')) return { problem: 'the service does not say where it is' }
    const file = await api.download(path, { ...options, deadlineMs: FILE_DEADLINE_MS, mostBytes: MOST_FILE_IN })
    return file.ok ? { bytes: file.value } : { problem: englishText(file.problem) }
  }

  async function ask(seconds: number): Promise<Answer<TakenUpdate[]>> {
    // A place that lies ahead was noted by a clock that has since been set back.
    const isFresh = next !== null && Math.abs(clock.now() - next.at) < POSITION_KEPT_MS
    const answer = await api.call(
      (bot, ending) =>
        bot.getUpdates(
          {
            ...(isFresh ? { offset: next!.updateId } : {}),
            limit: batch,
            timeout: seconds,
            allowed_updates: ['message', 'callback_query'],
          },
          ending,
        ),
      { signal: closing.signal, deadlineMs: seconds * 1000 + POLL_SLACK_MS },
    )
    batch = answer.ok ? BATCH : answer.kind === 'too_much' ? Math.max(1, Math.floor(batch / SMALLER_BATCH)) : batch
    if (!answer.ok) return answer
    const updates = readUpdates(answer.value, getFile)
    if (updates === null) return misbehaves(createMessage('chat_not_understood', { server: 'Telegram' }))
    const fresh = isFresh ? updates.filter(({ updateId }) => updateId >= next!.updateId) : updates
    // Asked at once again it would say the same at once again.
    if (fresh.length === 0 && updates.length > 0) return misbehaves(createMessage('chat_repeats'))
    return { ok: true, value: fresh }
  }

  /** A batch that ends inside an album is asked for once more, from the same place: the rest of it is on its way. */
  async function askForWholeAlbums(seconds: number): Promise<Answer<TakenUpdate[]>> {
    const answer = await ask(seconds)
    if (!answer.ok || (answer.value.at(-1)?.album ?? null) === null) return answer
    await clock.sleep(ALBUM_WAIT_MS, closing.signal)
    return ask(0)
  }

  /** Throws what `runner.incoming` throws. What was kept before that stays kept. */
  async function handOver(updates: readonly TakenUpdate[]): Promise<void> {
    const joined = joinAlbums(updates)
    for (const [i, update] of joined.entries()) {
      const after = { updateId: update.updateId + 1, at: clock.now() }
      const isLast = i === joined.length - 1
      const incoming = incomingOf(update, writePosition(after))
      // What says nothing is not worth a write of its own, unless it is all there is.
      if (incoming.type !== 'nothing' || isLast) await runner.incoming(incoming)
      if (closing.signal.aborted) return
      next = after
    }
  }

  /** Resolves with the trouble that ended a round; null: there was none. */
  async function pollOnce(seconds: number): Promise<Trouble | null> {
    const answer = await askForWholeAlbums(seconds)
    if (!answer.ok) return answer
    runner.status('open', null)
    try {
      await handOver(answer.value)
      return null
    } catch (error) {
      const why = error instanceof AppError ? problemOf(error) : createMessage('ours_broken')
      const problem = createMessage('several', { first: createMessage('chat_cannot_keep'), second: why })
      return { ok: false, kind: 'service', problem, retryAfterMs: null }
    }
  }

  async function poll(): Promise<void> {
    let failures = 0
    let isWell = false
    let isContested = false
    let hasMenu = false
    while (!closing.signal.aborted) {
      // As long as it is not known to work it is asked without waiting: nobody should have to wait to learn that it does.
      const askedAt = clock.monotonic()
      const before = { isWell, next }
      const trouble = await pollOnce(isWell ? POLL_SECONDS : 0)
      if (closing.signal.aborted) return
      isWell = trouble === null
      if (trouble === null) {
        // Of two who read in turn, each is answered at once and interrupted when it waits: that mends nothing.
        if (!isContested || before.isWell) {
          failures = 0
          isContested = false
        }
        // A server that does not hold the question would be asked without a pause.
        const wasHeld = !before.isWell || next !== before.next || clock.monotonic() - askedAt >= LEAST_HOLD_MS
        if (!wasHeld) await clock.sleep(LEAST_HOLD_MS, closing.signal)
        hasMenu ||= await offerMenu()
        continue
      }
      if (trouble.kind === 'token') return runner.status('logged_out', trouble.problem)
      // The person has just given the bot to us: what it was set to before does not count any more.
      if (trouble.kind === 'webhook' && failures === 0 && (await forgetWebhook())) {
        failures++
        continue
      }
      isContested ||= trouble.kind === 'conflict'
      runner.status('failing', trouble.problem)
      await clock.sleep(waitAsked(trouble.retryAfterMs) ?? waitBefore(failures++, deps.random), closing.signal)
    }
  }

  /** What the service offers beside the field for writing, in private chats alone: in others nothing is heard. false: to be tried again. */
  async function offerMenu(): Promise<boolean> {
    const commands = CHAT_COMMANDS.map(({ name, does }) => ({ command: name, description: does[0]!.toUpperCase() + does.slice(1) }))
    const answer = await api.call((bot, ending) => bot.setMyCommands(commands, { scope: { type: 'all_private_chats' } }, ending), {
      signal: closing.signal,
      deadlineMs: MENU_DEADLINE_MS,
    })
    return answer.ok || answer.kind === 'refused'
  }

  async function forgetWebhook(): Promise<boolean> {
    const answer = await api.call((bot, ending) => bot.deleteWebhook({}, ending), { signal: closing.signal })
    return answer.ok
  }

  const polling = poll().catch((reason: unknown) => {
    // Sleeping ends with the reason of the closing.
    if (!closing.signal.aborted) runner.status('failing', createMessage('chat_broken'))
    return reason
  })

  async function quietly(make: Parameters<BotApi['call']>[0]): Promise<void> {
    await api.call(make, { signal: closing.signal })
  }

  return {
    async deliver(message, signal, onPart) {
      const result = await deliver(api, runner, message, AbortSignal.any([signal, closing.signal]), onPart)
      if (result.isTokenRefused && !closing.signal.aborted)
        runner.status('logged_out', result.sent.state === 'failed' ? result.sent.problem : null)
      return result.sent
    },
    showTyping: (chatId) => quietly((bot, ending) => bot.sendChatAction(idOf(chatId), 'typing', {}, ending)),
    answerPress: (pressId, note) =>
      quietly((bot, ending) => bot.answerCallbackQuery(pressId, { text: note.slice(0, MOST_NOTE_CHARS).toWellFormed() }, ending)),
    removeButtons: (chatId, externalId) =>
      quietly((bot, ending) =>
        bot.editMessageReplyMarkup(idOf(chatId), Number(externalId), { reply_markup: { inline_keyboard: [] } }, ending),
      ),
    async close() {
      closing.abort(new Error('the channel is closed'))
      await polling
    },
  }
}

function misbehaves(problem: Message): Trouble {
  return { ok: false, kind: 'unreachable', problem, retryAfterMs: null }
}

function incomingOf(update: TakenUpdate, position: string): Incoming {
  if (update.message !== undefined) return { position, type: 'message', message: update.message }
  return update.press === undefined ? { position, type: 'nothing' } : { position, type: 'press', press: update.press }
}

async function deliver(
  api: BotApi,
  { readFile }: Pick<RunnerOfChannel, 'readFile'>,
  message: OutgoingMessage,
  signal: AbortSignal,
  onPart: OnPart,
): Promise<{ sent: SendResult; isTokenRefused: boolean }> {
  const { lexer } = await import('marked')
  const writing: Writing<DressedText> = {
    cut: (markdown, most) =>
      splitText(
        dressMarkdown(markdown, (source) => lexer(source)),
        most,
      ),
    endWith: ({ text, entities }, words) => ({
      text: `${text}\n\n${words}`,
      entities: [...entities, { type: 'italic', offset: text.length + 2, length: words.length }],
    }),
  }
  const parts = partsOf(message, LIMITS, writing)
  let externalId: string | null = null
  const first = firstPartOf(message, parts)
  const onlyFilesLeft = (from: number) => parts.slice(from).every(({ type }) => type !== 'text')
  // A message of files alone: it never has words that others would have to come behind.
  if (onlyFilesLeft(first)) onPart(first, { onlyFilesLeft: true })
  let isIncomplete = false
  for (let i = first; i < parts.length; i++) {
    const part = withoutWhole(parts[i]!, isIncomplete)
    const answer = await sendPart(api, readFile, message.chatId, part, signal)
    if (part.type === 'attachment' && !answer.ok && (answer.kind === 'service' || answer.kind === 'refused')) {
      // The question is not held up by it. It goes out without what may only be pressed below the whole.
      isIncomplete = true
      if (onPart(i + 1, { incomplete: true })) continue
      return {
        sent: { state: 'failed', permanent: false, partsSent: i + 1, retryAfterMs: null, problem: WITHDRAWN },
        isTokenRefused: false,
      }
    }
    if (!answer.ok) {
      const permanent = answer.kind === 'forbidden' || answer.kind === 'refused'
      const { problem, retryAfterMs } = answer
      return { sent: { state: 'failed', permanent, partsSent: i, retryAfterMs, problem }, isTokenRefused: answer.kind === 'token' }
    }
    if (part.type === 'text' && part.isLastText) externalId = answer.value
    if (i < parts.length - 1 && !onPart(i + 1, { onlyFilesLeft: onlyFilesLeft(i + 1) })) {
      return {
        sent: { state: 'failed', permanent: false, partsSent: i + 1, retryAfterMs: null, problem: WITHDRAWN },
        isTokenRefused: false,
      }
    }
  }
  return { sent: { state: 'sent', externalId }, isTokenRefused: false }
}

function withoutWhole(part: Part<DressedText>, isIncomplete: boolean): Part<DressedText> {
  if (part.type !== 'text' || !isIncomplete || !part.isLastText) return part
  const words = 'The file could not be sent, so this can be approved in Deckhand only.'
  const { text, entities } = part.piece
  return { ...part, piece: { text: `${text}\n\n${words}`, entities }, buttons: part.buttons.filter(({ whole }) => whole !== true) }
}

/** A file that cannot be sent is told of instead: the rest of the message is not held up by it. */
async function sendPart(
  api: BotApi,
  readFile: RunnerOfChannel['readFile'],
  chatId: string,
  part: Part<DressedText>,
  signal: AbortSignal,
): Promise<Answer<string>> {
  if (part.type === 'text') return sendText(api, chatId, part.piece, part.buttons, signal)
  if (part.type === 'attachment') return sendDocument(api, chatId, part, signal)
  if (part.type === 'whole') return sendFile(api, chatId, part, signal)
  const name = basename(part.path)
  const read = await readFile(part.path, LIMITS.fileBytes)
  if ('bytes' in read && read.bytes.length > 0) return sendFile(api, chatId, { name, bytes: read.bytes }, signal)
  return tellOfFile(api, chatId, name, 'problem' in read ? `${read.problem}.` : 'it is empty.', signal)
}

/** Answers the service's id of the message. */
async function sendText(
  api: BotApi,
  chatId: string,
  { text, entities }: DressedText,
  buttons: readonly Button[],
  signal: AbortSignal,
): Promise<Answer<string>> {
  const send = (dressing: DressedText['entities'], below: readonly Button[]) =>
    api.call(
      (bot, ending) =>
        bot.sendMessage(
          idOf(chatId),
          text,
          {
            entities: dressing,
            // The service would open every address in the text to show what is there.
            link_preview_options: { is_disabled: true },
            ...(below.length === 0 ? {} : { reply_markup: { inline_keyboard: rowsOf(below) } }),
          },
          ending,
        ),
      { signal },
    )
  let answer = await send(entities, buttons)
  // Whatever it does not like about how the text is to be shown: the words have to arrive. What a button does can be written.
  if (isRefusedFor(answer, /entit/i) && entities.length > 0) answer = await send([], buttons)
  if (isRefusedFor(answer, /button|keyboard|reply.?markup/i) && buttons.length > 0) answer = await send([], [])
  return answer.ok ? { ok: true, value: messageIdOf(answer.value) } : answer
}

function isRefusedFor(answer: Answer<unknown>, what: RegExp): boolean {
  return !answer.ok && answer.kind === 'refused' && what.test(englishText(answer.problem))
}

async function sendFile(
  api: BotApi,
  chatId: string,
  { name, bytes }: { name: string; bytes: Uint8Array },
  signal: AbortSignal,
): Promise<Answer<string>> {
  const answer = await sendDocument(api, chatId, { name, bytes }, signal)
  return !answer.ok && answer.kind === 'refused' ? tellOfFile(api, chatId, name, englishText(answer.problem), signal) : answer
}

async function sendDocument(
  api: BotApi,
  chatId: string,
  { name, bytes }: { name: string; bytes: Uint8Array },
  signal: AbortSignal,
): Promise<Answer<string>> {
  const { InputFile } = await import('grammy/web')
  const answer = await api.call((bot, ending) => bot.sendDocument(idOf(chatId), new InputFile(bytes, nameForHeader(name)), {}, ending), {
    signal,
    deadlineMs: FILE_DEADLINE_MS,
  })
  return answer.ok ? { ok: true, value: messageIdOf(answer.value) } : answer
}

function tellOfFile(api: BotApi, chatId: string, name: string, why: string, signal: AbortSignal): Promise<Answer<string>> {
  return sendText(api, chatId, { text: `The file ${name} was not sent: ${why}`, entities: [] }, [], signal)
}

/** The service took it; what it says beside that may be missing. */
function messageIdOf(message: { message_id?: number } | null): string {
  return message?.message_id === undefined ? '' : String(message.message_id)
}

/** The library writes the name into a header as it is. */
function nameForHeader(name: string): string {
  return name.replace(/[\p{Cc}";\\]/gu, '_')
}

const NARROW_LABEL = 18

/** Short ones two to a row, in their order. */
function rowsOf(buttons: readonly Button[]): { text: string; callback_data: string }[][] {
  const isNarrow = buttons.every(({ label }) => label.length <= NARROW_LABEL)
  const rows: { text: string; callback_data: string }[][] = []
  for (const { label, action } of buttons) {
    const last = rows.at(-1)
    const button = { text: label.toWellFormed(), callback_data: action }
    if (isNarrow && last?.length === 1) last.push(button)
    else rows.push([button])
  }
  return rows
}

function waitAsked(retryAfterMs: number | null): number | null {
  return retryAfterMs === null ? null : Math.min(Math.max(retryAfterMs, ASKED_WAIT.leastMs), ASKED_WAIT.mostMs)
}

function waitBefore(failures: number, random: () => number): number {
  return Math.min(RETRY.mostMs, RETRY.firstMs * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2)
}

/** `<first update not taken in yet>@<when the last one was>` */
function readPosition(position: string | null): { updateId: number; at: number } | null {
  const parts = /^(\d{1,15})@(\d{1,15})$/.exec(position ?? '')
  return parts === null ? null : { updateId: Number(parts[1]), at: Number(parts[2]) }
}

function writePosition({ updateId, at }: { updateId: number; at: number }): string {
  return `${updateId}@${at}`
}

/** Ids of chats are numbers there and text here. */
function idOf(chatId: string): number | string {
  const id = Number(chatId)
  return Number.isSafeInteger(id) ? id : chatId
}
