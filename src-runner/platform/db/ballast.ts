import { closeSync, existsSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

/**
 * A file of zeros beside the database. On a full disk it is deleted, which gives the write-ahead log room to be copied into
 * the file and cut back. It comes back when there is room again.
 */
export type Ballast = {
  /** Makes the file, if it is not there and twice its size is free. */
  keep(): Promise<void>
  /** Deletes it. Returns whether that gave any room. */
  release(): boolean
  /** For a stop on a full disk: keeps the room that closing the database gave back, which the next start needs. */
  keepRest(): void
}

const BALLAST_BYTES = 16 * 1024 * 1024
const PIECE_BYTES = 1024 * 1024
const REST_BYTES = 4096

function ballastOf(file: string): string {
  return `${file}.ballast`
}

export function createBallast(file: string, log: Log): Ballast {
  const ballast = ballastOf(file)
  let keeping = false

  async function write(): Promise<void> {
    const draft = `${ballast}.part`
    try {
      const handle = await open(draft, 'w', 0o600)
      try {
        // Written, not only sized: a hole in a file takes no room and gives none back.
        for (let at = 0; at < BALLAST_BYTES; at += PIECE_BYTES) await handle.write(Buffer.alloc(PIECE_BYTES, 1), 0, PIECE_BYTES, at)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(draft, ballast)
    } catch (error) {
      await unlink(draft).catch(() => {})
      throw error
    }
  }

  return {
    async keep() {
      if (keeping || statSync(ballast, { throwIfNoEntry: false })?.size === BALLAST_BYTES) return
      if (freeBytesAt(file) < 2 * BALLAST_BYTES) return
      keeping = true
      try {
        await write()
      } catch (error) {
        log.warn({ err: error }, `no room could be set aside for a full disk: ${messageOf(error)}`)
      } finally {
        keeping = false
      }
    },
    release: () => releaseBallast(file),
    keepRest() {
      if (existsSync(ballast) || freeBytesAt(file) >= 2 * BALLAST_BYTES) return
      const handle = openSync(ballast, 'w', 0o600)
      try {
        for (let at = 0; at < PIECE_BYTES; at += REST_BYTES) writeSync(handle, Buffer.alloc(REST_BYTES, 1))
      } catch (error) {
        // As much as there was.
        log.debug({ err: error }, `the disk is full: ${messageOf(error)}`)
      } finally {
        closeSync(handle)
      }
    },
  }
}

export function releaseBallast(file: string): boolean {
  const had = (statSync(ballastOf(file), { throwIfNoEntry: false })?.size ?? 0) > 0
  rmSync(ballastOf(file), { force: true })
  return had
}

/** Infinity where it cannot be known. */
export function freeBytesAt(file: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize
  } catch {
    return Infinity
  }
}
