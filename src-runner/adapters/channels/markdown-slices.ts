/**
 * Hostile Markdown takes quadratic time to parse. So a long text is parsed in slices. They end at blank lines if possible;
 * inside a code fence, the fence is closed and opened again.
 */
const WANTED_CHARS = 4000
const MAX_CHARS = 8000

export function sliceMarkdown(source: string): string[] {
  if (source.length <= MAX_CHARS) return [source]
  const slices: string[] = []
  let slice = ''
  let fence: { mark: string; opening: string } | null = null
  const cut = () => {
    if (slice.trim() !== '') slices.push(fence === null ? slice : `${slice}${fence.mark}\n`)
    slice = fence === null ? '' : `${fence.opening}\n`
  }
  for (const line of source.split('\n').flatMap(splitLine)) {
    const isBlank = line.trim() === ''
    if ((slice.length >= WANTED_CHARS && isBlank && fence === null) || slice.length + line.length > MAX_CHARS) cut()
    slice += `${line}\n`
    const mark: string | undefined = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark === undefined) continue
    if (fence === null) fence = { mark, opening: line.slice(0, 100) }
    else if (line.trim().startsWith(fence.mark) && line.trim().replaceAll(fence.mark[0]!, '') === '') fence = null
  }
  fence = null
  cut()
  return slices
}

/** Splits a line that is longer than a slice, between words if possible. */
function splitLine(line: string): string[] {
  const pieces: string[] = []
  let rest = line
  while (rest.length > WANTED_CHARS) {
    const space = rest.lastIndexOf(' ', WANTED_CHARS)
    const end = space > WANTED_CHARS / 2 ? space + 1 : WANTED_CHARS - Number(/[\ud800-\udbff]/.test(rest[WANTED_CHARS - 1]!))
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...pieces, rest]
}
