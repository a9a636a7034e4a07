import { chmodSync, statSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { messageOf } from '../log/log.ts'
import { StartError } from './start-error.ts'
import { makeFolder } from './write-atomic.ts'

/** The system's default folder for application data. */
export function defaultDataDir(platform: NodeJS.Platform, env: Record<string, string | undefined>, home: string): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'Deckhand')
  if (platform === 'win32') return win32.join(env['APPDATA'] || win32.join(home, 'AppData', 'Roaming'), 'Deckhand')
  const base = env['XDG_DATA_HOME']
  // The XDG Base Directory Specification says to ignore relative paths.
  return posix.join(base && posix.isAbsolute(base) ? base : posix.join(home, '.local', 'share'), 'deckhand')
}

/** Creates the folder if needed, for the owner only: it will hold keys and private text. */
export function prepareDataDir(dir: string): void {
  try {
    makeFolder(dir)
    if (process.platform !== 'win32' && (statSync(dir).mode & 0o077) !== 0) chmodSync(dir, 0o700)
  } catch (error) {
    throw new StartError(2, `the data folder ${dir} cannot be used: ${messageOf(error)}; choose another with DECKHAND_DATA_DIR`, {
      cause: error,
    })
  }
}
