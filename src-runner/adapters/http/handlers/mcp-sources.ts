import type { McpDraft } from '../../../contract/mcp-drafts.ts'
import type { CreateMcpServer, McpServer } from '../../../contract/mcp.ts'
import { AppError } from '../../../lib/errors.ts'
import { readPaste } from '../../../domain/mcp/drafts/read-paste.ts'
import { isSameServer, listMcpServers } from '../../../domain/mcp/mcp-servers.ts'
import { findMcpImports, readChosen } from '../../../execution/mcp-imports.ts'
import { searchRegistry } from '../../../execution/mcp-registry.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'
import { mcpHandlers } from './mcp.ts'

/** Where MCP servers are found before they are added. */
export function mcpSourceHandlers(deps: HandlerDeps) {
  const { db, home } = deps
  const places = { home, platform: process.platform }
  const { createMcpServer } = mcpHandlers(deps)
  return {
    readMcpPaste: ({ body }) => readPaste(body.text),

    async listMcpImports() {
      const added = listMcpServers(db)
      return { found: await findMcpImports(places, (transport) => added.some((server) => isSameServer(server.transport, transport))) }
    },

    async importMcpServers({ body: { chosen, agents } }) {
      const drafts = await readChosen(places, chosen)
      if (drafts === null) throw new AppError('mcp_import_changed')
      const servers: McpServer[] = []
      // One after another: if one fails, those before it are listed as added.
      for (const draft of drafts) {
        servers.push((await createMcpServer({ params: {}, query: {}, body: { ...requestOf(draft), agents } })).server)
      }
      return { servers }
    },

    searchMcpRegistry: ({ query }) => searchRegistry({ fetch: deps.fetchGuarded, registryUrl: deps.mcpRegistryUrl }, query),
  } satisfies Partial<Handlers>
}

/** Values that the file leaves open are left out, and the person enters them later. */
function requestOf({ name, transport, values }: McpDraft): Omit<CreateMcpServer, 'agents'> {
  const given = values.filter(({ value }) => value !== null)
  const valuesOf = (place: 'env' | 'header') =>
    Object.fromEntries(given.filter((value) => value.place === place).map((value): [string, string] => [value.name, value.value!]))
  return transport.kind === 'stdio'
    ? { name, transport: { ...transport, envNames: [] }, env: valuesOf('env') }
    : { name, transport: { ...transport, headerNames: [] }, headers: valuesOf('header') }
}
