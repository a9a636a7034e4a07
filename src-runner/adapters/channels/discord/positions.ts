import type { Clock } from '../../../lib/clock.ts'

/** The newest handled message of each chat. Chats that it does not list were handled up to `base`. */
export type Positions = {
  of(chatId: string): string
  isHandled(chatId: string, id: string): boolean
  move(chatId: string, id: string): void
  /** As it is stored. */
  write(): string
}

const MAX_CHATS = 100
export const DISCORD_EPOCH = 1_420_070_400_000n
/** Our clock and that of Discord may differ by this much. */
const CLOCK_SKEW_MS = 60_000
const ID = /^\d{1,20}$/

/**
 * Reads a stored position. One for all chats would not do: messages of two chats may arrive in another order than their ids, and the
 * earlier one would be lost in a crash between them.
 */
export function readPositions(stored: string | null, clock: Pick<Clock, 'now'>): Positions {
  const { base: storedBase, chats: storedChats } = parse(stored)
  const chats = new Map(storedChats)
  // A new channel does not read what was written before it was connected.
  let base = storedBase ?? idAt(clock.now())

  const of = (chatId: string) => chats.get(chatId) ?? base
  return {
    of,
    isHandled: (chatId, id) => !isLater(id, of(chatId)),
    move(chatId, id) {
      const before = of(chatId)
      const present = idAt(clock.now() + CLOCK_SKEW_MS)
      // After an id from the future, nothing would be heard until then. If the last one was later too, our clock is wrong.
      const isFuture = isLater(id, present) && !isLater(before, present)
      if (isFuture || !isLater(id, before)) return
      chats.set(chatId, id)
      if (chats.size <= MAX_CHATS) return
      const [oldest, last] = [...chats].reduce((one, other) => (isLater(one[1], other[1]) ? other : one))
      chats.delete(oldest)
      if (isLater(last, base)) base = last
    },
    write: () => JSON.stringify({ base, chats: Object.fromEntries(chats) }),
  }
}

/** The last id before this time. */
const idAt = (ms: number) => String(((BigInt(Math.floor(ms)) - DISCORD_EPOCH) << 22n) - 1n)

/** Ids are numbers of more than 53 bits. */
export function isLater(id: string, other: string): boolean {
  return id.length === other.length ? id > other : id.length > other.length
}

function parse(stored: string | null): { base: string | null; chats: [string, string][] } {
  try {
    const { base, chats } = JSON.parse(stored ?? '') as { base?: unknown; chats?: unknown }
    const entries = Object.entries(chats ?? {}).filter(([chat, id]) => ID.test(chat) && ID.test(String(id)))
    return { base: ID.test(String(base)) ? String(base) : null, chats: entries as [string, string][] }
  } catch {
    return { base: null, chats: [] }
  }
}
