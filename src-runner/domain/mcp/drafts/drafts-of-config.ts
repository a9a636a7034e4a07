import { isRecord } from '../../../lib/json-values.ts'
import { createMessage } from '../../../lib/messages.ts'
import { dedupe, draftOfWords } from './draft-of-command.ts'
import type { RawDraft } from './draft-parts.ts'

/** Under which names programs keep their servers: most of them; VS Code; Goose; Zed. */
const LISTS = ['mcpServers', 'servers', 'extensions', 'context_servers'] as const
/** Where those lists are inside of other settings: VS Code's settings, the projects of Claude Code. */
const AROUND = ['mcp', 'projects', 'config'] as const
const MAX_SERVERS = 100
const MAX_DEPTH = 4

/**
 * The servers in the configuration of a program, whatever program that is. Also takes one server alone, or a list without
 * anything around it. Unchecked.
 */
export function draftsOfConfig(config: unknown): RawDraft[] {
  const inputs = isRecord(config) ? inputsOf(config) : new Map<string, string>()
  return entriesOf(config, 0)
    .slice(0, MAX_SERVERS)
    .flatMap(([name, entry]) => draftOfEntry(name, entry, inputs) ?? [])
}

type Entry = [name: string | null, entry: Record<string, unknown>]

function entriesOf(value: unknown, depth: number): Entry[] {
  if (depth > MAX_DEPTH) return []
  if (Array.isArray(value)) return value.filter(isRecord).flatMap((one) => (isServer(one) ? [entryAlone(one)] : []))
  if (!isRecord(value)) return []
  if (isServer(value)) return [entryAlone(value)]
  const lists = LISTS.flatMap((key) => (Object.hasOwn(value, key) ? namedIn(value[key]) : []))
  const inner = AROUND.flatMap((key) => {
    const held = Object.hasOwn(value, key) ? value[key] : undefined
    if (key !== 'projects') return entriesOf(held, depth + 1)
    return isRecord(held) ? Object.values(held).flatMap((project) => entriesOf(project, depth + 1)) : []
  })
  const found = [...lists, ...inner]
  return found.length > 0 || depth > 0 ? found : namedIn(value)
}

function namedIn(value: unknown): Entry[] {
  if (Array.isArray(value)) return value.filter(isRecord).map(entryAlone)
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, entry]): Entry[] => (isRecord(entry) && isServer(entry) ? [[name, entry]] : []))
}

function entryAlone(entry: Record<string, unknown>): Entry {
  return [typeof entry['name'] === 'string' ? entry['name'] : null, entry]
}

const ADDRESS_KEYS = ['url', 'serverUrl', 'httpUrl', 'uri'] as const
const COMMAND_KEYS = ['command', 'cmd'] as const

function isServer(entry: Record<string, unknown>): boolean {
  const settings = settingsOf(entry)
  return [...ADDRESS_KEYS, ...COMMAND_KEYS].some((key) => Object.hasOwn(settings, key) && settings[key] != null)
}

/** Goose once kept them one level deeper, and Zed keeps the command in an object. */
function settingsOf(entry: Record<string, unknown>): Record<string, unknown> {
  const inner = isRecord(entry['config']) ? { ...entry, ...entry['config'] } : entry
  const { command } = inner
  return isRecord(command) ? { ...inner, ...command, command: command['path'] } : inner
}

function draftOfEntry(name: string | null, entry: Record<string, unknown>, inputs: Map<string, string>): RawDraft | null {
  const settings = settingsOf(entry)
  const firstOf = (keys: readonly string[]) => keys.map((key) => settings[key]).find((value) => value != null)
  const valuesOf = (place: 'env' | 'header', ...keys: string[]): RawDraft['values'] =>
    keys.flatMap((key): RawDraft['values'] => {
      const held = settings[key]
      if (Array.isArray(held)) return held.filter((one) => typeof one === 'string').map((one) => ({ place, name: one, value: null }))
      return isRecord(held) ? Object.entries(held).map(([of, value]) => ({ place, name: of, ...filledIn(value, inputs) })) : []
    })
  const notes = typeof settings['envFile'] === 'string' ? [createMessage('mcp_draft_env_file')] : []
  const url = firstOf(ADDRESS_KEYS)
  if (url !== undefined) {
    const kind = /sse/i.test(JSON.stringify([settings['type'], settings['transport']])) ? 'sse' : 'http'
    return { name, transport: { kind, url }, values: dedupe(valuesOf('header', 'headers')), notes }
  }
  const env = dedupe(valuesOf('env', 'env_keys', 'env', 'envs'))
  const command = firstOf(COMMAND_KEYS)
  const { args = [] } = settings
  if (typeof command !== 'string' || !Array.isArray(args) || !args.every((arg) => typeof arg === 'string')) {
    return { name, transport: { kind: 'stdio', command, args }, values: env, notes }
  }
  const draft = draftOfWords([command, ...args], name)
  return { ...draft, values: dedupe([...env, ...draft.values]), notes }
}

/** VS Code asks for these when it starts a server. */
function inputsOf(config: Record<string, unknown>): Map<string, string> {
  const around = isRecord(config['mcp']) ? config['mcp'] : config
  const inputs = Array.isArray(around['inputs']) ? around['inputs'].filter(isRecord) : []
  return new Map(inputs.map((input) => [String(input['id']), String(input['description'] ?? input['id'])]))
}

function filledIn(value: unknown, inputs: Map<string, string>): { value: unknown; description: string | null } {
  const id = typeof value === 'string' ? /^\$\{input:([^}]+)\}$/.exec(value)?.[1] : undefined
  return { value, description: id === undefined ? null : (inputs.get(id)?.slice(0, 1000) ?? null) }
}
