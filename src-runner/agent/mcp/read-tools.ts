import type { ToolEffect } from '../../contract/jobs.ts'
import type { Message } from '../../contract/messages.ts'
import { isRecord } from '../../lib/json-values.ts'
import { createMessage } from '../../lib/messages.ts'
import { cutText } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { readSchema, type Schema } from './schema-limits.ts'

export const MAX_TOOLS = 500
const MAX_NAME_CHARS = 128
const MAX_TITLE_CHARS = 200
const MAX_DESCRIPTION_CHARS = 4_000
/**
 * The limit of all descriptions and schemas together. They are stored, compared and shown together, in the one thread that runs
 * all jobs.
 */
const MAX_ALL_CHARS = 1_000_000

/** A tool as its server describes it, cleaned and bounded. */
export type ServerTool = {
  name: string
  title: string | null
  description: string
  inputSchema: Schema
  proposal: ToolEffect
  problem: Message | null
}

/** A name that cannot be told from another one by looking at it gives no tool, and the first of two equal names counts. */
export async function readTools(pages: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>): Promise<ServerTool[]> {
  const tools = new Map<string, ServerTool>()
  let left = MAX_ALL_CHARS
  for await (const listed of pages) {
    for (const value of listed) {
      if (!isRecord(value) || typeof value['name'] !== 'string') continue
      const { name, description, annotations } = value
      if (name.length === 0 || name.length > MAX_NAME_CHARS || visibleText(name) !== name || tools.has(name)) continue
      const hints = isRecord(annotations) ? annotations : {}
      const most = Math.min(MAX_DESCRIPTION_CHARS, Math.max(0, left))
      const words = typeof description === 'string' ? cutText(visibleText(description), most) : ''
      left -= words.length
      const { schema, problem, chars } = readSchema(value['inputSchema'], left)
      left -= chars
      const tool: ServerTool = {
        name,
        title: titleOf(value['title'] ?? hints['title']),
        description: words,
        inputSchema: schema,
        proposal: proposalFrom(hints),
        problem: requiresTask(value) ? createMessage('mcp_tool_needs_task') : problem,
      }
      // A text that was cut keeps all of the page's text in memory; its copy does not.
      tools.set(name, structuredClone(tool))
      if (tools.size === MAX_TOOLS) return [...tools.values()]
    }
  }
  return [...tools.values()]
}

function titleOf(value: unknown): string | null {
  const title = typeof value === 'string' ? cutText(visibleText(value).replace(/\s+/g, ' ').trim(), MAX_TITLE_CHARS) : ''
  return title === '' ? null : title
}

/** A server's own hint is only a suggestion. A tool without a hint must not run twice. */
function proposalFrom(hints: Record<string, unknown>): ToolEffect {
  if (hints['readOnlyHint'] === true && hints['destructiveHint'] !== true) return 'read'
  return hints['idempotentHint'] === true ? 'idempotent' : 'once'
}

/** Such a tool is only called with a protocol that is still an experiment. */
function requiresTask({ execution }: Record<string, unknown>): boolean {
  return isRecord(execution) && execution['taskSupport'] === 'required'
}
