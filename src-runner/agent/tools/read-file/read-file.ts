import { z } from 'zod'
import { plural } from '../../../lib/text.ts'
import { PATH_HELP, showPlace } from '../../files/folder-paths.ts'
import { openFileInside, type OpenedFile } from '../../files/open-inside.ts'
import { placeFor, readingFacts } from '../reading.ts'
import { ENCODING_NAMES, readHead, readLines, sniff, type Line } from '../../files/text-of-file.ts'
import { defineTool, MAX_TOOL_OUTPUT_CHARS, type ToolOutput } from '../tool.ts'

const DEFAULT_LINES = 2_000
const MAX_LINES = 10_000
const MAX_TEXT_CHARS = MAX_TOOL_OUTPUT_CHARS - 2_000
const MAX_SHOWN_LINE_CHARS = 10_000
/** A file is read this far at most. */
const MAX_BYTES = 256 * 1024 * 1024
/** Up to this size the heading says how many lines there are. */
const COUNTED_BYTES = 8 * 1024 * 1024

const Args = z.object({
  path: z.string().describe(`The file. ${PATH_HELP}`),
  offset: z.number().int().min(1).optional().describe('The first line to read, from 1. Default: 1.'),
  limit: z.number().int().min(1).max(MAX_LINES).optional().describe(`The most lines to read. Default: ${DEFAULT_LINES}.`),
  lineNumbers: z.boolean().optional().describe('Put the line number and a tab before each line. Default: false.'),
})

export const readFile = defineTool({
  name: 'read_file',
  description:
    "Reads a text file in the agent's folders. The first line of the result gives size, encoding and which lines follow; the text begins on the second line. " +
    'Read long files in parts with offset and limit. Files without text are described instead. Changes nothing.',
  args: Args,
  effect: 'read',
  addsTaint: ['private', 'untrusted'],
  parallel: true,
  facts: ({ path }, context) => readingFacts(path, 'read', context),
  async run(args, context) {
    const { offset = 1, limit = DEFAULT_LINES, lineNumbers = false } = args
    const file = await openFileInside(placeFor(args.path, context))
    try {
      return await readPart(file, { offset, limit, lineNumbers }, context.signal)
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
  if ('binary' in kind) return { ok: false, output: `'${shown}' is ${kind.binary} (${file.size} bytes) and has no text to read.` }

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
    ...(isFull ? [`[more lines follow: continue with offset ${last + 1}]`] : []),
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
    return `Line ${offset} of '${shown}' is beyond the first ${MAX_BYTES / 1024 / 1024} MB, which is the limit for reading.`
  return `'${shown}' has ${plural(count, 'line')}; line ${offset} is beyond its end.`
}
