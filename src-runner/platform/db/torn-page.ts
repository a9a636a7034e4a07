import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'

/**
 * Whether the file ends within a page that the write-ahead log does not hold. SQLite reads the missing part as zeros, and no check of
 * it looks into the values. A page that was being copied from the log at a power cut is still in the log. The database itself is not
 * opened here: closing it would end the locks of the caller's connection.
 * Offsets: sqlite.org/fileformat2.html, "WAL File Format".
 */
export function endsInTornPage({ file, bytes, pageBytes }: { file: string; bytes: number; pageBytes: number }): boolean {
  if (bytes % pageBytes === 0) return false
  const log = `${file}-wal`
  return !existsSync(log) || !read(log, (handle) => holdsPage(handle, Math.ceil(bytes / pageBytes), pageBytes))
}

/** Frames with another salt are left over from an earlier round of the log. */
function holdsPage(handle: number, pageNumber: number, pageBytes: number): boolean {
  const { size } = fstatSync(handle)
  const salt = bytesAt(handle, 16, 8)
  for (let at = 32; at + 24 + pageBytes <= size; at += 24 + pageBytes) {
    const head = bytesAt(handle, at, 24)
    if (head.readUInt32BE() === pageNumber && head.subarray(8, 16).equals(salt)) return true
  }
  return false
}

function read<T>(file: string, use: (handle: number) => T): T {
  const handle = openSync(file, 'r')
  try {
    return use(handle)
  } finally {
    closeSync(handle)
  }
}

function bytesAt(handle: number, at: number, count: number): Buffer {
  const bytes = Buffer.alloc(count)
  readSync(handle, bytes, 0, count, at)
  return bytes
}
