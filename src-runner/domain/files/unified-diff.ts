import { formatPatch, structuredPatch } from 'diff'

export type TextChange = { text: string; truncated: boolean }

/** More than this a person cannot read. */
export const MAX_DIFF_CHARS = 200_000
/** The time of a comparison grows with the number of differences. Beyond these limits the middle is shown as replaced. */
const COMPARE_MS = 200
const MAX_EDITS = 5_000
const CONTEXT_LINES = 3
/** Larger texts are compared only up to half of this each. */
const MAX_CHARS = 10_000_000

/**
 * The difference of two texts as a unified diff. For very different or very large texts it is correct but not the shortest: everything
 * between the equal beginning and the equal end is then shown as replaced.
 */
export function diffTexts(
  names: { before: string; after: string },
  before: string,
  after: string,
  { maxEdits = MAX_EDITS }: { maxEdits?: number } = {},
): TextChange {
  const [from, to] = [headerName(names.before), headerName(names.after)]
  if (before === after) return { text: `--- ${from}\n+++ ${to}\n`, truncated: false }
  if (before.length + after.length > MAX_CHARS) {
    const half = MAX_CHARS / 2
    const [old, now] = [before, after].map((text) => text.slice(0, half).toWellFormed()) as [string, string]
    return { text: cut(replaceMiddle(from, to, old, now)).text, truncated: true }
  }
  const patch = structuredPatch(from, to, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: COMPARE_MS,
    maxEditLength: maxEdits,
  })
  if (patch === undefined) return cut(replaceMiddle(from, to, before, after))
  return cut(formatPatch(patch, { includeIndex: false, includeUnderline: false, includeFileHeaders: true }))
}

function replaceMiddle(from: string, to: string, before: string, after: string): string {
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

/** Lines keep their ends, so that a last line without one is distinguished. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

function marked(sign: string, line: string): string {
  return line.endsWith('\n') ? sign + line.slice(0, -1) : `${sign}${line}\n\\ No newline at end of file`
}

/** Cuts at the end of a line. The line counts of the last hunk are then too large. */
function cut(text: string): TextChange {
  if (text.length <= MAX_DIFF_CHARS) return { text, truncated: false }
  const end = text.lastIndexOf('\n', MAX_DIFF_CHARS - 1)
  return { text: end < MAX_DIFF_CHARS / 2 ? text.slice(0, MAX_DIFF_CHARS).toWellFormed() : text.slice(0, end + 1), truncated: true }
}

/** A file name may contain a line break, which the header of a diff may not. */
function headerName(name: string): string {
  return name.replace(/[\t\r\n]/g, ' ')
}
