/** A line of a diff. `gap` stands for unchanged lines that are left out. */
export type DiffLine =
  | {
      kind: 'same' | 'add' | 'remove'
      before: number | null
      after: number | null
      text: string
      /** The file ends here without a newline. */ noEnd: boolean
    }
  | { kind: 'gap'; text: string }

export type ParsedDiff = { lines: DiffLine[]; added: number; removed: number }

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/

/** Parses a unified diff. It counts lines by the hunk headers, so that a text line `--- a` is not taken for a header. */
export function parseDiff(diff: string): ParsedDiff {
  const parsed: ParsedDiff = { lines: [], added: 0, removed: 0 }
  let before = 0
  let after = 0
  let leftBefore = 0
  let leftAfter = 0
  for (const line of diff.split('\n')) {
    const sign = line[0]
    if (leftBefore > 0 || leftAfter > 0) {
      const text = line.slice(1)
      if (sign === '+') {
        parsed.lines.push({ kind: 'add', before: null, after: after++, text, noEnd: false })
        parsed.added++
        leftAfter--
        continue
      }
      if (sign === '-') {
        parsed.lines.push({ kind: 'remove', before: before++, after: null, text, noEnd: false })
        parsed.removed++
        leftBefore--
        continue
      }
      if (sign === ' ' || sign === undefined) {
        parsed.lines.push({ kind: 'same', before: before++, after: after++, text, noEnd: false })
        leftBefore--
        leftAfter--
        continue
      }
    }
    if (sign === '\\') {
      const last = parsed.lines.at(-1)
      if (last !== undefined && last.kind !== 'gap') last.noEnd = true
      continue
    }
    const hunk = HUNK.exec(line)
    if (hunk === null) continue
    before = Number(hunk[1])
    leftBefore = Number(hunk[2] ?? 1)
    after = Number(hunk[3])
    leftAfter = Number(hunk[4] ?? 1)
    if (parsed.lines.length > 0 || before > 1 || after > 1) parsed.lines.push({ kind: 'gap', text: hunk[5] ?? '' })
  }
  return parsed
}

/** The diff of one file. `path`: as it is afterwards, or before if it is gone. */
export type FileDiff = { path: string; diff: string }

const HEADER = /^--- (.*)\n\+\+\+ (.*)\n(?=@@ )/gm

/** Splits a diff of several files. Every line of it is in one of the parts, except what stands before the first file. */
export function splitDiff(diff: string): FileDiff[] {
  const headers = [...diff.matchAll(HEADER)]
  return headers.map(({ index, 1: before, 2: after }, at) => ({
    path: (after === '/dev/null' ? before! : after!).replace(/^[ab]\//, ''),
    diff: diff.slice(index, headers[at + 1]?.index),
  }))
}
