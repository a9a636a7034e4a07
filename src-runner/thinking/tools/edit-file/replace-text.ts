import { say } from '../../../kit/said.ts'

const MAX_LINES_NAMED = 20

type Wanted = { oldText: string; newText: string; replaceAll?: boolean }

/**
 * Replaces one exact text by another, once or wherever it occurs. Line ends are the file's: where it has CR LF, a line
 * break in what a model wrote stands for that. `{file}` in a problem stands for the file's name.
 */
export function replaceText(text: string, wanted: Wanted): { text: string; lines: number[] } | { problem: string } {
  const [oldText, newText] = inLineEndsOf(text, wanted)
  if (oldText === newText) return { problem: say('edit_same') }
  const places = placesOf(oldText, text)
  if (places.length === 0) return { problem: say(isNearMiss(oldText, text) ? 'edit_spaces' : 'edit_not_found', { path: '{file}' }) }
  const lines = linesAt(places, text)
  if (places.length > 1 && wanted.replaceAll !== true) {
    const named = lines.slice(0, MAX_LINES_NAMED).join(', ') + (lines.length > MAX_LINES_NAMED ? ' and more' : '')
    return {
      problem: say('edit_many', { times: places.length, path: '{file}', words: named }),
    }
  }
  return { text: text.split(oldText).join(newText), lines }
}

function inLineEndsOf(text: string, { oldText, newText }: Wanted): [string, string] {
  const crlf = (part: string) => part.replace(/\r?\n/g, '\r\n')
  if (!text.includes('\r\n')) return [oldText, newText]
  const hasBare = /(^|[^\r])\n/.test(text)
  if (!hasBare) return [crlf(oldText), crlf(newText)]
  // Both kinds in one file: as it was written if it occurs so, else as the lines that end with CR LF have it.
  return text.includes(oldText) ? [oldText, newText] : [crlf(oldText), crlf(newText)]
}

/** Side by side, as they would be replaced: one that overlaps the one before is not counted. */
function placesOf(oldText: string, text: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + oldText.length)) places.push(at)
  return places
}

function linesAt(places: readonly number[], text: string): number[] {
  let line = 1
  let seen = 0
  return places.map((place) => {
    for (let at = text.indexOf('\n', seen); at !== -1 && at < place; at = text.indexOf('\n', at + 1)) {
      line++
      seen = at + 1
    }
    return line
  })
}

/** The commonest mistake has an answer of its own: the words are right and the spaces are not. */
function isNearMiss(oldText: string, text: string): boolean {
  const words = (part: string) => part.replace(/\s+/g, ' ').trim()
  const wanted = words(oldText)
  return wanted !== '' && words(text).includes(wanted)
}
