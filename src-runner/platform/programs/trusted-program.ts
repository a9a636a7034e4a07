import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { isInside } from '../protected-places/places-by-path.ts'

/**
 * A program of the person's that Deckhand itself starts, outside the sandbox. `names`: without `.exe`; the first in the order
 * of the absolute folders counts. Programs in a closed folder, or behind a link to one, are skipped: an agent could have put them
 * there. null: not found.
 */
export function findTrustedProgram(
  names: readonly string[],
  { folders, closed }: { folders: readonly string[]; closed: readonly string[] },
): string | null {
  const forbidden = closed.flatMap((folder) => [folder, realPathOf(folder)])
  const extension = process.platform === 'win32' ? '.exe' : ''
  const files = folders.filter((folder) => isAbsolute(folder)).flatMap((folder) => names.map((name) => join(folder, name + extension)))
  return files.find((file) => isProgram(file) && !liesIn(forbidden, file)) ?? null
}

function liesIn(folders: readonly string[], file: string): boolean {
  const paths = [file, join(realPathOf(dirname(file)), basename(file)), realPathOf(file)]
  return folders.some((folder) => paths.some((path) => isInside(folder, path)))
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Where programs find their settings, language and proxy. They get no other variable of ours. */
const COMMON = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'SystemRoot',
  'SystemDrive',
  'USERPROFILE',
  'LOCALAPPDATA',
  'APPDATA',
  'ProgramData',
  'ProgramFiles',
  'TEMP',
  'TMP',
]

/** The environment of such a program. `more`: further variables that it may get. */
export function plainEnvironment(more: readonly string[], env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return Object.fromEntries([...COMMON, ...more].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const])))
}
