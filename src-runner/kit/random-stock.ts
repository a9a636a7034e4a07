import { randomFillSync } from 'node:crypto'

/** Pieces that are drawn from the system at once: to ask it costs the same for one and for many. */
const IN_STOCK = 256

/** Gives so many random bytes each time, never the same ones twice. The caller may write over them. */
export function createRandomStock(size: number): () => Buffer {
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
