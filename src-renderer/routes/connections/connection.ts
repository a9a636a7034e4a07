import type { Connector } from '../../../src-runner/contract/connectors.ts'
import type { Credential } from '../../../src-runner/contract/credentials.ts'
import type { McpServer, McpTool } from '../../../src-runner/contract/mcp.ts'
import { localText, t } from '../../lib/language.ts'

/** An account or an MCP server: the list shows both. */
export type Connection = {
  id: string
  name: string
  path: string
  lastUsedAt: number | null
  agents: readonly { agentId: string; agentName: string }[]
} & ({ kind: 'account'; credential: Credential } | { kind: 'mcp'; server: McpServer })

/** What needs the person first, then by name. */
export function connectionsOf(credentials: readonly Credential[], servers: readonly McpServer[]): Connection[] {
  const all: Connection[] = [
    // The account of an MCP server is shown there.
    ...credentials
      .filter(({ mcpServerId }) => mcpServerId === null)
      .map((credential): Connection => ({ kind: 'account', credential, ...sharedOf(credential), path: `/connections/${credential.id}` })),
    ...servers.map((server): Connection => ({ kind: 'mcp', server, ...sharedOf(server), path: `/connections/mcp/${server.id}` })),
  ]
  return all.toSorted((one, other) => Number(needsPerson(other)) - Number(needsPerson(one)) || one.name.localeCompare(other.name))
}

function sharedOf({ id, name, lastUsedAt, agents }: Credential | McpServer) {
  return { id, name, lastUsedAt, agents }
}

function needsPerson(connection: Connection): boolean {
  if (connection.kind === 'account') return connection.credential.status === 'needs_sign_in'
  const { server } = connection
  return server.status === 'failing' || server.status === 'needs_sign_in' || toReview(server).length > 0
}

/** What the list and the page say about a server. A program that never ran is not "ready". */
export function serverState(server: McpServer): McpServer['status'] | 'new' {
  return server.status === 'stopped' && isUnknown(server) ? 'new' : server.status
}

/** It has never run, so nothing is known of its tools. */
export function isUnknown({ tools, version }: McpServer): boolean {
  return tools.length === 0 && version === null
}

/** The tools that no agent has because nobody has looked at them. */
export function toReview(server: McpServer): McpTool[] {
  return server.tools.filter(({ status }) => status === 'new' || status === 'changed')
}

export function acceptedTools(server: McpServer): McpTool[] {
  return server.tools.filter(({ status }) => status === 'accepted')
}

/** What the tools cost in every turn of an agent. `chosen` null: all accepted ones. */
export function tokensOf(server: McpServer, chosen: readonly string[] | null = null): number {
  return acceptedTools(server)
    .filter(({ name }) => chosen === null || chosen.includes(name))
    .reduce((sum, { tokens }) => sum + tokens, 0)
}

/** What a service is called here. */
export function serviceName({ name, localName }: Connector): string {
  return localName === null ? name : localText(localName)
}

/** “Connect GitHub”, but not “Connect Another service”. */
export function connectTitle(connector: Connector): string {
  return isGeneric(connector) ? serviceName(connector) : t('connections.connect.title', { service: serviceName(connector) })
}

/** What a dialog calls the account before it has a name: what the person typed, else the first host, else the service. */
export function newName(connector: Connector, { name, hosts }: { name: string; hosts: string }): string {
  return name.trim() || (isGeneric(connector) && hostsIn(hosts)[0]) || serviceName(connector)
}

/** The parts of its addresses that the person fills in, as they are at first. */
export function firstFields({ fields }: Connector): Record<string, string> {
  return Object.fromEntries(fields.map(({ name, preset }) => [name, preset]))
}

/** A connector without hosts of its own: the person says where it leads. */
export function isGeneric(connector: Connector): boolean {
  return connector.hosts.length === 0
}

/** Hosts as a person types them: separated by spaces, commas or lines. */
export function hostsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((host) => host !== '')
}
