import type { Words } from '../kit/words/words.ts'
import type { ToolItem } from './turn.ts'

export type ToolKind = keyof Words['turn']['tool']

/** What a tool is about: its kind, and the arguments that say on what, the first that is there. */
const TOOLS: Record<string, { kind: ToolKind; subject: string[]; quoted?: true }> = {
  read_file: { kind: 'read', subject: ['path'] },
  write_file: { kind: 'write', subject: ['path'] },
  edit_file: { kind: 'edit', subject: ['path'] },
  list_folder: { kind: 'list', subject: ['path'] },
  list_files: { kind: 'list', subject: ['path'] },
  search_files: { kind: 'search', subject: ['query', 'pattern', 'text'], quoted: true },
  find_files: { kind: 'search', subject: ['pattern', 'query', 'name'], quoted: true },
  http_get: { kind: 'fetch', subject: ['url'] },
  fetch_page: { kind: 'fetch', subject: ['url'] },
}
const MAX_SUBJECT_CHARS = 80

export function toolKind(name: string): ToolKind {
  return TOOLS[name]?.kind ?? 'other'
}

/** "Read notes.md": what a call did, or is doing, in words. */
export function toolSentence(item: Pick<ToolItem, 'name' | 'args' | 'state'>, words: Words): string {
  const tool = TOOLS[item.name]
  const form = item.state === 'done' ? 'done' : 'doing'
  const subject = subjectOf(item, words)
  if (tool === undefined || subject === null) return words.turn.tool.other[form](plainName(item.name))
  return words.turn.tool[tool.kind][form](subject)
}

/** "120 lines": what came of it, as far as that can be counted. */
export function toolFact(item: Pick<ToolItem, 'name' | 'state' | 'result'>, words: Words): string | null {
  if (item.state !== 'done' || item.result === null) return null
  const lines = lineCount(item.result.output)
  switch (toolKind(item.name)) {
    case 'read':
      return words.turn.lines(lines)
    case 'list':
      return words.turn.entries(lines)
    case 'search':
      return words.turn.hits(lines)
    case 'fetch':
      return words.turn.characters(item.result.output.length)
    default:
      return null
  }
}

function subjectOf({ name, args }: Pick<ToolItem, 'name' | 'args'>, words: Words): string | null {
  const tool = TOOLS[name]
  if (tool === undefined || typeof args !== 'object' || args === null) return null
  const given = tool.subject.map((key) => (args as Record<string, unknown>)[key]).find((value) => typeof value === 'string' && value !== '')
  if (given === undefined) return tool.kind === 'list' ? words.turn.theFolder : null
  const subject = shorten(given as string, tool.kind)
  return tool.quoted ? words.turn.quoted(subject) : subject
}

/** A path keeps its end and an address loses its scheme: those are the telling parts. */
function shorten(subject: string, kind: ToolKind): string {
  if (kind === 'fetch') return cut(subject.replace(/^https?:\/\//, ''))
  if (kind === 'search') return cut(subject)
  if (kind === 'list' && (subject === '.' || subject === './')) return subject
  const parts = subject.split(/[\\/]+/).filter((part) => part !== '')
  const end = parts.slice(-2).join('/')
  return end === '' ? subject : cut(parts.length > 2 ? `…/${end}` : subject)
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_SUBJECT_CHARS ? `${line.slice(0, MAX_SUBJECT_CHARS - 1)}…` : line
}

function plainName(name: string): string {
  return name.replaceAll('_', ' ')
}

function lineCount(text: string): number {
  const trimmed = text.trimEnd()
  return trimmed === '' ? 0 : trimmed.split('\n').length
}
