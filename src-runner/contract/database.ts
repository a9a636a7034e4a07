import { z } from 'zod'

/**
 * Why the database cannot do its work. `locked`: another program holds its write lock. `unavailable`: for another reason,
 * which is in the log.
 */
export const DATABASE_TROUBLES = ['damaged', 'disk_full', 'read_only', 'locked', 'unavailable'] as const
export const DatabaseTrouble = z.enum(DATABASE_TROUBLES)
export type DatabaseTrouble = z.infer<typeof DatabaseTrouble>

/** For people: what happened, and what to do. */
export const DATABASE_TROUBLE_WORDS: Record<DatabaseTrouble, { title: string; detail: string; fix: string }> = {
  damaged: {
    title: 'The database is damaged',
    detail: 'Part of the saved data cannot be read.',
    fix: 'Copy the data folder to another disk now. Then quit Deckhand and restore a backup of the folder.',
  },
  disk_full: {
    title: 'The disk is full',
    detail: 'Nothing can be saved, so work is paused.',
    fix: 'Free some space. Work resumes by itself within seconds.',
  },
  read_only: {
    title: 'The database is read-only',
    detail: 'Nothing can be saved, so work is paused.',
    fix: 'Make the data folder and the files in it writable for your account.',
  },
  locked: {
    title: 'Another program locks the database',
    detail: 'Nothing can be saved until it is done.',
    fix: 'Close programs that have deckhand.db open, such as a database browser or a backup.',
  },
  unavailable: {
    title: 'The database cannot be used',
    detail: 'Data cannot be read or saved right now. The log says why.',
    fix: 'Restart Deckhand. If that does not help, look at the log.',
  },
}
