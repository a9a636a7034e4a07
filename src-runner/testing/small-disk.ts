import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A small disk that can really be full. */
export type SmallDisk = {
  folder: string
  fill(mostBytes?: number): void
  free(): void
  /** From now on nothing may be written to it, not even by the administrator. */
  forbidWriting(): void
  remove(): void
}

const PIECE = Buffer.alloc(64 * 1024, 1)

/** null if it cannot be mounted; then `npm test` reports the skipped tests. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-disk-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', folder])
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true })
    return null
  }
  const filler = join(folder, 'filler')
  return {
    folder,
    fill(mostBytes = Infinity) {
      let left = mostBytes
      const handle = openSync(filler, 'a')
      try {
        for (const bytes of [PIECE, PIECE.subarray(0, 512)]) for (; left > 0; left -= bytes.length) writeSync(handle, bytes)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(handle)
      }
    },
    free: () => rmSync(filler, { force: true }),
    forbidWriting: () => void spawnSync('mount', ['-o', 'remount,ro', folder]),
    remove() {
      spawnSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
