import { readlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Whether this process still owns the single-instance lock of the data folder. On Linux and macOS Electron's
 * requestSingleInstanceLock() can succeed in two of several starts at the same moment (4 of 189 tries with six starts on a busy
 * computer): a start that finds the lock but not yet its socket replaces the lock. The link, `<host>-<pid>`, then names the later
 * start. Windows has no such link, so the answer is true there.
 */
export function holdsInstanceLock(userDataDir: string, pid: number = process.pid): boolean {
  let link: string
  try {
    link = readlinkSync(join(userDataDir, 'SingletonLock'))
  } catch {
    return true
  }
  return link.endsWith(`-${pid}`)
}
