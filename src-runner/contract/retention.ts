import { z } from 'zod'

/** What is deleted after a time that a person sets. */
export const RetentionKind = z.enum(['jobs', 'folders', 'deliveries', 'contents', 'logs'])
export type RetentionKind = z.infer<typeof RetentionKind>

/** Days; null: forever. */
export const KeptDays = z.number().int().min(1).max(36_500).nullable()

/**
 * Jobs: with their steps, approvals and conversations. Folders: in which coding programs worked; the branches stay. Contents:
 * earlier contents of files that agents changed.
 */
export const Retention = z.object({
  jobs: KeptDays,
  // Older settings and callers do not have it.
  folders: KeptDays.default(14),
  deliveries: KeptDays,
  contents: KeptDays,
  logs: KeptDays,
} satisfies Record<RetentionKind, z.ZodType>)
export type Retention = z.infer<typeof Retention>

export const DEFAULT_RETENTION: Retention = { jobs: null, folders: 14, deliveries: 365, contents: 365, logs: 90 }

export const Amount = z.object({ count: z.number().int(), bytes: z.number().int() })
export type Amount = z.infer<typeof Amount>

/** `due`: what is older than that and not needed any more. Bytes in the database are estimates, without its indexes. */
export const Retained = z.object({ all: Amount, due: Amount, isDeleting: z.boolean() })
export type Retained = z.infer<typeof Retained>
