import { formatPatch, structuredPatch } from 'diff'

export type TextChange = { text: string; truncated: boolean }

/** What a page can show and a person can read. */
export const MAX_DIFF_CHARS = 200_000
/** Comparing takes time that grows with the number of differences; beyond this the whole middle is shown as replaced. */
const COMPARE_MS = 200
const MAX_EDITS = 5_000
const CONTEXT_LINES = 3
/** Of a larger text the rest is not looked at. */
const MOST_CHARS = 10_000_000

/**
 * The difference of two texts as a unified diff. Never wrong, but of very different or very large texts not the
 * shortest: what lies between the equal beginning and the equal end is then shown as taken out and put in.
 */
export function diffTexts(names: { before: string; after: string }, before: string, after: string): TextChange {
  const [from, to] = [headerName(names.before), headerName(names.after)]
  if (before === after) return { text: `--- ${from}\n+++ ${to}\n`, truncated: false }
  if (before.length + after.length > MOST_CHARS) {
    const half = MOST_CHARS / 2
    return {
      text: cut(wholeMiddle(from, to, before.slice(0, half).toWellFormed(), after.slice(0, half).toWellFormed())).text,
      truncated: true,
    }
  }
  const patch = structuredPatch(from, to, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: COMPARE_MS,
    maxEditLength: MAX_EDITS,
  })
  if (patch === undefined) return cut(wholeMiddle(from, to, before, after))
  return cut(formatPatch(patch, { includeIndex: false, includeUnderline: false, includeFileHeaders: true }))
}

function wholeMiddle(from: string, to: string, before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const context = Math.min(CONTEXT_LINES, start)
  const tail = Math.min(CONTEXT_LINES, end)
  const first = start - context
  const oldCount = old.length - end + tail - first
  const newCount = now.length - end + tail - first
  const hunk = [
    `@@ -${rangeFor(first, oldCount)} +${rangeFor(first, newCount)} @@`,
    ...old.slice(first, start).map((line) => marked(' ', line)),
    ...old.slice(start, old.length - end).map((line) => marked('-', line)),
    ...now.slice(start, now.length - end).map((line) => marked('+', line)),
    ...old.slice(old.length - end, old.length - end + tail).map((line) => marked(' ', line)),
  ]
  return `--- ${from}\n+++ ${to}\n${hunk.join('\n')}\n`
}

/** A range of no lines names the line before it. */
function rangeFor(first: number, count: number): string {
  return `${count === 0 ? first : first + 1},${count}`
}

/** With their ends, so that a last line without one is told apart. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

function marked(sign: string, line: string): string {
  return line.endsWith('\n') ? sign + line.slice(0, -1) : `${sign}${line}\n\\ No newline at end of file`
}

/** At the end of a line, and without the last hunk's promise of how many there are. */
function cut(text: string): TextChange {
  if (text.length <= MAX_DIFF_CHARS) return { text, truncated: false }
  const end = text.lastIndexOf('\n', MAX_DIFF_CHARS - 1)
  return { text: end < MAX_DIFF_CHARS / 2 ? text.slice(0, MAX_DIFF_CHARS).toWellFormed() : text.slice(0, end + 1), truncated: true }
}

/** A name may hold a line break; a diff's header may not. */
function headerName(name: string): string {
  return name.replace(/[\t\r\n]/g, ' ')
}
