import { transact } from '../../../platform/db/database.ts'
import type { CreateMcpServer, McpServer, McpTransport, UpdateMcpServer } from '../../../contract/mcp.ts'
import { AppError, invalidAt } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { mcpServerKey } from '../../../lib/vault.ts'
import {
  deleteMcpServer,
  getMcpServer,
  insertMcpServer,
  isSameServer,
  listMcpServers,
  updateMcpServer,
} from '../../../domain/mcp/mcp-servers.ts'
import { pageOfList } from '../../../domain/cursors.ts'
import { findCredentialOfMcpServer } from '../../../domain/credentials/credentials.ts'
import { readHeaders, requireHeaderNames } from '../../../domain/mcp/header-value.ts'
import { acceptTools } from '../../../domain/mcp/mcp-tools.ts'
import { NO_SECRETS, readServerSecrets, writeServerSecrets, type ServerSecrets } from '../../../domain/mcp/server-secrets.ts'
import { deleteRulesOfTools } from '../../../domain/rules/rules.ts'
import { NAME_SEPARATOR } from '../../../domain/mcp/tool-names.ts'
import type { Handlers } from '../handler.ts'
import { readSettings } from '../../../domain/settings/settings.ts'
import { requireUsableFolders } from '../usable-folders.ts'
import { writeWithSecret } from '../write-with-secret.ts'
import type { HandlerDeps } from './deps.ts'

/** Values of environments and headers are in the vault. A row only has their names. */
export function mcpHandlers({ db, clock, ids, vault, log, dataDir, mcp, mcpTools, authorizations }: HandlerDeps) {
  /** Throws AppError for a transport that cannot be used. */
  async function requireUsable(transport: McpTransport): Promise<void> {
    if (transport.kind !== 'stdio') return requireAddress(transport.url)
    await requireUsableFolders(transport.folders, { dataDir, backupFolder: readSettings(db).backupFolder })
  }

  function writeSecrets(
    { id, transport }: Pick<McpServer, 'id' | 'transport'>,
    secrets: ServerSecrets,
    write: () => McpServer,
  ): Promise<McpServer> {
    return writeWithSecret({ vault, log }, mcpServerKey(id), writeServerSecrets(secrets, transport), write)
  }

  async function change(before: McpServer, { env, headers, ...body }: UpdateMcpServer): Promise<McpServer> {
    const write = (fields: typeof body) => transact(db, (tx) => updateMcpServer(tx, before.id, fields))
    if (body.transport === undefined && env === undefined && headers === undefined) return write(body)
    const stored = readServerSecrets(await vault.get(mcpServerKey(before.id)), before.transport)
    const given = withOwnAccount(body.transport ?? before.transport, before.transport)
    // A header was given for one server. It never goes to another one.
    const kept = body.transport === undefined || isSameServer(before.transport, given) || given.kind === 'stdio' ? stored : NO_SECRETS
    const { transport, secrets } = withSecrets(given, { env, headers }, kept)
    await requireUsable(transport)
    return writeSecrets({ id: before.id, transport }, secrets, () => write({ ...body, transport }))
  }

  function read(serverId: string): McpServer {
    return mcp.withLiveStatus(getMcpServer(db, serverId))
  }

  return {
    listMcpServers({ query }, { caller }) {
      const listed = listMcpServers(db, { agentId: query.agentId, entityId: caller.entityId })
      const { items, nextCursor } = pageOfList(listed, query, ({ id }) => id)
      return { servers: items.map(mcp.withLiveStatus), nextCursor }
    },
    getMcpToolUse: ({ params }) => mcpTools.readUse(params.agentId),
    getMcpServer: ({ params }) => ({ server: read(params.mcpServerId) }),

    async createMcpServer({ body: { env, headers, ...body } }) {
      const { transport, secrets } = withSecrets(withOwnAccount(body.transport, null), { env, headers }, NO_SECRETS)
      await requireUsable(transport)
      const id = ids.next()
      const server = await writeSecrets({ id, transport }, secrets, () =>
        transact(db, (tx) => insertMcpServer(tx, { clock }, { ...body, id, transport })),
      )
      return { server }
    },

    async updateMcpServer({ params: { mcpServerId }, body }) {
      await change(getMcpServer(db, mcpServerId), body)
      // Agents that use it now notice nothing, unless something else is started or it is turned off.
      if (Object.keys(body).some((field) => field !== 'agents' && field !== 'name')) await mcp.restart(mcpServerId)
      return { server: read(mcpServerId) }
    },

    async deleteMcpServer({ params: { mcpServerId } }) {
      getMcpServer(db, mcpServerId)
      // Nobody would find its account without it.
      const account = findCredentialOfMcpServer(db, mcpServerId)
      if (account !== null) await authorizations.disconnect(account.id)
      const remove = () =>
        transact(db, (tx) => {
          const server = deleteMcpServer(tx, mcpServerId)
          // Another server may get this name.
          deleteRulesOfTools(tx, server.slug + NAME_SEPARATOR)
          return server
        })
      await writeWithSecret({ vault, log }, mcpServerKey(mcpServerId), null, remove)
      await mcp.forget(mcpServerId)
      return { ok: true }
    },

    async testMcpServer({ params: { mcpServerId } }, call) {
      getMcpServer(db, mcpServerId)
      const message = await mcp.test(mcpServerId, call.gone)
      return { ok: message === null, message, server: read(mcpServerId) }
    },

    readMcpServerLog({ params: { mcpServerId } }) {
      getMcpServer(db, mcpServerId)
      return { lines: mcp.readLog(mcpServerId) }
    },

    acceptMcpTools({ params: { mcpServerId }, body }) {
      getMcpServer(db, mcpServerId)
      transact(db, (tx) => acceptTools(tx, mcpServerId, body))
      return { server: read(mcpServerId) }
    },
  } satisfies Partial<Handlers>
}

function requireAddress(address: string): void {
  const url = URL.canParse(address) ? new URL(address) : null
  const isFit = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (!isFit) throw invalidAt('transport.url', createMessage('mcp_address'))
}

/**
 * A server is called with the account that a person signed in to it with, and no other. One for another address is left out.
 * Throws AppError credential_not_found.
 */
function withOwnAccount(given: McpTransport, before: McpTransport | null): McpTransport {
  if (given.kind === 'stdio' || given.credentialId === null) return given
  const own = before === null || before.kind === 'stdio' ? null : before.credentialId
  if (given.credentialId !== own) throw new AppError('credential_not_found')
  return isSameServer(before!, given) ? given : { ...given, credentialId: null }
}

/**
 * The names of the transport with the values that were given now or before. Throws AppError invalid_request for a name without one, and
 * for one that cannot be sent.
 */
function withSecrets(
  transport: McpTransport,
  given: Pick<CreateMcpServer, 'env' | 'headers'>,
  stored: ServerSecrets,
): { transport: McpTransport; secrets: ServerSecrets } {
  if (transport.kind === 'stdio') {
    const env = valuesFor('env', transport.envNames, given.env, stored.env)
    return { transport: { ...transport, envNames: Object.keys(env) }, secrets: { ...NO_SECRETS, env } }
  }
  requireHeaderNames([...transport.headerNames, ...Object.keys(given.headers ?? {})])
  const headers = valuesFor('headers', transport.headerNames, readHeaders(given.headers ?? {}), stored.headers)
  return { transport: { ...transport, headerNames: Object.keys(headers) }, secrets: { ...NO_SECRETS, headers } }
}

function valuesFor(
  field: string,
  names: readonly string[],
  given: Record<string, string> = {},
  stored: Record<string, string> = {},
): Record<string, string> {
  const entries = [...new Set([...names, ...Object.keys(given)])].map((name): [string, string] => {
    const value = [given, stored].find((values) => Object.hasOwn(values, name))?.[name]
    if (value === undefined) throw invalidAt(`${field}.${name}`, createMessage('mcp_value_missing', { name }))
    return [name, value]
  })
  return Object.fromEntries(entries)
}
