import { resolve } from 'node:path'
import { isRecord } from '../../lib/json-values.ts'
import type { CodingCall, CodingCallKind, CodingUsage } from './coding-session.ts'
import type { CallUpdate } from './coding-turns.ts'

const KINDS = new Set<string>(['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch'] satisfies CodingCallKind[])
const STATUSES = new Set<string>(['pending', 'in_progress', 'completed', 'failed'] satisfies CodingCall['status'][])
const MAX_OUTPUT_CHARS = 200_000
export const MAX_MODEL_CHARS = 200
/** What codex-acp, OpenCode and Gemini CLI call the folder of a command. */
const WORKING_FOLDERS = ['cwd', 'workdir', 'directory', 'dir_path']

/**
 * What a message of the protocol says of a call; null: it names none. Everything else of it is taken as far as it is well formed.
 * `folder`: where the program works.
 */
export function readCall(value: unknown, folder: string): CallUpdate | null {
  if (!isRecord(value) || typeof value['toolCallId'] !== 'string' || value['toolCallId'] === '') return null
  const { title, kind, status, locations, rawInput } = value
  const input = isRecord(rawInput) ? rawInput : {}
  const parts = listOf(value['content'])
  const diffs = parts.filter((part) => part['type'] === 'diff').flatMap(readDiff)
  const locationPaths = listOf(locations).flatMap(({ path }) => (typeof path === 'string' ? [path] : []))
  const paths = [...locationPaths, ...diffs.map(({ path }) => path)]
  const output = outputOf(parts, value['rawOutput'])
  const update: CallUpdate = { id: value['toolCallId'] }
  if (typeof title === 'string') update.title = title
  if (typeof kind === 'string') update.kind = KINDS.has(kind) ? (kind as CodingCallKind) : 'other'
  if (typeof status === 'string' && STATUSES.has(status)) update.status = status as CodingCall['status']
  if (paths.length > 0) update.paths = paths
  if (diffs.length > 0) update.diffs = diffs
  if (output !== null) update.output = output
  const command = commandOf(input, folder)
  if (command !== null) update.command = command
  // Gemini CLI shows the command as the title and sends no input.
  else if (update.kind === 'execute' && rawInput === undefined && typeof title === 'string') update.command = title
  const url = input['url']
  if (typeof url === 'string') update.url = url
  const exitCode = exitCodeOf(value)
  if (exitCode !== null) update.exitCode = exitCode
  if (rawInput !== undefined && rawInput !== null) update.rawInput = rawInput
  return update
}

function readDiff({ path, oldText, newText }: Record<string, unknown>) {
  if (typeof path !== 'string' || typeof newText !== 'string') return []
  return [{ path, before: typeof oldText === 'string' ? oldText : null, after: newText }]
}

function outputOf(parts: readonly Record<string, unknown>[], rawOutput: unknown): string | null {
  const texts = parts.flatMap((part) => {
    const { content } = part
    return part['type'] === 'content' && isRecord(content) && typeof content['text'] === 'string' ? [content['text']] : []
  })
  if (texts.length > 0) return texts.join('\n').slice(0, MAX_OUTPUT_CHARS)
  if (typeof rawOutput === 'string') return rawOutput
  const output = isRecord(rawOutput) ? (rawOutput['output'] ?? rawOutput['formatted_output'] ?? rawOutput['stdout']) : null
  return typeof output === 'string' ? output : null
}

/** Programs name it alike, though the protocol does not. Another folder to run in is part of it. */
function commandOf(input: Record<string, unknown>, folder: string): string | null {
  const line = lineOf(input['command'] ?? input['cmd'])
  if (line === null) return null
  const folders = WORKING_FOLDERS.map((name) => input[name]).filter((place) => typeof place === 'string')
  return [...folders.filter((place) => resolve(folder, place) !== folder).map((place) => `cd ${quoteWord(place)}`), line].join(' && ')
}

function lineOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.every((word) => typeof word === 'string') && value.length > 0 ? value.map(quoteWord).join(' ') : null
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function exitCodeOf({ rawOutput, _meta }: Record<string, unknown>): number | null {
  const raw = isRecord(rawOutput) ? rawOutput : {}
  const metadata = isRecord(raw['metadata']) ? raw['metadata'] : {}
  const terminal = isRecord(_meta) && isRecord(_meta['terminal_exit']) ? _meta['terminal_exit'] : {}
  const code = raw['exit_code'] ?? raw['exitCode'] ?? metadata['exit'] ?? terminal['exit_code']
  return Number.isSafeInteger(code) ? (code as number) : null
}

/** The total of the session. Only dollars: nothing here knows what another currency is worth. */
export function readUsage({ cost }: Record<string, unknown>): CodingUsage | null {
  if (!isRecord(cost) || cost['currency'] !== 'USD') return null
  const { amount } = cost
  return typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 && amount < 1e6 ? { costUsd: amount } : null
}

/** From the answer to a prompt. Adapters count what came from a cache, or went into one, beside the rest of the input. */
export function usageOfTurn(result: unknown): CodingUsage | null {
  const { usage, _meta } = isRecord(result) ? result : {}
  if (!isRecord(usage)) return usageOfGemini(_meta)
  const cached = tokens(usage['cachedReadTokens']) ?? 0
  const input = tokens(usage['inputTokens'])
  return readTokens(input === null ? null : input + cached + (tokens(usage['cachedWriteTokens']) ?? 0), usage['outputTokens'], cached)
}

/** Gemini CLI has a field of its own. */
function usageOfGemini(meta: unknown): CodingUsage | null {
  const quota = isRecord(meta) && isRecord(meta['quota']) ? meta['quota'] : {}
  const count = quota['token_count']
  if (!isRecord(count)) return null
  const model = listOf(quota['model_usage']).find((used) => typeof used['model'] === 'string')?.['model']
  return {
    ...readTokens(count['input_tokens'], count['output_tokens'], null),
    ...(typeof model === 'string' ? { model: model.slice(0, MAX_MODEL_CHARS) } : {}),
  }
}

/** What is no number of tokens is left out. Cached ones are part of the input. */
export function readTokens(input: unknown, output: unknown, cached: unknown): CodingUsage {
  const inputTokens = tokens(input)
  const outputTokens = tokens(output)
  const cachedTokens = tokens(cached)
  return {
    ...(inputTokens === null ? {} : { inputTokens }),
    ...(outputTokens === null ? {} : { outputTokens }),
    ...(cachedTokens === null ? {} : { cachedTokens: Math.min(cachedTokens, inputTokens ?? 0) }),
  }
}

function tokens(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 1e12 ? (value as number) : null
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
