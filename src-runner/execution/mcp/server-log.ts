import { cutText } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'

const MAX_LINES = 500
const MAX_LINE_CHARS = 2_000
/** How many lines of one piece are kept. */
const MAX_PIECE_LINES = 200
/** Within `WINDOW_MS`. Cleaning more would keep the one thread busy that runs all jobs. */
const MAX_WINDOW_CHARS = 500_000
const WINDOW_MS = 10_000

export type LogLine = { at: number; text: string }

/** The last lines of a server, in memory. `scrub` takes secrets out. */
export function createServerLog(now: () => number) {
  const lines: LogLine[] = []
  let window = { start: now(), chars: 0 }

  /** What is left of a text when the window is full. */
  function bounded(text: string): string {
    const at = now()
    if (Math.abs(at - window.start) > WINDOW_MS) window = { start: at, chars: 0 }
    const wasFull = window.chars > MAX_WINDOW_CHARS
    window.chars += text.length
    return window.chars <= MAX_WINDOW_CHARS ? text : wasFull ? '' : '[it writes more than is kept]'
  }

  return {
    lines: (): LogLine[] => [...lines],
    add(text: string, scrub: (text: string) => string): void {
      const found = bounded(text)
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
