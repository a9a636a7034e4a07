/** The newest handled message of each chat. Chats that it does not list were handled up to `base`. */
export type Positions = {
  of(chatId: string): string
  isHandled(chatId: string, id: string): boolean
  move(chatId: string, id: string): void
  /** As it is stored. */
  write(): string
}

const MOST_CHATS = 100
const DISCORD_EPOCH = 1_420_070_400_000n
const ID = /^\d{1,20}$/

/**
 * Reads a stored position. One for all chats would not do: messages of two chats may arrive in another order than their ids, and the
 * earlier one would be lost in a crash between them.
 */
export function readPositions(stored: string | null, now: number): Positions {
  const { base: storedBase, chats: storedChats } = parse(stored)
  const chats = new Map(storedChats)
  // A new channel does not read what was written before it was connected.
  let base = storedBase ?? String(((BigInt(now) - DISCORD_EPOCH) << 22n) - 1n)

  const of = (chatId: string) => chats.get(chatId) ?? base
  return {
    of,
    isHandled: (chatId, id) => !isLater(id, of(chatId)),
    move(chatId, id) {
      if (!isLater(id, of(chatId))) return
      chats.set(chatId, id)
      if (chats.size <= MOST_CHATS) return
      const [oldest, last] = [...chats].reduce((one, other) => (isLater(one[1], other[1]) ? other : one))
      chats.delete(oldest)
      if (isLater(last, base)) base = last
    },
    write: () => JSON.stringify({ base, chats: Object.fromEntries(chats) }),
  }
}

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
