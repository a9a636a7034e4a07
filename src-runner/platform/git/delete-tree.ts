import { chmod, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { sep } from 'node:path'

/** A longer path cannot be used on some systems. A program can make one, a folder at a time. */
const MAX_PATH_BYTES = 1_500
const MAX_ATTEMPTS = 1_000
const MAX_ENTRIES_MEASURED = 500_000

const codeOf = (thrown: unknown) => (thrown as NodeJS.ErrnoException).code

/**
 * Deletes a folder of which a hostile program made the content: names that are no text, folders without permissions, paths that
 * are too long. Does not follow links. Nothing may run in it any more. Does nothing if it is gone.
 */
export async function deleteTree(folder: string): Promise<void> {
  const top = Buffer.from(folder)
  let moved = 0
  async function empty(path: Buffer): Promise<void> {
    // Without these permissions it cannot be read or emptied.
    await chmod(path, 0o700)
    for (const { name, isFolder } of await entriesOf(path)) {
      const entry = joined(path, name)
      if (!isFolder) await unlink(entry)
      else if (entry.length > MAX_PATH_BYTES) {
        await chmod(entry, 0o700).catch(() => {})
        await rename(entry, joined(top, Buffer.from(`deleted-${process.pid}-${++moved}`)))
      } else {
        await empty(entry)
        await rmdir(entry)
      }
    }
  }
  const stats = await lstat(folder).catch(() => null)
  if (stats === null) return
  if (!stats.isDirectory()) return unlink(folder)
  for (let attempt = 1; ; attempt++) {
    moved = 0
    try {
      await empty(top)
      if (moved === 0) return await rmdir(folder)
    } catch (thrown) {
      // Somebody wrote into it meanwhile.
      if (codeOf(thrown) !== 'ENOTEMPTY' || attempt >= MAX_ATTEMPTS) throw thrown
    }
  }
}

/** What it takes on the disk, at least. Does not follow links. */
export async function measureTree(folder: string): Promise<{ bytes: number; isCut: boolean }> {
  const left: Buffer[] = [Buffer.from(folder)]
  let [bytes, seen] = [0, 0]
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    const entries = await entriesOf(path).catch(() => [])
    seen += entries.length
    if (seen > MAX_ENTRIES_MEASURED) return { bytes, isCut: true }
    for (const { name, isFolder } of entries) {
      const entry = joined(path, name)
      if (isFolder && entry.length <= MAX_PATH_BYTES) left.push(entry)
      const stats = await lstat(entry).catch(() => null)
      // A file with holes takes less than its size.
      if (stats !== null) bytes += process.platform === 'win32' ? stats.size : stats.blocks * 512
    }
  }
  return { bytes, isCut: false }
}

async function entriesOf(path: Buffer): Promise<{ name: Buffer; isFolder: boolean }[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true, encoding: 'buffer' })
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return []
    throw thrown
  }
}

function joined(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from(sep), name])
}
