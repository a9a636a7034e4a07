import { z } from 'zod'
import { Message } from './messages.ts'
import { Moment } from './primitives.ts'

/** `deckhand-20261123T023000Z.db`: when the backup was made, in UTC. */
export const BackupName = z.string().regex(/^deckhand-\d{8}T\d{6}Z\.db$/)

/** A copy of the database that was opened and checked after it was made. */
export const Backup = z.object({ name: BackupName, at: Moment, bytes: z.number().int().nonnegative() })
export type Backup = z.infer<typeof Backup>

/** `lastProblem`: why the newest backup, or its copy in the person's folder, could not be made. null: it was made. */
export const BackupState = z.object({
  folder: z.string(),
  backups: z.array(Backup),
  lastProblem: Message.nullable(),
})
export type BackupState = z.infer<typeof BackupState>
