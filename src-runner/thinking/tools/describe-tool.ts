import { z } from 'zod'
import type { ToolDescription } from '../models/model.ts'
import type { Tool } from './tool.ts'

/** What a model is told of a tool: the same words and the same order of fields every time, so that caches hold. */
export function describeTool({ name, description, args }: Tool): ToolDescription {
  const { $schema: _, ...parameters } = z.toJSONSchema(args, { io: 'input', target: 'draft-2020-12' }) as Record<string, unknown>
  return { name, description, parameters }
}
