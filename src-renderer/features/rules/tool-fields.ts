import type { TextsUnder } from '../../lib/language.ts'

type FieldName = TextsUnder<'rules.simulator.fields'>

/** One argument of a tool in the simulator. `argv`: a command line that is split at spaces and quotes. */
export type ToolField = {
  argument: string
  label: FieldName
  kind: 'line' | 'text' | 'argv'
  example?: TextsUnder<'rules.simulator.examples'>
}

const path: ToolField = { argument: 'path', label: 'path', kind: 'line', example: 'path' }

const FIELDS: Record<string, ToolField[]> = {
  list_files: [path],
  read_file: [path],
  search_files: [{ argument: 'query', label: 'query', kind: 'line' }, path],
  write_file: [path, { argument: 'content', label: 'content', kind: 'text' }],
  edit_file: [path, { argument: 'oldText', label: 'find', kind: 'text' }, { argument: 'newText', label: 'replace', kind: 'text' }],
  move_file: [
    { argument: 'from', label: 'from', kind: 'line', example: 'path' },
    { argument: 'to', label: 'to', kind: 'line' },
  ],
  delete_file: [path],
  run_command: [
    { argument: 'command', label: 'command', kind: 'argv', example: 'command' },
    { argument: 'folder', label: 'folder', kind: 'line' },
  ],
  web_fetch: [{ argument: 'url', label: 'url', kind: 'line', example: 'url' }],
  http_request: [
    { argument: 'connection', label: 'connection', kind: 'line' },
    { argument: 'method', label: 'method', kind: 'line' },
    { argument: 'url', label: 'url', kind: 'line', example: 'url' },
  ],
  web_search: [{ argument: 'query', label: 'query', kind: 'line' }],
  remember: [{ argument: 'text', label: 'text', kind: 'text' }],
  forget: [{ argument: 'id', label: 'memory', kind: 'line' }],
  recall: [{ argument: 'query', label: 'query', kind: 'line' }],
  ask_person: [{ argument: 'question', label: 'question', kind: 'text' }],
  delegate: [
    { argument: 'agent', label: 'agentName', kind: 'line' },
    { argument: 'task', label: 'task', kind: 'text' },
  ],
  code_task: [
    { argument: 'cli', label: 'program', kind: 'line', example: 'program' },
    { argument: 'folder', label: 'folder', kind: 'line' },
    { argument: 'task', label: 'task', kind: 'text' },
  ],
  return_result: [{ argument: 'summary', label: 'summary', kind: 'text' }],
}

/** Returns null for a tool that this page does not know; its arguments are typed as JSON. */
export function fieldsOf(tool: string): ToolField[] | null {
  return FIELDS[tool] ?? null
}

/** The arguments as the tool takes them, without the empty ones. */
export function argsOf(fields: readonly ToolField[], values: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ argument, kind }) => {
      const value = values[argument] ?? ''
      if (value.trim() === '') return []
      return [[argument, kind === 'argv' ? splitCommand(value) : value]]
    }),
  )
}

/** Splits a command line into words. Quotes keep words together; a backslash escapes the next character. */
export function splitCommand(line: string): string[] {
  const found: string[] = []
  let word: string | null = null
  let quote: string | null = null
  for (let at = 0; at < line.length; at++) {
    const sign = line[at]!
    if (sign === '\\' && quote !== "'" && at + 1 < line.length) {
      word = (word ?? '') + line[++at]!
    } else if (quote !== null) {
      if (sign === quote) quote = null
      else word = (word ?? '') + sign
    } else if (sign === '"' || sign === "'") {
      quote = sign
      word ??= ''
    } else if (/\s/.test(sign)) {
      if (word !== null) found.push(word)
      word = null
    } else {
      word = (word ?? '') + sign
    }
  }
  return word === null ? found : [...found, word]
}
