import { readlinkSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** What a lock is compared with. Left out: this computer. */
type Computer = { host: string; isRunning: (pid: number) => boolean }

const THIS_COMPUTER: Computer = { host: hostname(), isRunning }

/**
 * Whether this process still owns the single-instance lock of the data folder. On Linux and macOS Electron's
 * requestSingleInstanceLock() can succeed in two of several starts at the same moment (4 of 189 tries with six starts on a busy
 * computer): a start that finds the lock but not yet its socket replaces the lock. The link, `<host>-<pid>`, then names the later
 * start. Windows has no such link, so the answer is true there.
 */
export function holdsInstanceLock(userDataDir: string, pid: number = process.pid): boolean {
  const link = readLock(userDataDir)
  return link === null || link.endsWith(`-${pid}`)
}

/**
 * Removes a lock that a crash left while this computer had another name, or that came with a folder from another computer. Electron
 * never would: it looks only for processes of its own host. The lock of the database protects the data from a Deckhand that still
 * runs elsewhere.
 */
export function removeForeignLock(userDataDir: string, { host, isRunning }: Computer = THIS_COMPUTER): void {
  const holder = readHolder(userDataDir)
  if (holder === null || holder.host === host || isRunning(holder.pid)) return
  try {
    rmSync(lockIn(userDataDir), { force: true })
  } catch {
    // Electron refuses the start then.
  }
}

/** Whether the lock belongs to a process that runs on this computer. Without a link Electron is trusted. */
export function isLockedHere(userDataDir: string, { host, isRunning }: Computer = THIS_COMPUTER): boolean {
  const holder = readHolder(userDataDir)
  return holder === null || (holder.host === host && isRunning(holder.pid))
}

export const lockIn = (userDataDir: string): string => join(userDataDir, 'SingletonLock')

function readLock(userDataDir: string): string | null {
  try {
    return readlinkSync(lockIn(userDataDir))
  } catch {
    return null
  }
}

function readHolder(userDataDir: string): { host: string; pid: number } | null {
  const [, host, pid] = /^(.*)-(\d+)$/.exec(readLock(userDataDir) ?? '') ?? []
  return host === undefined ? null : { host, pid: Number(pid) }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
