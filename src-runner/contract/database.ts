import { z } from 'zod'

/**
 * Why the database cannot work. `locked`: another program holds its write lock. `unavailable`: another reason, which is in
 * the log.
 */
export const DATABASE_TROUBLES = ['damaged', 'disk_full', 'read_only', 'locked', 'unavailable'] as const
export const DatabaseTrouble = z.enum(DATABASE_TROUBLES)
export type DatabaseTrouble = z.infer<typeof DatabaseTrouble>
