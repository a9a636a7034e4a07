import { createHash } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { lstat, mkdir, open, readdir, readlink, rename, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { withPlainFolder } from '../protected-places/plain-folder.ts'

/** What is at a path of the person's checkout. `mark` changes when something else is put there. */
export type Present =
  | { kind: 'missing' | 'folder' | 'other' | 'too_large'; mark: string }
  /** A file or a link is in the place of a folder above. */
  | { kind: 'blocked'; mark: string; by: string; isLink: boolean }
  | { kind: 'file' | 'link'; mark: string; content: Buffer; mode: number }

/** Only its files are looked at, so whatever is in it, it stays the same. */
const FOLDER_MARK = 'folder'
const READ_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** The name that Git gives a content. `like`: another name in the same repository. */
export function blobNameOf(content: Uint8Array, like: string): string {
  return createHash(like.length === 64 ? 'sha256' : 'sha1').update(`blob ${content.length}\0`).update(content).digest('hex') // prettier-ignore
}

/** Looks at a path without following links. `path`: relative, from Git. */
export async function lookAt(root: string, path: string, maxBytes: number): Promise<Present> {
  const parts = path.split('/')
  for (let depth = 1; depth < parts.length; depth++) {
    const by = parts.slice(0, depth).join('/')
    const stats = await lstat(join(root, by)).catch(() => null)
    if (stats === null) break
    if (!stats.isDirectory()) return { kind: 'blocked', mark: '', by, isLink: stats.isSymbolicLink() }
  }
  const full = join(root, path)
  const isHere = await lstat(dirname(full)).then(Boolean, () => false)
  if (!isHere) return { kind: 'missing', mark: '' }
  return withPlainFolder(dirname(full), async (parent) => {
    const file = join(parent, basename(full))
    const stats = await lstat(file, { bigint: true }).catch(() => null)
    if (stats === null) return { kind: 'missing', mark: '' }
    const mark = markOf(stats)
    if (stats.isSymbolicLink()) return { kind: 'link', mark, content: await readlink(file, 'buffer'), mode: 0o777 }
    if (stats.isDirectory()) return { kind: 'folder', mark: FOLDER_MARK }
    if (!stats.isFile()) return { kind: 'other', mark }
    if (stats.size > BigInt(maxBytes)) return { kind: 'too_large', mark }
    const handle = await open(file, READ_ONLY)
    try {
      return { kind: 'file', mark, content: await handle.readFile(), mode: Number(stats.mode) & 0o777 }
    } finally {
      await handle.close()
    }
  })
}

/** Whether a folder has no files but these. Folders in it are none. */
export async function hasOnly(root: string, folder: string, files: ReadonlySet<string>): Promise<boolean> {
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`
    if (!(entry.isDirectory() ? await hasOnly(root, path, files) : files.has(path))) return false
  }
  return true
}

/**
 * Puts a file there in one step, or deletes what is there, unless it changed since. Returns whether it did. A folder is replaced if
 * no file is left in it.
 */
export async function replaceAt(root: string, path: string, { mark, by }: { mark: string; by: string | null }): Promise<boolean> {
  const full = join(root, path)
  if (by !== null) await mkdirPlain(root, dirname(path))
  if (mark === FOLDER_MARK) await removeEmpty(root, path).catch(() => undefined)
  const expected = mark === FOLDER_MARK ? '' : mark
  return withPlainFolder(dirname(full), async (parent) => {
    const file = join(parent, basename(full))
    const stats = await lstat(file, { bigint: true }).catch(() => null)
    if ((stats === null ? '' : markOf(stats)) !== expected) return false
    if (by !== null) await rename(by, file)
    else if (stats !== null) await unlink(file)
    return true
  })
}

/** Deletes the folders that have become empty. Another program may put a link in the place of one meanwhile. */
export async function removeEmptyAbove(root: string, path: string): Promise<void> {
  try {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      const full = join(root, folder)
      await withPlainFolder(dirname(full), (parent) => rmdir(join(parent, basename(full))))
    }
  } catch {
    // One that is in use or behind a link stays, and so do those above.
  }
}

/** Throws if there is more in it than folders. */
async function removeEmpty(root: string, folder: string): Promise<void> {
  const full = join(root, folder)
  const names = await withPlainFolder(full, (plain) => readdir(plain))
  for (const name of names) await removeEmpty(root, join(folder, name))
  await withPlainFolder(dirname(full), (parent) => rmdir(join(parent, basename(full))))
}

async function mkdirPlain(root: string, folder: string): Promise<void> {
  if (folder === '.') return
  await mkdirPlain(root, dirname(folder))
  await withPlainFolder(dirname(join(root, folder)), (parent) =>
    mkdir(join(parent, basename(folder))).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'EEXIST') throw thrown
    }),
  )
}

function markOf({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(' ')
}
