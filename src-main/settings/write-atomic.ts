import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import writeFileAtomic from 'write-file-atomic'

/**
 * Replaces a whole file, readable by its owner only. A crash leaves the old text or the new one. Once this resolves, the
 * new text survives a power cut. Calls for the same file are queued.
 */
export async function writeAtomic(file: string, text: string): Promise<void> {
  await writeFileAtomic(file, text, { mode: 0o600, fsync: true })
  // Windows has no fsync for folders and needs none.
  if (process.platform === 'win32') return
  // A rename is on disk only when its folder is synced; for a link, that is the folder of the real file.
  const folder = await open(dirname(await realpath(file)), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Creates a folder and its missing parents, so that they survive a power cut. */
export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined || process.platform === 'win32') return
  for (let created = folder; ; created = dirname(created)) {
    syncFolder(dirname(created))
    if (created === first || created === dirname(created)) return
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
