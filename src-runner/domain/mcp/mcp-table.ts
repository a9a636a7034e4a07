import { index, integer, primaryKey, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { flag, json, jsonArray, jsonObject, moment, oneOf, checks, idOf, indexWhere } from '../../platform/db/column-types.ts'
import { McpInputSchema, McpToolEffect, McpToolStatus, McpTransport } from '../../contract/mcp.ts'
import { Message } from '../../contract/messages.ts'
import { agents } from '../agents/agents-table.ts'
import { entities } from '../entities/entities-table.ts'

export const mcpServers = sqliteTable(
  'mcp_servers',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    entityId: idOf('entity_id', () => entities.id),
    name: text('name').notNull(),
    // The names of its tools begin with it, so that rules of one server never match tools of another.
    slug: text('slug').notNull().unique(),
    transport: jsonObject('transport', McpTransport).notNull(),
    enabled: flag('enabled').notNull(),
    mayAskModel: flag('may_ask_model').notNull().default(false),
    // What is known without a running process. `starting` and `running` are in memory.
    status: oneOf('status', ['stopped', 'failing', 'needs_sign_in']).notNull(),
    statusSince: integer('status_since').notNull(),
    problem: text('problem').notNull(),
    sandboxed: flag('sandboxed'),
    version: text('version'),
    lastUsedAt: moment('last_used_at'),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [...checks(t), index('mcp_servers_by_entity').on(t.entityId, t.seq)],
)

const Definition = z.object({ description: z.string(), inputSchema: McpInputSchema })

export const mcpTools = sqliteTable(
  'mcp_tools',
  {
    serverId: idOf('server_id', () => mcpServers.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    agentName: text('agent_name').notNull(),
    title: text('title'),
    description: text('description').notNull(),
    inputSchema: jsonObject('input_schema', McpInputSchema).notNull(),
    // SHA-256 in hex of name, description and schema.
    digest: text('digest').notNull(),
    proposal: oneOf('proposal', McpToolEffect.options).notNull(),
    // A person's decision. It counts only for the accepted digest.
    effect: oneOf('effect', McpToolEffect.options),
    acceptedDigest: text('accepted_digest'),
    accepted: jsonObject('accepted', Definition),
    status: oneOf('status', McpToolStatus.options).notNull(),
    problem: json('problem', Message),
    changedAt: moment('changed_at').notNull(),
  },
  (t) => [
    ...checks(
      t,
      'length(digest) = 64',
      '(effect IS NULL) = (accepted_digest IS NULL)',
      "status <> 'accepted' OR (accepted_digest = digest AND problem IS NULL)",
    ),
    primaryKey({ columns: [t.serverId, t.name] }),
    indexWhere('mcp_tools_changed', [t.serverId], "status = 'changed'"),
  ],
)

export const mcpGrants = sqliteTable(
  'mcp_grants',
  {
    agentId: idOf('agent_id', () => agents.id),
    serverId: idOf('server_id', () => mcpServers.id, { onDelete: 'cascade' }),
    // Names of tools. NULL: all accepted ones.
    tools: jsonArray('tools', z.array(z.string())),
  },
  (t) => [...checks(t), primaryKey({ columns: [t.agentId, t.serverId] }), index('mcp_grants_by_server').on(t.serverId)],
)
