import { z } from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, problemOf } from '../../../lib/errors.ts'
import { createMessage, englishText, joinSentences } from '../../../lib/messages.ts'
import type { Incoming, RunnerOfChannel } from '../channel.ts'
import { FILE_DEADLINE_MS } from '../send-parts.ts'
import { pauseAfter } from '../service-calls.ts'
import type { DiscordApi, Result } from './discord-api.ts'
import type { Health } from './health.ts'
import {
  isForAccount,
  parseMessage,
  readInteraction,
  readMessage,
  sentAtOf,
  type ChatMessage,
  type GetFile,
  type ReadInteraction,
} from './messages.ts'
import { createPlaces } from './places.ts'
import { isLater, readPositions } from './positions.ts'
import type { Presses } from './presses.ts'
import { createWorkQueue } from './work-queue.ts'

const MAX_DOWNLOAD_BYTES = 20_000_000
const PAGE = 100
const MAX_PAGES = 20
/** Events that wait to be stored. Further messages are read from the chats later. */
const MAX_WAITING = 2000

const Place = z.object({ guild_id: z.string().nullish() })

type InboxDeps = {
  api: DiscordApi
  clock: Clock
  random: () => number
  runner: RunnerOfChannel
  presses: Presses
  health: Health
  signal: AbortSignal
}

/** Hands over what comes in, one after the other, and what was written while no session was open. */
export function createInbox({ api, clock, random, runner, presses, health, signal }: InboxDeps, position: string | null) {
  const positions = readPositions(position, clock)
  const places = createPlaces(api, signal)
  const work = createWorkQueue()
  const getFile = createGetFile(api, signal)
  let botId = ''
  let missedSome = false

  /** Resolves when it is stored, however long that takes. */
  async function handOver(incoming: Incoming): Promise<void> {
    for (let failures = 0; ; failures++) {
      signal.throwIfAborted()
      try {
        await runner.incoming(incoming)
        return health.set('storing', null)
      } catch (error) {
        signal.throwIfAborted()
        const why = error instanceof AppError ? problemOf(error) : createMessage('ours_broken')
        health.set('storing', joinSentences(createMessage('chat_cannot_keep'), why))
        await clock.sleep(pauseAfter({ retryAfterMs: null }, failures, random), signal)
      }
    }
  }

  async function handOverMessage(message: ChatMessage): Promise<void> {
    if (!isForAccount(message, botId) || positions.isHandled(message.channel_id, message.id)) return
    const read = await readMessage(message, { botId, places, getFile, knownChats: runner.knownChats })
    if (read === null) return
    positions.move(message.channel_id, message.id)
    await handOver({ type: 'message', message: read, position: positions.write() })
  }

  async function handOverCommand({ id, chatId, guildId, command, sender }: ReadInteraction & { command: string }): Promise<void> {
    const room = guildId === null ? null : await places.roomOf(guildId)
    const words = { text: `/${command}`, replyTo: null, forwardedFrom: null, files: [], unreadable: null }
    positions.move(chatId, id)
    const message = { externalId: id, sender, room, sentAt: sentAtOf(id), ...words }
    await handOver({ type: 'message', message, position: positions.write() })
  }

  /** Reads what was written in known chats since the last message of each. */
  async function catchUp(from: ReadonlyMap<string, string> = new Map()): Promise<void> {
    missedSome = false
    const missed: ChatMessage[] = []
    const readTo = new Map<string, string>()
    for (const chatId of runner.knownChats()) {
      const { messages, newest } = await readMissed(chatId, from.get(chatId) ?? positions.of(chatId))
      missed.push(...messages)
      readTo.set(chatId, newest)
    }
    for (const message of missed.sort((a, b) => (isLater(a.id, b.id) ? 1 : -1))) await handOverMessage(message)
    // Also past messages for others, so that they are not read again.
    for (const [chatId, newest] of readTo) positions.move(chatId, newest)
    if (missedSome) await catchUp(readTo)
  }

  async function readMissed(chatId: string, since: string): Promise<{ messages: ChatMessage[]; newest: string }> {
    // Here messages do not say in which server they were written. Without knowing, one could pass for a private message.
    const channel = await untilAnswered(() => api.call('GET', `/channels/${encodeURIComponent(chatId)}`, { signal }))
    const place = channel.ok ? Place.safeParse(channel.value) : null
    const missed: unknown[] = []
    let after = since
    if (place?.success !== true) return { messages: [], newest: since }
    for (let page = 1; ; page++) {
      const path = `/channels/${encodeURIComponent(chatId)}/messages?after=${after}&limit=${PAGE}`
      const result = await untilAnswered(() => api.call('GET', path, { signal }))
      // The chat is gone, or the bot may no longer read it.
      const found = result.ok && Array.isArray(result.value) ? (result.value as unknown[]) : []
      missed.push(...found)
      const before = after
      after = newestOf(found, after)
      // A page of the same messages is the end, too.
      if (found.length < PAGE || after === before) break
      missedSome ||= page === MAX_PAGES
      if (page === MAX_PAGES) break
    }
    const messages = missed.flatMap((data) => parseMessage(data) ?? [])
    return { messages: messages.map((message) => ({ ...message, guild_id: place.data.guild_id ?? null })), newest: after }
  }

  /** Asks again while the service is in trouble. */
  async function untilAnswered(ask: () => Promise<Result<unknown>>): Promise<Result<unknown>> {
    for (let failures = 0; ; failures++) {
      const result = await ask()
      signal.throwIfAborted()
      const isAnswer = result.ok || result.kind === 'refused' || result.kind === 'forbidden' || result.kind === 'token'
      health.set('reading', isAnswer ? null : result.problem)
      if (isAnswer) return result
      await clock.sleep(pauseAfter(result, failures, random), signal)
    }
  }

  function onInteraction(data: unknown): void {
    const interaction = readInteraction(data)
    if (interaction === null || work.length() >= MAX_WAITING) return
    // The service waits three seconds for an answer, so it does not wait for what came before.
    presses.acknowledge(interaction)
    const { press, command } = interaction
    if (command !== undefined) work.add(() => handOverCommand({ ...interaction, command }))
    else work.add(() => handOver({ type: 'press', press, position: positions.write() }))
  }

  return {
    onEvent(type: string, data: unknown): void {
      if (type === 'INTERACTION_CREATE') onInteraction(data)
      const message = type === 'MESSAGE_CREATE' ? parseMessage(data) : null
      if (message === null || !isForAccount(message, botId)) return
      if (work.length() < MAX_WAITING) return work.add(() => handOverMessage(message))
      if (!missedSome) work.add(() => catchUp())
      missedSome = true
    },
    /** A new session has begun. */
    onReady(userId: string): void {
      botId = userId
      work.add(() => catchUp())
    },
    /** Does this after everything that has come in so far. */
    addLast: work.add,
    run: () => work.run(signal),
  }
}

function newestOf(messages: readonly unknown[], after: string): string {
  const ids = messages.flatMap((message) => {
    const { id } = (message ?? {}) as { id?: unknown }
    return typeof id === 'string' && /^\d{1,20}$/.test(id) ? [id] : []
  })
  return ids.reduce((newest, id) => (isLater(id, newest) ? id : newest), after)
}

function createGetFile(api: DiscordApi, closing: AbortSignal): GetFile {
  return async ({ url, size }, signal) => {
    if (size !== null && size > MAX_DOWNLOAD_BYTES) return { problem: 'it is larger than the 20 MB that Deckhand fetches' }
    const options = { signal: AbortSignal.any([signal, closing]), deadlineMs: FILE_DEADLINE_MS, maxBytes: MAX_DOWNLOAD_BYTES }
    const file = await api.download(url, options)
    return file.ok ? { bytes: file.value } : { problem: englishText(file.problem) }
  }
}
