import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The accounts of sign-in (auth.db) belong to the host, which has them open. A backup of the database has a copy of them beside it.
 * A restore puts that copy beside auth.db, where the host finds it: only the host may replace its own file.
 */
export const accountsBeside = (database: string): string => join(dirname(database), 'auth.db')

export const accountsOfBackup = (backup: string): string => `${backup}.accounts`

/** Empty if the backup has no accounts: a restore still ends all sessions. */
export const restoredAccountsBeside = (database: string): string => join(dirname(database), 'auth.db.restored')

/** The accounts to back up; null: nobody ever signed in. */
export function findAccounts(database: string): string | null {
  const file = accountsBeside(database)
  return existsSync(file) ? file : null
}
