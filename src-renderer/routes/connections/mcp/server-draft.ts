import { createStore, type SetStoreFunction } from 'solid-js/store'
import type { McpServer, McpTransport } from '../../../../src-runner/contract/mcp.ts'
import { hostsIn } from '../connection.ts'

/** A secret value by its name. `isStored`: the vault has one, which stays unless another is typed. */
export type SecretField = { name: string; value: string; isStored: boolean; description?: string | null; isRequired?: boolean }

/** A server as the person edits it. */
export type ServerFields = {
  name: string
  kind: McpTransport['kind']
  command: string
  /** One a line. */
  args: string
  /** Arguments as they came. One may have several lines, so that they stay as long as `args` is not edited. */
  givenArgs: readonly string[]
  folders: string[]
  network: 'none' | 'some' | 'any'
  hosts: string
  allowsUnsandboxed: boolean
  url: string
  credentialId: string | null
  /** Environment variables or headers. */
  secrets: SecretField[]
}
export type ServerDraft = { fields: ServerFields; set: SetStoreFunction<ServerFields> }

/** `values`: the secrets that came with a paste. */
export function createServerDraft(name: string, transport: McpTransport, secrets: readonly SecretField[]): ServerDraft {
  const program = transport.kind === 'stdio' ? transport : null
  const remote = transport.kind === 'stdio' ? null : transport
  const hosts = program?.hosts ?? []
  const [fields, set] = createStore<ServerFields>({
    name,
    kind: transport.kind,
    command: program?.command ?? '',
    args: program?.args.join('\n') ?? '',
    givenArgs: program?.args ?? [],
    folders: program?.folders ?? [],
    network: hosts.includes('*') ? 'any' : hosts.length > 0 ? 'some' : 'none',
    hosts: hosts.filter((host) => host !== '*').join(' '),
    allowsUnsandboxed: program?.allowsUnsandboxed ?? false,
    url: remote?.url ?? '',
    credentialId: remote?.credentialId ?? null,
    secrets: secrets.map((secret) => ({ ...secret })),
  })
  return { fields, set }
}

export function draftOf({ name, transport }: McpServer): ServerDraft {
  const names = transport.kind === 'stdio' ? transport.envNames : transport.headerNames
  return createServerDraft(
    name,
    transport,
    names.map((one) => ({ name: one, value: '', isStored: true })),
  )
}

export function transportOf(fields: ServerFields): McpTransport {
  const names = namedSecrets(fields).map(({ name }) => name.trim())
  if (fields.kind !== 'stdio') return { kind: fields.kind, url: fields.url.trim(), headerNames: names, credentialId: fields.credentialId }
  return {
    kind: 'stdio',
    command: fields.command.trim(),
    args: argsOf(fields),
    envNames: names,
    folders: [...fields.folders],
    hosts: fields.network === 'any' ? ['*'] : fields.network === 'some' ? hostsIn(fields.hosts) : [],
    allowsUnsandboxed: fields.allowsUnsandboxed,
  }
}

function argsOf({ args, givenArgs }: ServerFields): string[] {
  if (args === givenArgs.join('\n')) return [...givenArgs]
  return args === '' ? [] : args.split('\n')
}

/** The paths among the arguments that the sandbox hides, because they are in no folder that was given. Programs' own places are seen. */
export function hiddenPaths({ args, folders, allowsUnsandboxed }: ServerFields): string[] {
  const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`)
  return allowsUnsandboxed
    ? []
    : args
        .split('\n')
        .filter((arg) => /^(\/(?!(usr|opt|bin|lib)\/)|~\/|[a-z]:\\)./i.test(arg) && !folders.some((folder) => isIn(arg, folder)))
}

/** The body of a request: what runs, and the secrets that were typed. */
export function bodyOf(fields: ServerFields) {
  const given = Object.fromEntries(namedSecrets(fields).flatMap(({ name, value }) => (value === '' ? [] : [[name.trim(), value]])))
  return {
    name: fields.name.trim(),
    transport: transportOf(fields),
    ...(Object.keys(given).length > 0 && (fields.kind === 'stdio' ? { env: given } : { headers: given })),
  }
}

function namedSecrets(fields: ServerFields): SecretField[] {
  return fields.secrets.filter(({ name }) => name.trim() !== '')
}
