import { z } from 'zod'
import { say } from '../../../kit/said.ts'
import { nameFolders, parsePath, PATH_HELP, PathRefused, showPlace } from '../../folder-access/folder-paths.ts'
import { openFileInside, type OpenedFile } from '../../folder-access/open-inside.ts'
import { readingFacts } from '../../folder-access/reading-facts.ts'
import { ENCODING_NAMES, readHead, readLines, sniff, type Line } from '../../folder-access/text-of-file.ts'
import { defineTool, MAX_TOOL_OUTPUT_CHARS, type ToolOutput } from '../tool.ts'

const DEFAULT_LINES = 2_000
const MAX_LINES = 10_000
const MAX_TEXT_CHARS = MAX_TOOL_OUTPUT_CHARS - 2_000
const MAX_SHOWN_LINE_CHARS = 10_000
/** No line behind this is found: reading for minutes helps nobody. */
const MAX_BYTES = 256 * 1024 * 1024
/** Up to this size all lines are counted, so that the heading can say how many there are. */
const COUNTED_BYTES = 8 * 1024 * 1024

const Args = z.object({
  path: z.string().describe(`The file. ${PATH_HELP}`),
  offset: z.number().int().min(1).optional().describe('The first line to read, from 1. Default: 1.'),
  limit: z.number().int().min(1).max(MAX_LINES).optional().describe(`The most lines to read. Default: ${DEFAULT_LINES}.`),
  lineNumbers: z.boolean().optional().describe('Put the number and a tab before each line. Default: false.'),
})

export const readFile = defineTool({
  name: 'read_file',
  description:
    "Reads a text file in the agent's folders. The first line of the answer tells size, encoding and which lines follow; the text begins on the second line. " +
    'Long files are read in parts by offset and limit. Files that hold no text are described instead. Files are not changed.',
  args: Args,
  effect: 'read',
  brings: ['private', 'untrusted'],
  parallel: true,
  facts: ({ path }, context) => readingFacts(path, 'read', context),
  async run(args, { folders, closedFolders, signal }) {
    const place = parsePath(args.path, nameFolders(folders, { closedFolders }))
    if (place === null) throw new PathRefused(say('path_names_no_file'))
    const file = await openFileInside(place)
    try {
      return await readPart(
        file,
        { offset: args.offset ?? 1, limit: args.limit ?? DEFAULT_LINES, lineNumbers: args.lineNumbers === true },
        signal,
      )
    } finally {
      await file.close()
    }
  },
})

type Part = { offset: number; limit: number; lineNumbers: boolean }

async function readPart(file: OpenedFile, part: Part, signal: AbortSignal): Promise<ToolOutput> {
  const shown = showPlace(file.place)
  const head = await readHead(file.handle)
  if (head.length === 0) return { ok: true, output: `${shown} (0 bytes, empty)` }
  const kind = sniff(head)
  if ('binary' in kind)
    return { ok: false, output: `'${shown}' is ${kind.binary} (${file.size} bytes) and holds no text that could be read.` }

  const lines: string[] = []
  let count = 0
  let chars = 0
  let hasInvalidBytes = false
  let hasCarriageReturns = false
  let hasCutLines = false
  let isFull = false
  let isCounted = true
  reading: for await (const batch of readLines(file.handle, kind.encoding, MAX_BYTES, signal)) {
    hasInvalidBytes ||= batch.hasInvalidBytes
    hasCarriageReturns ||= batch.hasCarriageReturns
    for (const line of batch.lines) {
      count++
      if (count < part.offset || isFull) continue
      const text = shownLine(line, count, part.lineNumbers)
      if (lines.length === part.limit || chars + text.length > MAX_TEXT_CHARS) {
        isFull = true
        isCounted = file.size <= COUNTED_BYTES
        if (!isCounted) break reading
        continue
      }
      hasCutLines ||= line.chars > MAX_SHOWN_LINE_CHARS
      chars += text.length + 1
      lines.push(text)
    }
  }
  if (lines.length === 0) return { ok: false, output: beyondTheEnd(shown, count, part.offset, file.size) }

  const last = part.offset + lines.length - 1
  const facts = [
    `${file.size} bytes`,
    ENCODING_NAMES[kind.encoding] + (kind.bom ? ' with byte order mark' : ''),
    ...(hasCarriageReturns ? ['lines end with CR LF'] : []),
    `lines ${part.offset}-${last} of ${isCounted ? count : 'more'}`,
  ]
  const notes = [
    ...(isFull ? [`[more lines follow: go on with offset ${last + 1}]`] : []),
    ...(hasCutLines ? [`[lines over ${MAX_SHOWN_LINE_CHARS} characters are cut]`] : []),
    ...(hasInvalidBytes ? [`[some bytes are not valid ${ENCODING_NAMES[kind.encoding]} and are shown as \uFFFD]`] : []),
  ]
  return { ok: true, output: [`${shown} (${facts.join(', ')})`, ...lines, ...notes].join('\n') }
}

function shownLine(line: Line, number: number, withNumber: boolean): string {
  const text =
    line.chars > MAX_SHOWN_LINE_CHARS
      ? `${line.text.slice(0, MAX_SHOWN_LINE_CHARS).toWellFormed()} [cut: a line of ${line.chars} characters]`
      : line.text
  return withNumber ? `${number}\t${text}` : text
}

function beyondTheEnd(shown: string, count: number, offset: number, size: number): string {
  if (size > MAX_BYTES)
    return `Line ${offset} of '${shown}' lies behind the first ${MAX_BYTES / 1024 / 1024} MB, which is as far as a file is read.`
  return `'${shown}' has ${count} line${count === 1 ? '' : 's'}; line ${offset} is behind its end.`
}
