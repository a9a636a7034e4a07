import { isRecord } from '../../lib/json-values.ts'
import type { CodingCallKind, CodingDiff } from './coding-session.ts'
import type { CallUpdate } from './coding-turns.ts'

const KINDS: Record<string, CodingCallKind> = {
  Read: 'read',
  NotebookRead: 'read',
  LS: 'search',
  Glob: 'search',
  Grep: 'search',
  Write: 'edit',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Bash: 'execute',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  Task: 'think',
  TodoWrite: 'think',
}
const MAX_EDITS = 1_000

/** What a call of one of Claude Code's tools is; null: it is not named. */
export function claudeCall(id: unknown, name: unknown, rawInput: unknown): CallUpdate | null {
  if (typeof id !== 'string' || id === '' || typeof name !== 'string') return null
  const input = isRecord(rawInput) ? rawInput : {}
  const text = (key: string) => (typeof input[key] === 'string' ? input[key] : null)
  const path = text('file_path') ?? text('notebook_path') ?? text('path')
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name]! : 'other'
  const subject = text('command') ?? path ?? text('pattern') ?? text('url') ?? text('query') ?? text('description') ?? ''
  return {
    id,
    kind,
    title: kind === 'execute' ? subject : `${name} ${subject}`,
    paths: path === null ? [] : [path],
    command: kind === 'execute' ? text('command') : null,
    url: text('url'),
    diffs: path === null ? [] : diffsOf(path, input),
    rawInput: input,
  }
}

function diffsOf(path: string, input: Record<string, unknown>): CodingDiff[] {
  if (typeof input['content'] === 'string') return [{ path, before: null, after: input['content'] }]
  if (typeof input['new_source'] === 'string') return [{ path, before: null, after: input['new_source'] }]
  const edits = Array.isArray(input['edits']) ? input['edits'].slice(0, MAX_EDITS) : [input]
  return edits.flatMap((edit) =>
    isRecord(edit) && typeof edit['new_string'] === 'string'
      ? [{ path, before: typeof edit['old_string'] === 'string' ? edit['old_string'] : null, after: edit['new_string'] }]
      : [],
  )
}

/** How a call ended; null: the part is something else. */
export function claudeResult({ type, tool_use_id: id, content, is_error: isError }: Record<string, unknown>): CallUpdate | null {
  if (type !== 'tool_result' || typeof id !== 'string' || id === '') return null
  const parts = Array.isArray(content) ? content.filter(isRecord) : []
  const output = typeof content === 'string' ? content : parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
  const [, code] = (isError === true && /^Exit code (\d{1,3})\b/.exec(output)) || []
  return { id, status: isError === true ? 'failed' : 'completed', output, ...(code === undefined ? {} : { exitCode: Number(code) }) }
}
