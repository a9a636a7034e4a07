import { z } from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import { isDirect, isForUs, mentions, readChatId, SlackMessage } from './events.ts'
import { readUntil, type Position } from './position.ts'
import { readMessage, type ReadEnvelope, type Reading } from './read-incoming.ts'
import type { Result, Trouble } from './web-api.ts'

const PAGE = 100
/** Of one conversation or thread. */
const MAX_PAGES = 30
/** Of one conversation. */
const MAX_THREADS = 20
const LONGEST_PAUSE_MS = 60_000

type Missed = SlackMessage & { channel: string }

/**
 * Hands over what was written since `position` in the chats that may be heard: Slack repeats an event for minutes only. Returns
 * the trouble that stopped it, or null. A conversation that Slack does not let us read is left out.
 */
export async function catchUp(
  reading: Reading,
  { position, chats, clock }: { position: Position; chats: readonly string[]; clock: Clock },
  handOver: (content: ReadEnvelope) => Promise<boolean>,
): Promise<Trouble | null> {
  const found: Missed[] = []
  for (const [channel, places] of Map.groupBy(chats.map(readChatId), (place) => place.channel)) {
    const known = places.flatMap(({ thread }) => thread ?? [])
    const missed = await readChannel(reading, { channel, known, since: readUntil(position, channel) }, clock)
    if (!('ok' in missed)) found.push(...missed)
    else if (!isClosed(missed)) return missed
  }
  // In the order in which they were written, whatever their conversations are.
  for (const message of found.sort((a, b) => (a.ts < b.ts ? -1 : 1))) {
    if (!(await handOver(await readMessage(reading, message)))) return null
  }
  return null
}

/** It cannot be read, or is not there any more. */
function isClosed({ kind }: Trouble): boolean {
  return kind === 'refused' || kind === 'forbidden'
}

/** `known`: threads with us, whose first messages may be older than what is read here. */
async function readChannel(
  reading: Reading,
  { channel, known, since }: { channel: string; known: readonly string[]; since: string },
  clock: Clock,
): Promise<Missed[] | Trouble> {
  // The newest page is read from its beginning, because an old message may have new replies.
  const onTop = await readPages(reading, 'conversations.history', { channel }, clock, (page) => page.some(({ ts }) => ts <= since))
  if ('ok' in onTop) return onTop
  const newer = onTop.filter(({ ts }) => ts > since)
  const replied = onTop.filter(({ latest_reply: latest }) => latest !== undefined && latest > since).map(({ ts }) => ts)
  // A thread that was read from the history tells itself whether it has news. Of the others, the newest are asked.
  const shown = new Set(onTop.map(({ ts }) => ts))
  const older = known
    .filter((ts) => !shown.has(ts))
    .sort()
    .reverse()
  for (const ts of [...replied, ...older].slice(0, MAX_THREADS)) {
    const replies = await readPages(reading, 'conversations.replies', { channel, ts, oldest: since }, clock)
    if (!('ok' in replies)) newer.push(...replies.filter((message) => message.ts > since && message.ts !== ts))
    else if (!isClosed(replies)) return replies
  }
  return newer
    .map((message) => ({ ...message, channel, ...(isDirect(channel) ? { channel_type: 'im' } : { type: typeOf(reading, message) }) }))
    .filter((message) => isForUs(message, reading.account.userId))
}

/** In a history, a mention is a message like any other. */
function typeOf({ account }: Reading, { type, text }: SlackMessage): string {
  return mentions(text, account.userId) ? 'app_mention' : type
}

const Page = z.object({
  messages: z.array(z.unknown()),
  response_metadata: z.object({ next_cursor: z.string().default('') }).default({ next_cursor: '' }),
})

/** Reads until there is no more, or until `isLast`. */
async function readPages(
  reading: Reading,
  method: string,
  args: Record<string, unknown>,
  clock: Clock,
  isLast: (page: readonly SlackMessage[]) => boolean = () => false,
): Promise<SlackMessage[] | Trouble> {
  const found: SlackMessage[] = []
  let cursor = ''
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await readPage(reading, method, { ...args, limit: PAGE, ...(cursor === '' ? {} : { cursor }) }, clock)
    if (!result.ok) return result
    found.push(...result.value.messages)
    cursor = result.value.next
    if (cursor === '' || isLast(result.value.messages)) break
  }
  return found
}

async function readPage(
  { api, closing }: Reading,
  method: string,
  args: Record<string, unknown>,
  clock: Clock,
): Promise<Result<{ messages: SlackMessage[]; next: string }>> {
  let result = await api.call(method, args, { signal: closing })
  if (!result.ok && result.kind === 'slow_down') {
    await clock.sleep(Math.min(result.retryAfterMs ?? LONGEST_PAUSE_MS, LONGEST_PAUSE_MS), closing)
    result = await api.call(method, args, { signal: closing })
  }
  if (!result.ok) return result
  const page = Page.safeParse(result.value)
  if (!page.success) return api.notUnderstood()
  const messages = page.data.messages.flatMap((given) => {
    const message = SlackMessage.safeParse(given)
    return message.success ? [message.data] : []
  })
  return { ok: true, value: { messages, next: page.data.response_metadata.next_cursor } }
}
