import type { Translate } from '../../../../resources/locales/translate.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, problemOf } from '../../../lib/errors.ts'
import { createMessage, englishText, joinSentences, type Speech } from '../../../lib/messages.ts'
import { CHAT_COMMANDS } from '../../../domain/channels/commands.ts'
import type { Incoming, RunnerOfChannel } from '../channel.ts'
import { pauseAfter, trouble } from '../service-calls.ts'
import type { BotApi, Result, Trouble } from './bot-api.ts'
import { FILE_DEADLINE_MS } from '../send-parts.ts'
import { joinAlbums, readUpdates, type GetFile, type ReadUpdate } from './updates.ts'

/** How long the service may hold a request for new messages. */
const POLL_SECONDS = 30
/** How much longer we wait than the service may hold the request. */
const POLL_SLACK_MS = 15_000
/** A shorter request without messages was not held. */
const MIN_HOLD_MS = 1000
/** A connection that breaks later than this is no storm: some proxies end quiet requests early. */
const STEADY_MS = 15_000
const BATCH = 100
/** The pictures of an album arrive one after another. We wait this long for the rest. */
const ALBUM_WAIT_MS = 700
/** The largest file that a bot may download. */
const MAX_DOWNLOAD_BYTES = 20_000_000
/** Nobody should wait long for a message because of the menu. */
const MENU_DEADLINE_MS = 5_000
/** After a week without updates the service may restart its numbers, so an old position is not used. */
const POSITION_KEPT_MS = 3 * 24 * 3_600_000

type PollDeps = { api: BotApi; clock: Clock; speech: Speech; random: () => number; runner: RunnerOfChannel; closing: AbortSignal }

/** Reads updates and hands them over, until `closing` aborts or the service refuses the token. Rejects when `closing` aborts. */
export async function pollUpdates({ api, clock, speech, random, runner, closing }: PollDeps, position: string | null): Promise<void> {
  let next = readPosition(position)
  /** Whether the service has yet to hear that the updates before `next` are stored. */
  let hasToConfirm = true

  const getFile = createGetFile(api, closing)

  async function request(seconds: number): Promise<Result<ReadUpdate[]>> {
    // A position from the future was noted before the clock was set back.
    const isUsable = next !== null && Math.abs(clock.now() - next.at) < POSITION_KEPT_MS
    // Only once: after a wrong, high number, the service would forget every later message.
    const offset = isUsable && hasToConfirm ? { offset: next!.updateId } : {}
    const options = { ...offset, limit: BATCH, timeout: seconds, allowed_updates: ['message', 'callback_query'] as const }
    const result = await api.call((bot, callSignal) => bot.getUpdates(options, callSignal), {
      signal: closing,
      deadlineMs: seconds * 1000 + POLL_SLACK_MS,
    })
    if (!result.ok) return result
    const updates = readUpdates(result.value, getFile)
    if (updates === null) return trouble('unreachable', createMessage('chat_not_understood', { server: 'Telegram' }))
    // More than was asked for come again with the next request.
    const fresh = updates.filter(({ updateId }) => updateId >= (offset.offset ?? 0)).slice(0, BATCH)
    // Without a pause, the server would repeat them at once.
    if (fresh.length === 0 && updates.length > 0) return trouble('unreachable', createMessage('chat_repeats'))
    hasToConfirm = false
    return { ok: true, value: fresh }
  }

  /** A batch that ends inside an album is requested again from the same position, because the rest is on its way. */
  async function requestWholeAlbums(seconds: number): Promise<Result<ReadUpdate[]>> {
    const result = await request(seconds)
    if (!result.ok || (result.value.at(-1)?.album ?? null) === null) return result
    await clock.sleep(ALBUM_WAIT_MS, closing)
    return request(0)
  }

  /** Throws what `runner.incoming` throws. Updates that were stored before that stay stored. */
  async function handOver(updates: readonly ReadUpdate[]): Promise<void> {
    const joined = joinAlbums(updates)
    for (const [i, update] of joined.entries()) {
      const after = { updateId: update.updateId + 1, at: clock.now() }
      const incoming = incomingOf(update, `${after.updateId}@${after.at}`)
      // An update without content is stored only if nothing follows it.
      if (incoming.type !== 'nothing' || i === joined.length - 1) await runner.incoming(incoming)
      if (closing.aborted) return
      next = after
      hasToConfirm = true
    }
  }

  /** Resolves with the trouble that ended a round; null: there was none. */
  async function pollOnce(seconds: number): Promise<Trouble | null> {
    const result = await requestWholeAlbums(seconds)
    if (!result.ok) return result
    runner.status('open', null)
    try {
      await handOver(result.value)
      return null
    } catch (error) {
      const why = error instanceof AppError ? problemOf(error) : createMessage('ours_broken')
      return trouble('unreachable', joinSentences(createMessage('chat_cannot_keep'), why))
    }
  }

  let failures = 0
  let isWell = false
  let hasMenu = false
  while (!closing.aborted) {
    const startedAt = clock.monotonic()
    const before = { isWell, next }
    // Until it is known to work, the service does not hold the request, so the person learns at once whether it does.
    const trouble = await pollOnce(isWell ? POLL_SECONDS : 0)
    if (closing.aborted) return
    isWell = trouble === null
    const lastedMs = clock.monotonic() - startedAt
    // The short request also succeeds where every held one breaks or another reader ends it. So only a held one ends a series of
    // failures.
    if (before.isWell && (trouble === null || lastedMs >= STEADY_MS)) failures = 0
    if (trouble === null) {
      // A server that does not hold requests would be polled without a pause.
      const wasHeld = !before.isWell || next !== before.next || lastedMs >= MIN_HOLD_MS
      if (!wasHeld) await clock.sleep(MIN_HOLD_MS, closing)
      hasMenu ||= await offerMenu(api, speech(), closing)
      continue
    }
    if (trouble.kind === 'token') return runner.status('logged_out', trouble.problem)
    // The person has just given us the bot, so its earlier webhook no longer counts.
    if (trouble.kind === 'webhook' && failures === 0) {
      const removed = await api.call((bot, callSignal) => bot.deleteWebhook({}, callSignal), { signal: closing })
      if (removed.ok) {
        failures++
        continue
      }
    }
    runner.status('failing', trouble.problem)
    const pause = pauseAfter(trouble, failures, random)
    if (trouble.retryAfterMs === null) failures++
    await clock.sleep(pause, closing)
  }
}

function createGetFile(api: BotApi, closing: AbortSignal): GetFile {
  return async ({ fileId, size }, signal) => {
    if (size !== null && size > MAX_DOWNLOAD_BYTES) return { problem: 'it is larger than the 20 MB that a bot may fetch' }
    const options = { signal: AbortSignal.any([signal, closing]) }
    const found = await api.call((bot, callSignal) => bot.getFile(fileId, callSignal), options)
    if (!found.ok) return { problem: englishText(found.problem) }
    const { file_path: path } = (found.value ?? {}) as { file_path?: unknown }
    if (typeof path !== 'string' || path.split('/').includes('..')) return { problem: 'the service does not say where it is' }
    const file = await api.download(path, { ...options, deadlineMs: FILE_DEADLINE_MS, maxBytes: MAX_DOWNLOAD_BYTES })
    return file.ok ? { bytes: file.value } : { problem: englishText(file.problem) }
  }
}

/** Offers the commands in private chats, the only ones that are read. Returns false if it should be tried again. */
async function offerMenu(api: BotApi, t: Translate, signal: AbortSignal): Promise<boolean> {
  const commands = CHAT_COMMANDS.map((command) => {
    const does = t(`outbound.command.${command}`)
    return { command, description: does[0]!.toUpperCase() + does.slice(1) }
  })
  const scope = { type: 'all_private_chats' } as const
  const options = { signal, deadlineMs: MENU_DEADLINE_MS }
  const result = await api.call((bot, callSignal) => bot.setMyCommands(commands, { scope }, callSignal), options)
  return result.ok || result.kind === 'refused'
}

function incomingOf({ message, press }: ReadUpdate, position: string): Incoming {
  if (message !== undefined) return { position, type: 'message', message }
  return press === undefined ? { position, type: 'nothing' } : { position, type: 'press', press }
}

/** `<number of the next update>@<when the last one was read>` */
function readPosition(position: string | null): { updateId: number; at: number } | null {
  const parts = /^(\d{1,15})@(\d{1,15})$/.exec(position ?? '')
  return parts === null ? null : { updateId: Number(parts[1]), at: Number(parts[2]) }
}
