import { findFile, type FileState } from '../thinking/folder-access/file-state.ts'
import { openSpot, type FileSpot } from '../thinking/folder-access/file-spot.ts'
import { PathRefused, type Place } from '../thinking/folder-access/folder-paths.ts'
import type { ChangedPath } from '../records/files/file-changes.ts'

/** The place that was recorded, opened anew: what leads elsewhere by now is refused like any other path. */
export function placeOf({ folder, parts, shown }: ChangedPath, closedFolders: readonly string[]): Place {
  const name = shown.split('/')[0]!
  return { folder: { name, path: folder, closed: closedFolders }, parts: [...parts] }
}

/** Opens the spot for the time of `use`. */
export async function withSpot<T>(place: Place, options: { makeFolders?: boolean }, use: (spot: FileSpot) => Promise<T>): Promise<T> {
  const spot = await openSpot(place, options)
  try {
    return await use(spot)
  } finally {
    await spot.close()
  }
}

/** What is there now. null: nothing; `other`: something that is no plain file, or a place that cannot be looked at. */
export async function lookAt(path: ChangedPath, closedFolders: readonly string[]): Promise<FileState | null | 'other'> {
  try {
    return await withSpot(placeOf(path, closedFolders), {}, async (spot) => (await findFile(spot))?.state ?? null)
  } catch (thrown) {
    if (!(thrown instanceof PathRefused)) throw thrown
    return thrown.missing ? null : 'other'
  }
}

/** Whether exactly this is there. Reads the content only when the size could be right. */
export async function isThere(path: ChangedPath, wanted: FileState | null, closedFolders: readonly string[]): Promise<boolean> {
  try {
    return await withSpot(placeOf(path, closedFolders), {}, async (spot) => {
      const stats = await spot.look()
      if (stats === null || wanted === null) return stats === null && wanted === null
      if (!stats.isFile() || Number(stats.size) !== wanted.size) return false
      return (await findFile(spot))?.state.mark === wanted.mark
    })
  } catch (thrown) {
    if (!(thrown instanceof PathRefused)) throw thrown
    return thrown.missing && wanted === null
  }
}
