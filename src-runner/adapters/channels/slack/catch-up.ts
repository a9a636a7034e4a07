import { z } from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import { isDirect, isForUs, mentions, readChatId, SlackMessage } from './events.ts'
import { readUntil, type Position } from './position.ts'
import { readMessage, type ReadEnvelope, type Reading } from './read-incoming.ts'
import type { Result, Trouble } from './web-api.ts'

/** Conversations that are read after an interruption, the newest first. */
const MAX_CHANNELS = 20
const PAGE = 100
const MAX_PAGES = 30
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
  const channels = [...new Set(chats.map((chatId) => readChatId(chatId).channel))].slice(0, MAX_CHANNELS)
  const found: Missed[] = []
  for (const channel of channels) {
    const missed = await readChannel(reading, channel, readUntil(position, channel), clock)
    if (!('ok' in missed)) found.push(...missed)
    else if (missed.kind !== 'refused' && missed.kind !== 'forbidden') return missed
  }
  // In the order in which they were written, whatever their conversations are.
  for (const message of found.sort((a, b) => (a.ts < b.ts ? -1 : 1))) {
    if (!(await handOver(await readMessage(reading, message)))) return null
  }
  return null
}

async function readChannel(reading: Reading, channel: string, since: string, clock: Clock): Promise<Missed[] | Trouble> {
  const newer: SlackMessage[] = []
  const threads: string[] = []
  // The newest page is read from its beginning, because an old message may have new replies.
  let cursor = ''
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await readPage(reading, 'conversations.history', { channel, limit: PAGE, ...(cursor === '' ? {} : { cursor }) }, clock)
    if (!result.ok) return result
    const { messages, next } = result.value
    newer.push(...messages.filter(({ ts }) => ts > since))
    threads.push(...messages.filter(({ latest_reply: latest }) => latest !== undefined && latest > since).map(({ ts }) => ts))
    cursor = next
    if (cursor === '' || messages.some(({ ts }) => ts <= since)) break
  }
  for (const ts of threads.slice(0, MAX_THREADS)) {
    const result = await readPage(reading, 'conversations.replies', { channel, ts, oldest: since, limit: PAGE }, clock)
    if (!result.ok) return result
    newer.push(...result.value.messages.filter((message) => message.ts > since && message.ts !== ts))
  }
  return newer
    .map((message) => ({ ...message, channel, ...(isDirect(channel) ? { channel_type: 'im' } : { type: typeOf(reading, message) }) }))
    .filter(isForUs)
}

/** In a history, a mention is a message like any other. */
function typeOf({ account }: Reading, { type, text }: SlackMessage): string {
  return mentions(text, account.userId) ? 'app_mention' : type
}

const Page = z.object({
  messages: z.array(z.unknown()),
  response_metadata: z.object({ next_cursor: z.string().default('') }).default({ next_cursor: '' }),
})

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
