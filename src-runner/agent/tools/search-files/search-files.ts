import { RE2JS, RE2JSException } from 're2js'
import { z } from 'zod'
import { messageOf } from '../../../lib/errors.ts'
import { plural } from '../../../lib/text.ts'
import { PATH_HELP, PathRefused, showPlace, type Place } from '../../files/folder-paths.ts'
import { openInside, type OpenedFile } from '../../files/open-inside.ts'
import { isSkippedFolder, readFolder } from '../../files/read-folder.ts'
import { placesFor, readingFacts, rulesNote, scanFilterFor } from '../reading.ts'
import { MAX_LINE_CHARS, readHead, readLines, sniff } from '../../files/text-of-file.ts'
import { defineTool, MAX_TOOL_OUTPUT_CHARS } from '../tool.ts'
import { compileGlob } from './glob.ts'

const DEFAULT_RESULTS = 100
const MAX_RESULTS = 1_000
const MAX_FILES = 20_000
const MAX_BYTES = 512 * 1024 * 1024
const MAX_BYTES_OF_FILE = 20 * 1024 * 1024
const MAX_ENTRIES_OF_FOLDER = 10_000
const MAX_OUTPUT_CHARS = MAX_TOOL_OUTPUT_CHARS - 2_000
const SHOWN_LINE_CHARS = 300
/** The steps that an expression may take on one line: about ten milliseconds at worst. */
const MAX_STEPS_OF_LINE = 250_000
const MIN_SEEN_CHARS = 500
const MAX_PROGRAM_SIZE = 1_000
/** How long a search may hold the event loop. */
const SLICE_MS = 8

const Args = z.object({
  query: z.string().min(1).max(1_000).describe('What to look for in each line: this exact text, or a regular expression if regex is set.'),
  regex: z
    .boolean()
    .optional()
    .describe('query is a regular expression in RE2 syntax: no look-ahead, look-behind or back-references. Default: false.'),
  path: z.string().optional().describe(`Where to look: a folder or a file. ${PATH_HELP} Left out: all of the agent's folders.`),
  glob: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe(
      "Only files that match, for example '*.md', 'src/**/*.ts' or '*.{yml,yaml}'. With a slash it is matched against the whole path, with or without the folder's name.",
    ),
  caseSensitive: z.boolean().optional().describe('Default: false.'),
  context: z.number().int().min(0).max(10).optional().describe('Lines to show before and after each match. Default: 0.'),
  maxResults: z
    .number()
    .int()
    .min(1)
    .max(MAX_RESULTS)
    .optional()
    .describe(`Stop after this many matching lines. Default: ${DEFAULT_RESULTS}.`),
  includeHidden: z.boolean().optional().describe('Also look into hidden files and folders, .git and node_modules. Default: false.'),
})

export const searchFiles = defineTool({
  name: 'search_files',
  description:
    "Searches the text files in the agent's folders line by line. Shows each match as path:line: text, and the lines around it as path-line- text. " +
    'Skips hidden files, .git and node_modules unless includeHidden is set, and files without text; the result says what was skipped. Changes nothing.',
  args: Args,
  effect: 'read',
  addsTaint: ['private', 'untrusted'],
  parallel: true,
  facts: ({ path }, context) => readingFacts(path, 'search', context),
  async run(args, context) {
    const search = createSearch(args, context.signal)
    for (const start of placesFor(args.path, context)) await searchTree(start, search, await scanFilterFor(start, context))
    return { ok: true, output: [headingFor(search.tally), ...search.out, ...notesFor(search.tally)].join('\n') }
  },
})

type Search = ReturnType<typeof createSearch>

function createSearch(args: z.output<typeof Args>, signal: AbortSignal) {
  return {
    finder: finderFor(args.query, args.regex === true, args.caseSensitive === true),
    fits: args.glob === undefined ? () => true : globFor(args.glob),
    context: args.context ?? 0,
    resultsLeft: args.maxResults ?? DEFAULT_RESULTS,
    includeHidden: args.includeHidden === true,
    signal,
    pauseAt: 0,
    out: [] as string[],
    chars: 0,
    tally: {
      matches: 0,
      filesWithMatches: 0,
      files: 0,
      bytes: 0,
      hidden: 0,
      binary: 0,
      unreadable: 0,
      byRules: 0,
      /** Files and lines that were only searched at their beginning. */
      cut: 0,
      longLines: 0,
      /** Folders with too many entries. */
      crowded: 0,
      /** Why the search ended early. */
      stopped: null as string | null,
    },
  }
}

type Tally = Search['tally']
/** `find` returns where the match begins in the line, or -1. It gets at most `maxChars` of a line. */
type Finder = { find: (line: string) => number; maxChars: number }

/**
 * The engine's time grows with text × expression and never faster. The larger the expression, the shorter the part of a
 * line that it sees, so that no line takes long.
 */
function finderFor(query: string, isRegex: boolean, caseSensitive: boolean): Finder {
  if (!isRegex) {
    const plain = caseSensitive ? query : query.toLowerCase()
    return { maxChars: MAX_LINE_CHARS, find: (line) => (caseSensitive ? line : line.toLowerCase()).indexOf(plain) }
  }
  try {
    const pattern = RE2JS.compile(query, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
    if (pattern.programSize() > MAX_PROGRAM_SIZE) throw new PathRefused('The regular expression is too large. Repeat less in it.')
    const maxChars = Math.max(MIN_SEEN_CHARS, Math.min(MAX_LINE_CHARS, Math.floor(MAX_STEPS_OF_LINE / pattern.programSize())))
    return {
      maxChars,
      find(line) {
        if (!pattern.test(line)) return -1
        // Finding the place takes longer than finding out whether there is a match. Only an excerpt needs it.
        if (line.length <= SHOWN_LINE_CHARS) return 0
        const matcher = pattern.matcher(line)
        return matcher.find() ? matcher.start() : -1
      },
    }
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown
    throw new PathRefused(
      `The regular expression cannot be used: ${messageOf(thrown)}. The syntax is RE2's. Without regex, the query is plain text.`,
    )
  }
}

function globFor(glob: string): (parts: readonly string[]) => boolean {
  try {
    return compileGlob(glob)
  } catch (thrown) {
    throw new PathRefused(`The pattern '${glob}' cannot be used: ${messageOf(thrown)}.`)
  }
}

/** Depth first, by name. The start is searched even if it is hidden, and an error there is thrown. */
async function searchTree(start: Place, search: Search, mayShow: ((parts: readonly string[]) => boolean) | null): Promise<void> {
  const stack: Place[] = [start]
  for (let place = stack.pop(); place !== undefined && search.tally.stopped === null; place = stack.pop()) {
    search.signal.throwIfAborted()
    try {
      const opened = await openInside(place)
      try {
        if (opened.kind === 'file') await searchFile(opened, search)
        else {
          const mayShowEntry = mayShow && ((name: string) => mayShow([...place.parts, name]))
          const { entries, total, skipped } = await readFolder(opened, MAX_ENTRIES_OF_FOLDER, search.signal, mayShowEntry)
          search.tally.byRules += skipped
          if (total > entries.length) search.tally.crowded++
          stack.push(...(await placesBelow(place, entries, search)).reverse())
        }
      } finally {
        await opened.close()
      }
    } catch (thrown) {
      if (!(thrown instanceof PathRefused) || place === start) throw thrown
      search.tally.unreadable++
    }
  }
}

async function placesBelow(place: Place, entries: { name: string; kind: string }[], search: Search): Promise<Place[]> {
  const below: Place[] = []
  for (const { name, kind } of entries) {
    // A long pattern takes a millisecond for a name.
    if (performance.now() > search.pauseAt) await pause(search)
    // Links are not followed: their targets inside the folder are found where they are.
    if (kind !== 'file' && kind !== 'folder') continue
    if (!search.includeHidden && (kind === 'folder' ? isSkippedFolder(name) : name.startsWith('.'))) {
      search.tally.hidden++
      continue
    }
    const parts = [...place.parts, name]
    if (kind === 'folder' || search.fits(parts) || search.fits([place.folder.name, ...parts])) below.push({ folder: place.folder, parts })
  }
  return below
}

async function searchFile(file: OpenedFile, search: Search): Promise<void> {
  const { tally } = search
  if (tally.files >= MAX_FILES) tally.stopped = `${MAX_FILES} files were searched`
  if (tally.bytes >= MAX_BYTES) tally.stopped = `${MAX_BYTES / 1024 / 1024} MB were searched`
  if (tally.stopped !== null) return
  const head = await readHead(file.handle)
  const kind = sniff(head)
  if ('binary' in kind) {
    tally.binary++
    return
  }
  tally.files++
  tally.bytes += Math.min(file.size, MAX_BYTES_OF_FILE)
  if (file.size > MAX_BYTES_OF_FILE) tally.cut++
  const shown = showPlace(file.place)
  const before: string[] = []
  let number = 0
  let after = 0
  let lastShown = 0
  let found = 0
  for await (const batch of readLines(file.handle, kind.encoding, MAX_BYTES_OF_FILE, search.signal)) {
    for (const { text, chars } of batch.lines) {
      number++
      if (performance.now() > search.pauseAt) await pause(search)
      const at = search.resultsLeft > 0 ? search.finder.find(text.slice(0, search.finder.maxChars)) : -1
      if (chars > search.finder.maxChars) tally.longLines++
      if (at >= 0) {
        if (search.context > 0 && lastShown > 0 && number - before.length > lastShown + 1) put(search, '--')
        for (const [i, line] of before.entries()) put(search, `${shown}-${number - before.length + i}- ${excerpt(line, 0)}`)
        before.length = 0
        put(search, `${shown}:${number}: ${excerpt(text, at)}`)
        found++
        tally.matches++
        search.resultsLeft--
        after = search.context
        lastShown = number
      } else if (after > 0) {
        put(search, `${shown}-${number}- ${excerpt(text, 0)}`)
        after--
        lastShown = number
      } else if (search.context > 0) {
        before.push(text)
        if (before.length > search.context) before.shift()
      }
      if (search.resultsLeft === 0 && after === 0) tally.stopped = `${tally.matches} matches were found`
      if (search.chars > MAX_OUTPUT_CHARS) tally.stopped = 'the answer is full'
      if (tally.stopped !== null) break
    }
    if (tally.stopped !== null) break
  }
  if (found > 0) tally.filesWithMatches++
}

function put(search: Search, line: string): void {
  search.out.push(line)
  search.chars += line.length + 1
}

/** The part of a long line in which the match is. */
function excerpt(line: string, at: number): string {
  if (line.length <= SHOWN_LINE_CHARS) return line
  const from = Math.max(0, Math.min(at - SHOWN_LINE_CHARS / 3, line.length - SHOWN_LINE_CHARS))
  const to = from + SHOWN_LINE_CHARS
  return `${from > 0 ? '…' : ''}${line.slice(from, to).toWellFormed()}${to < line.length ? '…' : ''}`
}

async function pause(search: Search): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  search.signal.throwIfAborted()
  search.pauseAt = performance.now() + SLICE_MS
}

function headingFor({ matches, filesWithMatches, files }: Tally): string {
  const searched = `(${plural(files, 'file')} searched)`
  if (matches === 0) return `No matches ${searched}`
  return `${matches} match${matches === 1 ? '' : 'es'} in ${plural(filesWithMatches, 'file')} ${searched}`
}

function notesFor(tally: Tally): string[] {
  const left = [
    ...(tally.hidden > 0
      ? [`${tally.hidden} hidden or node_modules ${tally.hidden === 1 ? 'entry' : 'entries'} (includeHidden searches them)`]
      : []),
    ...(tally.binary > 0 ? [`${plural(tally.binary, 'file')} without text`] : []),
    ...(tally.cut > 0 ? [`all but the first ${MAX_BYTES_OF_FILE / 1024 / 1024} MB of ${plural(tally.cut, 'large file')}`] : []),
    ...(tally.longLines > 0 ? [`the ends of ${plural(tally.longLines, 'very long line')}`] : []),
    ...(tally.byRules > 0 ? [rulesNote(tally.byRules)] : []),
    ...(tally.unreadable > 0 ? [`${tally.unreadable} that could not be read`] : []),
    ...(tally.crowded > 0 ? [`all but the first ${MAX_ENTRIES_OF_FOLDER} entries of ${plural(tally.crowded, 'folder')}`] : []),
  ]
  return [
    ...(tally.stopped === null ? [] : [`[Stopped: ${tally.stopped}, there may be more. Narrow the search by path or glob.]`]),
    ...(left.length > 0 ? [`[Skipped: ${left.join(', ')}.]`] : []),
  ]
}
