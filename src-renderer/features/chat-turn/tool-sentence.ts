import { t, type TextsUnder } from '../../lib/language.ts'
import type { ToolItem } from './turn.ts'

type ToolForm<K = TextsUnder<'turn.tool'>> = K extends `${infer Kind}.done` ? Kind : never
export type ToolKind = ToolForm

type Tool = { kind: ToolKind; subject: string | null; quoted?: true }

/** The kind of each tool, and the argument that names its subject. */
const TOOLS: Record<string, Tool> = {
  list_files: { kind: 'list', subject: 'path' },
  read_file: { kind: 'read', subject: 'path' },
  write_file: { kind: 'write', subject: 'path' },
  edit_file: { kind: 'edit', subject: 'path' },
  move_file: { kind: 'move', subject: 'from' },
  delete_file: { kind: 'delete', subject: 'path' },
  search_files: { kind: 'search', subject: 'query', quoted: true },
  run_command: { kind: 'run', subject: 'command' },
  web_fetch: { kind: 'fetch', subject: 'url' },
  use_skill: { kind: 'skill', subject: 'skill' },
  http_request: { kind: 'request', subject: 'url' },
  code_task: { kind: 'code', subject: 'task', quoted: true },
  code_start: { kind: 'start', subject: 'program' },
  code_read: { kind: 'read', subject: 'path' },
  code_edit: { kind: 'edit', subject: 'path' },
  code_command: { kind: 'run', subject: 'command' },
  code_fetch: { kind: 'fetch', subject: 'url' },
  code_other: { kind: 'program', subject: 'title', quoted: true },
  web_search: { kind: 'webSearch', subject: 'query', quoted: true },
  remember: { kind: 'remember', subject: 'text', quoted: true },
  recall: { kind: 'recall', subject: 'query', quoted: true },
  forget: { kind: 'forget', subject: 'id' },
  keep_state: { kind: 'keepState', subject: 'state', quoted: true },
  nothing_new: { kind: 'nothingNew', subject: null },
  delegate: { kind: 'delegate', subject: 'agent' },
  ask_person: { kind: 'ask', subject: 'question', quoted: true },
  return_result: { kind: 'result', subject: 'summary', quoted: true },
}
const CHANGES_FILES = new Set<ToolKind>(['write', 'edit', 'move', 'delete', 'run'])
/** Kinds whose subject is a path, of which the end is shown. */
const PATHS = new Set<ToolKind>(['list', 'read', 'write', 'edit', 'move', 'delete'])
const MAX_SUBJECT_CHARS = 80

export function toolKind(name: string): ToolKind {
  return TOOLS[name]?.kind ?? 'other'
}

/** Whether a call of this tool may have changed files. */
export function changesFiles(name: string): boolean {
  return CHANGES_FILES.has(toolKind(name))
}

/** A call as a phrase: "Read notes.md", or while it runs, "Reading notes.md". */
export function toolSentence(item: Pick<ToolItem, 'name' | 'args' | 'state'>): string {
  const { tool, subject } = shownAs(item)
  const form = item.state === 'done' ? 'done' : 'doing'
  if (tool === undefined || subject === null) return t(`turn.tool.other.${form}`, { what: plainName(item.name) })
  return t(`turn.tool.${tool.kind}.${form}`, { what: withDetails(tool.kind, subject, item.args) })
}

/** A call of a coding program that names nothing else has its title. */
function shownAs(item: Pick<ToolItem, 'name' | 'args'>): { tool: Tool | undefined; subject: string | null } {
  const subject = subjectOf(item)
  if (subject !== null || !item.name.startsWith('code_')) return { tool: TOOLS[item.name], subject }
  return { tool: TOOLS['code_other'], subject: subjectOf({ ...item, name: 'code_other' }) }
}

function withDetails(kind: ToolKind, subject: string, args: unknown): string {
  if (kind === 'move') return movedText(subject, args)
  return kind === 'request' ? requestText(subject, args) : subject
}

/** A fact from the output of a call, such as "120 lines", or null. */
export function toolFact(item: Pick<ToolItem, 'name' | 'state' | 'result'>): string | null {
  if (item.state !== 'done' || item.result === null) return null
  const { output } = item.result
  switch (toolKind(item.name)) {
    case 'read': {
      const lines = /^.*\blines (\d+)-(\d+) of /.exec(output)
      return lines === null ? null : t('turn.lines', { count: Number(lines[2]) - Number(lines[1]) + 1 })
    }
    case 'list':
      return t('turn.entries', { count: output.match(/^(?:file|folder|link|pipe|socket|device)\t/gm)?.length ?? 0 })
    case 'search': {
      const hits = /^(?:(\d+) match|No matches)/.exec(output)
      return hits === null ? null : t('turn.hits', { count: Number(hits[1] ?? 0) })
    }
    default:
      return null
  }
}

function subjectOf({ name, args }: Pick<ToolItem, 'name' | 'args'>): string | null {
  const tool = TOOLS[name]
  if (tool === undefined || typeof args !== 'object' || args === null) return null
  if (tool.subject === null) return ''
  const given = argumentOf(args as Record<string, unknown>, tool.subject)
  if (typeof given !== 'string' || given === '') return tool.kind === 'list' ? t('turn.itsFolders') : null
  const subject = shorten(given, tool.kind)
  return tool.quoted ? t('turn.quoted', { text: subject }) : subject
}

/** A call of a coding program may name several paths. */
function argumentOf(args: Record<string, unknown>, subject: string): unknown {
  const argument = args[subject] ?? (subject === 'path' ? firstOf(args['paths']) : undefined)
  return Array.isArray(argument) ? argument.join(' ') : argument
}

function firstOf(paths: unknown): string | undefined {
  if (!Array.isArray(paths) || typeof paths[0] !== 'string') return undefined
  return paths.length === 1 ? paths[0] : t('turn.andMore', { what: paths[0], count: paths.length - 1 })
}

/** Keeps the end of a path, and drops the scheme of an address. */
function shorten(subject: string, kind: ToolKind): string {
  if (kind === 'fetch' || kind === 'request') return cut(subject.replace(/^https?:\/\//, ''))
  if (!PATHS.has(kind)) return cut(subject)
  const parts = subject.split(/[\\/]+/).filter((part) => part !== '')
  const end = parts.slice(-2).join('/')
  return end === '' ? subject : cut(parts.length > 2 ? `…/${end}` : subject)
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_SUBJECT_CHARS ? `${line.slice(0, MAX_SUBJECT_CHARS - 1)}…` : line
}

/** "a.md → old/a.md" */
function movedText(from: string, args: unknown): string {
  const { to } = args as { to?: unknown }
  return typeof to === 'string' && to !== '' ? `${from} → ${shorten(to, 'move')}` : from
}

/** "GitHub: POST /repos/ada/notes/issues" */
function requestText(address: string, args: unknown): string {
  const { connection, method } = args as { connection?: unknown; method?: unknown }
  const call = typeof method === 'string' && method !== 'GET' ? `${cut(method)} ${address}` : address
  return typeof connection === 'string' && connection !== '' ? `${cut(connection)}: ${call}` : call
}

function plainName(name: string): string {
  return name.replaceAll('_', ' ')
}
