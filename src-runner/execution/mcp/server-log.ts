import { cutText } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'

const MAX_LINES = 500
const MAX_LINE_CHARS = 2_000
/** How many lines of one piece are kept. */
const MAX_PIECE_LINES = 200

export type LogLine = { at: number; text: string }

/** The last lines of a server, in memory. `scrub` takes secrets out. */
export function createServerLog(now: () => number) {
  const lines: LogLine[] = []
  return {
    lines: (): LogLine[] => [...lines],
    add(text: string, scrub: (text: string) => string): void {
      const found = text
        .slice(-MAX_LINE_CHARS * MAX_PIECE_LINES)
        .split(/\r?\n/)
        .slice(-MAX_PIECE_LINES)
      for (const line of found) {
        const shown = cutText(scrub(visibleText(line)), MAX_LINE_CHARS).trimEnd()
        if (shown !== '') lines.push({ at: now(), text: shown })
      }
      lines.splice(0, Math.max(0, lines.length - MAX_LINES))
    },
  }
}
