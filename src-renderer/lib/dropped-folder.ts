type Limits = { entries: number; files: number; bytes: number; leftOut: readonly string[] }

export class FolderTooLarge extends Error {
  override readonly name = 'FolderTooLarge'
}

/**
 * A folder that was dropped on the window, as a zip file with one folder. What is in `leftOut` is not read, whatever its case. Throws
 * FolderTooLarge, or the error of the browser.
 */
export async function zipFolder(folder: FileSystemDirectoryEntry, limits: Limits): Promise<File> {
  const files: Record<string, Uint8Array> = {}
  const left = { ...limits }
  const take = (what: 'entries' | 'files' | 'bytes', count: number) => {
    left[what] -= count
    if (left[what] < 0) throw new FolderTooLarge()
  }
  const waiting = [folder]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    for await (const entry of entriesOf(one)) {
      take('entries', 1)
      if (limits.leftOut.includes(entry.name.toLowerCase())) continue
      if (entry.isDirectory) waiting.push(entry as FileSystemDirectoryEntry)
      else {
        const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
        take('files', 1)
        take('bytes', file.size)
        files[entry.fullPath.replace(/^\//, '')] = new Uint8Array(await file.arrayBuffer())
      }
    }
  }
  const { zipSync } = await import('fflate')
  return new File([zipSync(files)], `${folder.name}.zip`)
}

/** A reader gives some at a time, and none when it is done. */
async function* entriesOf(folder: FileSystemDirectoryEntry): AsyncGenerator<FileSystemEntry> {
  const reader = folder.createReader()
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return
    yield* some
  }
}
