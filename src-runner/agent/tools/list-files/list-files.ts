import { z } from 'zod'
import { plural } from '../../../lib/text.ts'
import { PATH_HELP, PathRefused, showPlace, type Place } from '../../files/folder-paths.ts'
import type { EntryKind } from '../../files/held-path.ts'
import { openInside, type OpenedFolder } from '../../files/open-inside.ts'
import { isSkippedFolder, readFolder } from '../../files/read-folder.ts'
import { placesFor, readingFacts, rulesNote, scanFilterFor } from '../reading.ts'
import { defineTool, MAX_TOOL_OUTPUT_CHARS, type ToolContext } from '../tool.ts'

const DEFAULT_ROWS = 500
const MAX_ROWS = 2_000
const DEFAULT_DEPTH = 3
const MAX_DEPTH = 20
/** Leaves room for headings and notes. */
const MAX_ROWS_CHARS = MAX_TOOL_OUTPUT_CHARS - 5_000
const MAX_COUNTED = 100_000
const STATS_AT_ONCE = 32

const Args = z.object({
  path: z.string().optional().describe(`The folder to list. ${PATH_HELP} Left out: all of the agent's folders.`),
  recursive: z.boolean().optional().describe('Also list the folders below. Default: false.'),
  depth: z
    .number()
    .int()
    .min(1)
    .max(MAX_DEPTH)
    .optional()
    .describe(`With recursive: how many levels to go down. Default: ${DEFAULT_DEPTH}.`),
  limit: z.number().int().min(1).max(MAX_ROWS).optional().describe(`The most entries to show. Default: ${DEFAULT_ROWS}.`),
})

export const listFiles = defineTool({
  name: 'list_files',
  description:
    "Lists the agent's folders: kind, size in bytes, time of the last change (UTC) and path of each entry, separated by tabs and sorted by name. " +
    'The paths work as they are in list_files and read_file. Links are shown, not followed. Changes nothing.',
  args: Args,
  effect: 'read',
  addsTaint: ['private', 'untrusted'],
  parallel: true,
  facts: ({ path }, context) => readingFacts(path, 'list', context),
  async run(args, context) {
    const places = placesFor(args.path, context)
    const budget: Budget = { rows: args.limit ?? DEFAULT_ROWS, chars: MAX_ROWS_CHARS }
    const blocks: string[] = []
    let listed = 0
    for (const one of places) {
      try {
        blocks.push(await listing(one, args.recursive === true ? (args.depth ?? DEFAULT_DEPTH) : 1, budget, context))
        listed++
      } catch (thrown) {
        if (!(thrown instanceof PathRefused) || places.length === 1) throw thrown
        blocks.push(thrown.message)
      }
    }
    return { ok: listed > 0, output: blocks.join('\n\n') }
  },
})

type Budget = { rows: number; chars: number }
type Scan = { budget: Budget; signal: AbortSignal; mayShow: Awaited<ReturnType<typeof scanFilterFor>> }
type Tally = ReturnType<typeof createTally>

function createTally() {
  const counts: Record<EntryKind, number> = { file: 0, folder: 0, link: 0, pipe: 0, socket: 0, device: 0 }
  return { counts, shown: 0, total: 0, byRules: 0, stoppedCounting: false, notEntered: [] as string[], unreadable: [] as string[] }
}

/** Level by level: if there is too much, the deepest entries are left out. */
async function listing(start: Place, depth: number, budget: Budget, context: ToolContext): Promise<string> {
  const scan = { budget, signal: context.signal, mayShow: await scanFilterFor(start, context) }
  const rows: string[] = []
  const tally = createTally()
  let level: Place[] = [start]
  for (let left = depth; level.length > 0 && left > 0; left--) {
    const next: Place[] = []
    for (const place of level) {
      if (tally.total >= MAX_COUNTED) {
        tally.stoppedCounting = true
        break
      }
      let below: Place[]
      try {
        below = await listOne(place, rows, tally, scan)
      } catch (thrown) {
        if (place === start || !(thrown instanceof PathRefused)) throw thrown
        tally.unreadable.push(showPlace(place))
        continue
      }
      if (left === 1) continue
      next.push(...below.filter(({ parts }) => !isSkippedFolder(parts.at(-1)!)))
      tally.notEntered.push(...below.filter(({ parts }) => isSkippedFolder(parts.at(-1)!)).map(showPlace))
    }
    level = next
  }
  return [...headingFor(start, tally), ...rows, ...notesFor(tally)].join('\n')
}

/** Returns the folders below. Throws PathRefused. */
async function listOne(place: Place, rows: string[], tally: Tally, { budget, signal, mayShow }: Scan): Promise<Place[]> {
  signal.throwIfAborted()
  const opened = await openInside(place)
  try {
    if (opened.kind === 'file') throw new PathRefused(`'${showPlace(place)}' is a file, not a folder. Read it with read_file.`)
    const contents = await readFolder(opened, MAX_ROWS, signal, mayShow && ((name) => mayShow([...place.parts, name])))
    tally.byRules += contents.skipped
    tally.total += contents.total
    for (const kind of Object.keys(contents.counts) as EntryKind[]) tally.counts[kind] += contents.counts[kind]
    await addRows(opened, contents.entries, rows, tally, budget)
    return contents.entries
      .filter(({ kind }) => kind === 'folder')
      .map(({ name }) => ({ folder: place.folder, parts: [...place.parts, name] }))
  } finally {
    await opened.close()
  }
}

async function addRows(
  folder: OpenedFolder,
  entries: { name: string; kind: EntryKind }[],
  rows: string[],
  tally: Tally,
  budget: Budget,
): Promise<void> {
  for (let i = 0; i < entries.length && budget.rows > 0 && budget.chars > 0; i += STATS_AT_ONCE) {
    const some = entries.slice(i, i + Math.min(STATS_AT_ONCE, budget.rows))
    const stats = await Promise.all(some.map(({ name }) => folder.stat(name)))
    for (const [n, { name, kind: listedKind }] of some.entries()) {
      const found = stats[n]
      const kind = found?.kind ?? listedKind
      const path = showPlace({ folder: folder.place.folder, parts: [...folder.place.parts, name] }) + (kind === 'folder' ? '/' : '')
      const row = [kind, found && kind === 'file' ? found.size : '-', found ? timeOf(found.modifiedAt) : '-', path].join('\t')
      if (row.length > budget.chars) {
        budget.chars = 0
        break
      }
      budget.chars -= row.length + 1
      budget.rows--
      tally.shown++
      rows.push(row)
    }
  }
}

function headingFor(place: Place, { counts, total }: Tally): string[] {
  const shown = showPlace(place)
  if (total === 0) return [`${shown}: empty`]
  const parts = (['folder', 'file', 'link', 'pipe', 'socket', 'device'] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind) => plural(counts[kind], kind))
  return [`${shown}: ${parts.join(', ')}`, 'kind\tsize\tmodified\tpath']
}

function notesFor(tally: Tally): string[] {
  const notes: string[] = []
  const hidden = tally.total - tally.shown
  if (hidden > 0 || tally.stoppedCounting) {
    notes.push(
      `[${tally.stoppedCounting ? 'At least ' : ''}${hidden} more ${hidden === 1 ? 'entry is' : 'entries are'} not shown. List a folder below, raise limit, or use search_files.]`,
    )
  }
  if (tally.notEntered.length > 0) notes.push(`[Not entered: ${someOf(tally.notEntered)}. List them by their own path.]`)
  if (tally.byRules > 0) notes.push(`[Skipped: ${rulesNote(tally.byRules)}.]`)
  if (tally.unreadable.length > 0) notes.push(`[Could not be read: ${someOf(tally.unreadable)}.]`)
  return notes
}

function someOf(names: string[]): string {
  return names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`
}

function timeOf(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '-' : date.toISOString().slice(0, 16).replace('T', ' ')
}
