import { z } from 'zod'
import type { ToolDescription } from '../models/model.ts'
import type { Tool } from './tool.ts'

/** Every job tells its model of every tool, and making the schemas anew took longer than all else before the first token. */
const described = new WeakMap<Tool, ToolDescription>()

/** What a model is told of a tool: the same words and the same order of fields every time, so that caches hold. */
export function describeTool(tool: Tool): ToolDescription {
  let description = described.get(tool)
  if (description === undefined) {
    const { $schema: _, ...parameters } = z.toJSONSchema(tool.args, { io: 'input', target: 'draft-2020-12' }) as Record<string, unknown>
    description = { name: tool.name, description: tool.description, parameters }
    described.set(tool, description)
  }
  return description
}
