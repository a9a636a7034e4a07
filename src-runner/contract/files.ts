import { z } from 'zod'

export const FileChange = z.enum(['added', 'modified', 'deleted'])
export type FileChange = z.infer<typeof FileChange>

/** A file that a job wrote, once per path: from what was there before its first write to what its last one left. */
export const WrittenFile = z.object({
  /** As the agent names it: folder name first. */
  path: z.string(),
  change: FileChange,
  /** Where the file was before, when the job moved it. */
  movedFrom: z.string().nullable(),
  callIds: z.array(z.string()),
  binary: z.boolean(),
  sizeBefore: z.number().int().nullable(),
  sizeAfter: z.number().int().nullable(),
  /** Whether undo can put back what was there: the file is as the job left it. */
  undoable: z.boolean(),
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
