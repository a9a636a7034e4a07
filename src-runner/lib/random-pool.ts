import { randomFillSync } from 'node:crypto'

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
