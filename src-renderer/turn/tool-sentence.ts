import type { Words } from '../kit/words/words.ts'
import type { ToolItem } from './turn.ts'

export type ToolKind = keyof Words['turn']['tool']

/** What a tool is about: its kind, and the argument that says on what. */
const TOOLS: Record<string, { kind: ToolKind; subject: string; quoted?: true }> = {
  list_files: { kind: 'list', subject: 'path' },
  read_file: { kind: 'read', subject: 'path' },
  write_file: { kind: 'write', subject: 'path' },
  search_files: { kind: 'search', subject: 'query', quoted: true },
  http_get: { kind: 'fetch', subject: 'url' },
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

/** "120 lines": what came of it, as far as the tool's own answer says it. */
export function toolFact(item: Pick<ToolItem, 'name' | 'state' | 'result'>, words: Words): string | null {
  if (item.state !== 'done' || item.result === null) return null
  const { output } = item.result
  switch (toolKind(item.name)) {
    case 'read': {
      const lines = /^.*\blines (\d+)-(\d+) of /.exec(output)
      return lines === null ? null : words.turn.lines(Number(lines[2]) - Number(lines[1]) + 1)
    }
    case 'list':
      return words.turn.entries(output.match(/^(?:file|folder|link|pipe|socket|device)\t/gm)?.length ?? 0)
    case 'search': {
      const hits = /^(?:(\d+) match|No matches)/.exec(output)
      return hits === null ? null : words.turn.hits(Number(hits[1] ?? 0))
    }
    default:
      return null
  }
}

function subjectOf({ name, args }: Pick<ToolItem, 'name' | 'args'>, words: Words): string | null {
  const tool = TOOLS[name]
  if (tool === undefined || typeof args !== 'object' || args === null) return null
  const given = (args as Record<string, unknown>)[tool.subject]
  if (typeof given !== 'string' || given === '') return tool.kind === 'list' ? words.turn.itsFolders : null
  const subject = shorten(given, tool.kind)
  return tool.quoted ? words.turn.quoted(subject) : subject
}

/** A path keeps its end and an address loses its scheme: those are the telling parts. */
function shorten(subject: string, kind: ToolKind): string {
  if (kind === 'fetch') return cut(subject.replace(/^https?:\/\//, ''))
  if (kind === 'search') return cut(subject)
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
