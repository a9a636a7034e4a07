import { constants } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { foldName } from '../protected-places/path-patterns.ts'
import { withPlainFolder } from '../protected-places/plain-folder.ts'

export type WorkFile = { kind: 'file'; content: Buffer; isExecutable: boolean } | { kind: 'link'; content: Buffer }
export type NoWorkFile = { kind: 'missing' | 'too_large' | 'other' | 'unreadable' }

const READ_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/**
 * Reads a file below a folder in which a program may change everything meanwhile. Follows no link, so it never reads anything
 * outside. `path`: from Git, relative.
 */
export async function readWorkFile(folder: string, path: string, maxBytes: number): Promise<WorkFile | NoWorkFile> {
  const full = join(folder, path)
  try {
    return await withPlainFolder(dirname(full), (parent) => readIn(join(parent, basename(full)), maxBytes))
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    // Without a code: a part of the path is a link, so there is no such file.
    return { kind: [undefined, 'ENOENT', 'ENOTDIR', 'ELOOP'].includes(code) ? 'missing' : 'unreadable' }
  }
}

async function readIn(file: string, maxBytes: number): Promise<WorkFile | NoWorkFile> {
  const stats = await lstat(file)
  if (stats.isSymbolicLink()) return { kind: 'link', content: await readlink(file, 'buffer') }
  // Opening a pipe or device could block, or have effects.
  if (!stats.isFile()) return { kind: 'other' }
  const handle = await open(file, READ_ONLY)
  try {
    const opened = await handle.stat()
    if (!opened.isFile()) return { kind: 'other' }
    if (opened.size > maxBytes) return { kind: 'too_large' }
    const content = Buffer.alloc(opened.size)
    let read = 0
    while (read < content.length) {
      const { bytesRead } = await handle.read(content, read, content.length - read, read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    return { kind: 'file', content: content.subarray(0, read), isExecutable: (opened.mode & 0o100) !== 0 }
  } finally {
    await handle.close()
  }
}

/** Whether a path from Git is safe to use and to store. No part leads elsewhere, or is `.git` for any file system. */
export function isPlainPath(path: string): boolean {
  const parts = path.split('/')
  if (process.platform === 'win32' && /[\\:]/.test(path)) return false
  return parts.every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && foldName(part) !== '.git')
}
