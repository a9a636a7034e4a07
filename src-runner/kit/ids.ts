import { randomFillSync } from 'node:crypto'

/** Makes ids: UUID version 7 (RFC 9562, section 5.7), so that an index over them grows at its end. */
export type Ids = { next(): string }

const RANDOM_BYTES = 16
/** To ask the system for random bytes costs the same for one id and for many. */
const IDS_IN_STOCK = 256

/** Ids of one process never go backwards, even when the clock does (method 1 of RFC 9562, section 6.2: a counter). */
export function createIds(now: () => number): Ids {
  const stock = Buffer.alloc(RANDOM_BYTES * IDS_IN_STOCK)
  let used = stock.length
  let lastMs = 0
  let counter = 0
  return {
    next() {
      if (used === stock.length) {
        randomFillSync(stock)
        used = 0
      }
      const bytes = stock.subarray(used, (used += RANDOM_BYTES))
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
