/**
 * Reading Markdown takes time that grows with the square of its length when it is made to. A long text is therefore read
 * in slices: cut at a blank line where there is one, with a code fence closed and opened again where there is none.
 */
const WANTED_CHARS = 4000
const MOST_CHARS = 8000

export function sliceMarkdown(source: string): string[] {
  if (source.length <= MOST_CHARS) return [source]
  const slices: string[] = []
  let slice = ''
  let fence: { mark: string; opening: string } | null = null
  const cut = () => {
    if (slice.trim() !== '') slices.push(fence === null ? slice : `${slice}${fence.mark}\n`)
    slice = fence === null ? '' : `${fence.opening}\n`
  }
  for (const line of source.split('\n').flatMap(shortLines)) {
    const isBlank = line.trim() === ''
    if ((slice.length >= WANTED_CHARS && isBlank && fence === null) || slice.length + line.length > MOST_CHARS) cut()
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

/** A line that is longer than a slice, in pieces that end between words where they can. */
function shortLines(line: string): string[] {
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
