import { z } from 'zod'
import { Message } from './messages.ts'
import { Moment } from './primitives.ts'

export const FileChange = z.enum(['added', 'modified', 'deleted'])
export type FileChange = z.infer<typeof FileChange>

/** A file that a job wrote, once for each path, compared with its content before the first write. */
export const WrittenFile = z.object({
  /** As the agent names it: folder name first. */
  path: z.string(),
  change: FileChange,
  /** The former path, if the job moved the file. */
  movedFrom: z.string().nullable(),
  callIds: z.array(z.string()),
  binary: z.boolean(),
  sizeBefore: z.number().int().nullable(),
  sizeAfter: z.number().int().nullable(),
  /** Whether the former content can be restored: the file is as the job left it. */
  undoable: z.boolean(),
  /** The former content was deleted after the time for which contents are kept. */
  whyNoUndo: Message.nullable(),
  undone: z.boolean(),
})
export type WrittenFile = z.infer<typeof WrittenFile>

export const FileDiff = z.object({
  path: z.string(),
  change: FileChange,
  /** Unified diff; empty for a binary file. */
  diff: z.string(),
  truncated: z.boolean(),
  binary: z.boolean(),
})
export type FileDiff = z.infer<typeof FileDiff>

/** What a call returned and a model cannot read at once: a long text, an image, a file. */
export const KeptResult = z.object({
  number: z.number().int(),
  callId: z.string(),
  tool: z.string(),
  /** The media type, as the server says. Nobody has checked it. */
  type: z.string(),
  size: z.number().int(),
  createdAt: Moment,
})
export type KeptResult = z.infer<typeof KeptResult>

export const KeptResultContent = z.object({ result: KeptResult, base64: z.string() })
export type KeptResultContent = z.infer<typeof KeptResultContent>
