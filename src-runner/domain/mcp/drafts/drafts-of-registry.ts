import { isRecord } from '../../../lib/json-values.ts'
import { createMessage } from '../../../lib/messages.ts'
import { draftOfWords } from './draft-of-command.ts'
import type { RawDraft } from './draft-parts.ts'

type Json = Record<string, unknown>

/** An option of a program is no package. */
const PACKAGE = /^(?!-)[\w@./:+-]{1,300}$/
const VERSION = /^(?!-)[\w.+-]{1,100}$/
const MAX_WAYS = 5

/** The ways to use a server of the registry: remote addresses first, then packages. Unchecked. */
export function draftsOfRegistry(entry: unknown): RawDraft[] {
  const server = isRecord(entry) && isRecord(entry['server']) ? entry['server'] : null
  if (server === null) return []
  const name = textOf(server, 'title') ?? textOf(server, 'name')
  const head = { name, description: textOf(server, 'description') }
  const ways = [...listOf(server, 'remotes').map(remoteOf), ...listOf(server, 'packages').map(packageOf)]
  const drafts = ways.filter((way) => way !== null).map((way): RawDraft => ({ ...head, ...way, name }))
  // Without a way, it is listed as one that cannot be used.
  const problem = createMessage('mcp_registry_unusable')
  return drafts.length > 0
    ? drafts.slice(0, MAX_WAYS)
    : [{ ...head, transport: { kind: 'stdio', command: null, args: [] }, values: [], problem }]
}

/** Older servers write `next_cursor`. */
export function nextCursorOf(page: Json): string | null {
  const metadata = isRecord(page['metadata']) ? page['metadata'] : {}
  const cursor = textOf(metadata, 'nextCursor') ?? textOf(metadata, 'next_cursor')
  return cursor !== null && cursor.length <= 500 ? cursor : null
}

type Way = Pick<RawDraft, 'transport' | 'values'>

function remoteOf(remote: Json): Way | null {
  const type = textOf(remote, 'type')
  const url = textOf(remote, 'url')
  if (url === null || (type !== 'streamable-http' && type !== 'sse')) return null
  return { transport: { kind: type === 'sse' ? 'sse' : 'http', url }, values: inputsOf(remote, 'headers', 'header') }
}

function packageOf(entry: Json): Way | null {
  const identifier = textOf(entry, 'identifier') ?? ''
  const version = textOf(entry, 'version')
  const transport = isRecord(entry['transport']) ? textOf(entry['transport'], 'type') : 'stdio'
  if (!PACKAGE.test(identifier) || (version !== null && !VERSION.test(version)) || transport !== 'stdio') return null
  const env = inputsOf(entry, 'environmentVariables', 'env')
  const [before, after] = [argumentsOf(entry, 'runtimeArguments'), argumentsOf(entry, 'packageArguments')]
  const exact = (sign: string) => (version === null ? identifier : `${identifier}${sign}${version}`)
  switch (textOf(entry, 'registryType')) {
    case 'npm':
      return wayOf(['npx', '-y', ...before, exact('@'), ...after], env)
    case 'pypi':
      return wayOf(['uvx', ...before, exact('@'), ...after], env)
    case 'oci': {
      const passed = env.flatMap(({ name }) => ['-e', name])
      const image = /:[^/]*$/.test(identifier) ? identifier : exact(':')
      return wayOf(['docker', 'run', '-i', '--rm', ...passed, ...before, image, ...after], env)
    }
    default:
      return null
  }
}

function wayOf(words: string[], env: RawDraft['values']): Way {
  const { transport, values } = draftOfWords(words)
  const described = new Map(env.map((value) => [value.name, value]))
  const others = values.filter(({ name, place }) => place !== 'env' || !described.has(name))
  return { transport, values: [...env, ...others] }
}

/** `{name}` stands for what the person fills in. */
function argumentsOf(entry: Json, key: string): string[] {
  return listOf(entry, key).flatMap((argument) => {
    const hint = (textOf(argument, 'valueHint') ?? textOf(argument, 'name') ?? 'value').replaceAll(/[^\w-]+/g, '').replace(/^-+/, '')
    const open = argument['isRequired'] === true ? `{${hint === '' ? 'value' : hint}}` : null
    const value = textOf(argument, 'value') ?? textOf(argument, 'default') ?? open
    if (argument['type'] !== 'named') return value === null ? [] : [value]
    const name = textOf(argument, 'name')
    return name === null || (value === null && argument['format'] !== 'boolean' && 'valueHint' in argument)
      ? []
      : [name, ...(value === null ? [] : [value])]
  })
}

function inputsOf(entry: Json, key: string, place: 'env' | 'header'): RawDraft['values'] {
  return listOf(entry, key).flatMap((input) => {
    const name = textOf(input, 'name')
    if (name === null) return []
    const value = textOf(input, 'value') ?? textOf(input, 'default')
    return [
      {
        place,
        name,
        value: value !== null && /\{[^}]*\}/.test(value) ? null : value,
        description: textOf(input, 'description')?.slice(0, 1000) ?? null,
        isRequired: input['isRequired'] === true,
      },
    ]
  })
}

function listOf(entry: Json, key: string): Json[] {
  const list = entry[key]
  return Array.isArray(list) ? list.filter(isRecord).slice(0, 50) : []
}

function textOf(entry: Json, key: string): string | null {
  const text = entry[key]
  return typeof text === 'string' && text.trim() !== '' ? text : null
}
