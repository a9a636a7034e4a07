import { randomFillSync } from 'node:crypto'

/** UUID version 7 (RFC 9562, section 5.7), so that an index over ids grows at its end. */
export type Ids = { next(): string }

/** Ids of one process always ascend, even when the clock goes back (RFC 9562, section 6.2, method 1: a counter). */
export function createIds(now: () => number): Ids {
  const random = createRandomPool(16)
  let lastMs = 0
  let counter = 0
  return {
    next() {
      const bytes = random()
      const ms = now()
      if (ms > lastMs) {
        lastMs = ms
        counter = bytes.readUInt16BE() & 0x7ff
      } else if (++counter > 0xfff) {
        lastMs++
        counter = 0
      }
      bytes.writeUIntBE(lastMs, 0, 6)
      bytes.writeUInt16BE(0x7000 | counter, 6)
      bytes[8] = 0x80 | (bytes[8]! & 0x3f)
      const hex = bytes.toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
    },
  }
}

/** The system needs the same time for one piece and for many. */
const IN_STOCK = 256

/** Returns this many random bytes each time, never the same ones twice. The caller may overwrite them. */
export function createRandomPool(size: number): () => Buffer {
  const stock = Buffer.alloc(size * IN_STOCK)
  let used = stock.length
  return () => {
    if (used === stock.length) {
      randomFillSync(stock)
      used = 0
    }
    return stock.subarray(used, (used += size))
  }
}
