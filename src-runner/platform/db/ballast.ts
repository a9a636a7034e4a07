import { closeSync, existsSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { rename, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

const BALLAST_BYTES = 16 * 1024 * 1024
const REST_BYTES = 1024 * 1024
const BLOCK_BYTES = 4096

const ballastOf = (file: string) => `${file}.ballast`

/**
 * Reserves 16 MB beside the database, unless that was done or less than twice as much is free. On a full disk this file is
 * deleted, so that the write-ahead log can be copied and truncated.
 */
export async function keepBallast(file: string, log: Log): Promise<void> {
  const ballast = ballastOf(file)
  if (sizeOf(ballast) === BALLAST_BYTES || freeBytesAt(file) < 2 * BALLAST_BYTES) return
  const draft = `${ballast}.part`
  try {
    // Writes real bytes, because a hole in a file takes no room.
    await writeFile(draft, Buffer.alloc(BALLAST_BYTES, 1), { mode: 0o600, flush: true })
    await rename(draft, ballast)
  } catch (error) {
    await unlink(draft).catch(() => {})
    log.warn({ err: error }, `no room could be reserved for a full disk: ${messageOf(error)}`)
  }
}

/** Returns whether this freed any room. */
export function releaseBallast(file: string): boolean {
  const hadRoom = sizeOf(ballastOf(file)) > 0
  rmSync(ballastOf(file), { force: true })
  return hadRoom
}

/** For a stop on a full disk: reserves some of the room that closing the database freed, because the next start needs it. */
export function keepRest(file: string, log: Log): void {
  const ballast = ballastOf(file)
  if (existsSync(ballast) || freeBytesAt(file) >= 2 * BALLAST_BYTES) return
  const handle = openSync(ballast, 'w', 0o600)
  try {
    for (let at = 0; at < REST_BYTES; at += BLOCK_BYTES) writeSync(handle, Buffer.alloc(BLOCK_BYTES, 1))
  } catch (error) {
    log.debug({ err: error }, `the disk is full: ${messageOf(error)}`)
  } finally {
    closeSync(handle)
  }
}

/** 0 if there is no such file. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Infinity if it is unknown. */
export function freeBytesAt(file: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize
  } catch {
    return Infinity
  }
}
