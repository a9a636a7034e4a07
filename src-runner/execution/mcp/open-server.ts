import { realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createGuardedStream, type GuardedStreamFetch } from '../../platform/net/guarded-stream.ts'
import type { GuardedFetchOptions } from '../../platform/net/guarded-fetch.ts'
import { findByName, isProgram, mayStart, type UserToolchain } from '../../platform/programs/user-toolchain.ts'
import type { NetworkProxyOptions } from '../../platform/sandbox/network-proxy.ts'
import type { SetAside } from '../../platform/protected-places/set-aside.ts'
import type { SandboxState } from '../../platform/sandbox/sandbox-types.ts'
import { startSandboxed, type RunningProgram } from '../../platform/sandbox/start-sandboxed.ts'
import type { McpTransport } from '../../contract/mcp.ts'
import { AppError } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { readServerSecrets, secretValuesOf, type ServerSecrets } from '../../domain/mcp/server-secrets.ts'
import { mcpServerKey, type Vault } from '../../lib/vault.ts'
import type { CredentialStore } from '../../domain/credentials/use-credential.ts'
import { connectServer, McpServerError, type ConnectOptions, type McpConnection, type McpLimits } from '../../agent/mcp/connect-server.ts'
import { MAX_MESSAGE_BYTES, MAX_MESSAGE_PARTS } from '../../agent/mcp/program-transport.ts'
import type { ServerFolders } from './server-folders.ts'

export type OpenServerDeps = {
  vault: Vault
  credentials: CredentialStore
  /** Hosts that the person opened and our own ports, as they are now. */
  internet: () => GuardedFetchOptions
  sandbox: () => Promise<SandboxState>
  programs: (closed: readonly string[]) => Promise<UserToolchain>
  folders: Pick<ServerFolders, 'open'>
  monotonic(): number
  limits?: Partial<McpLimits>
  /** Addresses that programs may reach if the person gave their hosts. Default: those of the internet. */
  mayReach?: NetworkProxyOptions['mayReach']
}

export type OpenedServer = McpConnection & {
  sandboxed: boolean | null
  /** How its program ended. null: it runs, or is none. */
  problem(): AppError | null
  /** Resolves when everything that its program has put by now where files run by themselves is renamed and was told to `onSetAside`. */
  recheck(): Promise<void>
}

type Listeners = Pick<ConnectOptions, 'onToolsChanged' | 'onElicitation' | 'onSampling' | 'note' | 'signal'> & {
  /** Called with all of them before anything can show one, and again when there are more. */
  onSecrets(secrets: readonly string[]): void
  onSetAside(setAside: readonly SetAside[]): void
}

const DAY_MS = 24 * 3_600_000
/** Programs answer at once or not at all: the limits of a command would let one take half of the memory. */
const PROGRAM_LIMITS = { processes: 128, memoryBytes: 2 * 1024 ** 3, memoryBytesEach: 2 * 1024 ** 3 }
const FIRST_BYTE_MS = 5 * 60_000

/** Starts or reaches a server. Throws AppError `invalid_request` with the reason, McpServerError, or the signal's reason. */
export async function openServer(
  deps: OpenServerDeps,
  server: { id: string; transport: McpTransport },
  listeners: Listeners,
): Promise<OpenedServer> {
  const { transport } = server
  const secrets = readServerSecrets(await deps.vault.get(mcpServerKey(server.id)), transport)
  requireValues(transport, secrets)
  if (transport.kind === 'stdio') return openProgram(deps, server.id, transport, secrets, listeners)
  const url = new URL(transport.url)
  const known = new Set(secretValuesOf(secrets.headers))
  listeners.onSecrets([...known])
  const fetch = createFetch(deps, transport, url, secrets, (more) => {
    for (const secret of more) known.add(secret)
    listeners.onSecrets([...known])
  })
  const connection = await connectServer({ ...common(deps, listeners), way: { kind: transport.kind, url, fetch }, roots: [] })
  return { ...connection, sandboxed: null, problem: () => null, recheck: async () => {} }
}

/** Without them the server would refuse in words of its own, or do something else. */
function requireValues(transport: McpTransport, { env, headers }: ServerSecrets): void {
  const [names, values] = transport.kind === 'stdio' ? [transport.envNames, env] : [transport.headerNames, headers]
  const name = names.find((one) => !Object.hasOwn(values, one))
  if (name !== undefined) throw new AppError('invalid_request', createMessage('mcp_value_gone', { name }))
}

function common({ monotonic, limits }: OpenServerDeps, listeners: Listeners) {
  return { ...listeners, monotonic: () => monotonic(), ...(limits === undefined ? {} : { limits }) }
}

type Remote = Extract<McpTransport, { kind: 'http' | 'sse' }>
type Program = Extract<McpTransport, { kind: 'stdio' }>

function createFetch(
  { credentials, internet }: OpenServerDeps,
  { credentialId }: Remote,
  url: URL,
  { headers }: ServerSecrets,
  addSecrets: (secrets: readonly string[]) => void,
): GuardedStreamFetch {
  const options = {
    ...internet(),
    enteredAddress: url,
    maxBytes: MAX_MESSAGE_BYTES,
    maxParts: MAX_MESSAGE_PARTS,
    firstByteMs: FIRST_BYTE_MS,
  }
  const fetchWith = (own: Record<string, string>) => createGuardedStream({ ...options, headers: async () => own })
  if (credentialId === null) return fetchWith(headers)

  /** null: only a person can sign in again. */
  const signIn = async (refused: readonly string[]) => {
    try {
      const use = await credentials.use(credentialId, null, 'write', { refused })
      addSecrets(use.secrets)
      return { secrets: use.secrets, fetch: fetchWith({ ...headers, ...(use.hosts.includes(url.hostname) ? use.headers : {}) }) }
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'credential_refused') return null
      throw thrown
    }
  }
  const unauthorized = () => new Response(null, { status: 401 })

  return async (address, init) => {
    const first = await signIn([])
    if (first === null) return unauthorized()
    const response = await first.fetch(address, init)
    if (response.status !== 401) return response
    await response.body?.cancel()
    const renewed = await signIn(first.secrets)
    return renewed === null ? unauthorized() : renewed.fetch(address, init)
  }
}

async function openProgram(
  deps: OpenServerDeps,
  id: string,
  transport: Program,
  { env }: ServerSecrets,
  listeners: Listeners,
): Promise<OpenedServer> {
  listeners.onSecrets(secretValuesOf(env))
  const program = await startProgram(deps, id, transport, env, listeners)
  program.stderr.on('data', (chunk: Buffer) => listeners.note(chunk.toString('utf8')))
  const end: { problem: AppError | null } = { problem: null }
  void program.running.ended.then(({ exitCode, limit }) => {
    end.problem = new AppError(
      'invalid_request',
      limit === null ? createMessage('mcp_stopped_itself', { code: String(exitCode ?? '–') }) : createMessage('mcp_limit', { limit }),
    )
  })
  const roots = transport.folders.map((folder) => ({ uri: pathToFileURL(folder).href, name: folder }))
  try {
    const connection = await connectServer({ ...common(deps, listeners), way: { kind: 'program', program: program.running }, roots })
    return { ...connection, sandboxed: program.sandboxed, problem: () => end.problem, recheck: program.running.recheck }
  } catch (thrown) {
    await program.running.stop()
    if (thrown instanceof McpServerError && thrown.kind === 'gone' && end.problem !== null) throw end.problem
    throw thrown
  }
}

async function startProgram(
  deps: OpenServerDeps,
  id: string,
  transport: Program,
  env: Record<string, string>,
  { onSetAside }: Pick<Listeners, 'onSetAside'>,
) {
  const { folders, hosts, command, args, allowsUnsandboxed } = transport
  const [sandbox, programs, own] = await Promise.all([deps.sandbox(), deps.programs([]), deps.folders.open(id)])
  if (!sandbox.works && !allowsUnsandboxed) throw new AppError('invalid_request', createMessage('mcp_no_sandbox'))
  const given = await Promise.all(folders.map((folder) => realpath(folder)))
  const running: RunningProgram = await startSandboxed({
    sandbox,
    command: [await findProgram(command, programs), ...args],
    folder: given[0] ?? own,
    writable: [...given, own],
    own: [own],
    onSetAside,
    programs,
    network: hosts.length > 0 ? { hosts, ...(deps.mayReach === undefined ? {} : { mayReach: deps.mayReach }) } : false,
    env: { HOME: own, ...env },
    timeoutMs: DAY_MS,
    limits: PROGRAM_LIMITS,
  })
  return { running, sandboxed: sandbox.works, stderr: running.stderr }
}

/** Never from the working folder: a name is looked up in the folders of programs, where agents cannot write. */
async function findProgram(command: string, programs: UserToolchain): Promise<string> {
  if (isAbsolute(command)) {
    if (await mayStart(command, programs)) return command
  } else if (!/[\\/]/.test(command)) {
    const found = await findByName(command, programs)
    if (found !== null) return found
  }
  const isElsewhere = isAbsolute(command) && (await isProgram(command))
  throw new AppError('invalid_request', createMessage(isElsewhere ? 'mcp_program_elsewhere' : 'mcp_no_program', { program: command }))
}
