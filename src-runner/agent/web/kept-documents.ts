import type { Clock } from '../../lib/clock.ts'

const KEPT_DOCUMENTS = 8
const KEPT_MS = 10 * 60_000

export type KeptDocuments<Document> = {
  find(key: string): Document | undefined
  keep(key: string, document: Document): void
}

/** The last documents, so that reading one in parts requests it once. */
export function keepDocuments<Document>(clock: Clock): KeptDocuments<Document> {
  const kept = new Map<string, { document: Document; until: number }>()
  return {
    find(key) {
      const found = kept.get(key)
      return found !== undefined && found.until > clock.monotonic() ? found.document : undefined
    },
    keep(key, document) {
      kept.delete(key)
      kept.set(key, { document, until: clock.monotonic() + KEPT_MS })
      for (const old of kept.keys()) if (kept.size > KEPT_DOCUMENTS) kept.delete(old)
    },
  }
}

/** A part that does not end within a character. */
export function partOf(text: string, from: number, chars: number): string {
  const end = from + chars
  const isWithinCharacter = end < text.length && /[\ud800-\udbff]/.test(text[end - 1]!)
  return text.slice(from, isWithinCharacter ? end - 1 : end)
}
