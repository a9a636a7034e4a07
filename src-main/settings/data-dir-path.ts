import { isAbsolute, join, posix, resolve, win32 } from 'node:path'

export type DataDirSource = { env: Record<string, string | undefined>; platform: NodeJS.Platform; home: string; cwd: string }

/** Where the data is: the folder that was given, or the system's default. Reads little, because each start asks this first. */
export function dataDirPath(given: string | undefined, { env, platform, home, cwd }: DataDirSource): string {
  const dir = given ?? defaultDataDir(platform, env, home)
  return isAbsolute(dir) ? dir : resolve(cwd, dir)
}

/** The system's default folder for application data. */
export function defaultDataDir(platform: NodeJS.Platform, env: Record<string, string | undefined>, home: string): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'Deckhand')
  if (platform === 'win32') return win32.join(env['APPDATA'] || win32.join(home, 'AppData', 'Roaming'), 'Deckhand')
  const base = env['XDG_DATA_HOME']
  // The XDG Base Directory Specification says to ignore relative paths.
  return posix.join(base && posix.isAbsolute(base) ? base : posix.join(home, '.local', 'share'), 'deckhand')
}

/** Where both processes keep their compiled code, so that a start does not compile it again. */
export function codeCacheOf(dataDir: string): string {
  return join(dataDir, 'cache', 'code')
}
