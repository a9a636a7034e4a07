const EPOCH = 1_420_070_400_000n

/** Ids of Discord: the time in ms since 2015, and a counter. */
export function createSnowflakes(now: () => number): { next(): string } {
  let last = 0n
  return {
    next() {
      const first = (BigInt(now()) - EPOCH) << 22n
      last = last >= first ? last + 1n : first
      return String(last)
    },
  }
}

/** Also for text, where a longer number is greater. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : Number(a > b))
}
