import { chmodSync, statSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { messageOf } from '../log/log.ts'
import { StartError } from './start-error.ts'
import { makeFolder } from './write-atomic.ts'

/** Where an application of this system keeps its data when nobody says otherwise. */
export function defaultDataDir(platform: NodeJS.Platform, env: Record<string, string | undefined>, home: string): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'Deckhand')
  if (platform === 'win32') return win32.join(env['APPDATA'] || win32.join(home, 'AppData', 'Roaming'), 'Deckhand')
  const base = env['XDG_DATA_HOME']
  // The base directory specification says that a relative path there is to be ignored.
  return posix.join(base && posix.isAbsolute(base) ? base : posix.join(home, '.local', 'share'), 'deckhand')
}

/** Makes the folder if need be, and closes it to everybody else: it will hold sealed keys and everything people wrote. */
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
