import { constants, type BigIntStats } from 'node:fs'
import { lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { requireSame } from './change-file.ts'
import type { FileSpot } from './file-spot.ts'
import { codeOf } from './held-path.ts'

/** A place from which the person can restore deleted files without Deckhand. */
export type Trash = {
  /** Moves the file if it is still the one expected. false: there is no trash for this place, and nothing happened. */
  take(spot: FileSpot, expected: BigIntStats): Promise<boolean>
}

type Bin = { folder: string; /** The base of its paths. null: absolute. */ top: string | null }

const MAX_SAME_NAMES = 10_000
const STICKY = 0o1000

/**
 * https://specifications.freedesktop.org/trash-spec/1.0/: the home trash for files on the same disk, else one in the top
 * folder of the file's disk. Never to another disk: that would be a copy, which can fail half way. `homeTrash` is
 * `$XDG_DATA_HOME/Trash`.
 */
export function createFreedesktopTrash({ homeTrash, uid, clock }: { homeTrash: string; uid: number; clock: Clock }): Trash {
  return {
    async take(spot, expected) {
      const bin = (await homeBin(homeTrash, expected.dev)) ?? (await diskBin(dirname(spot.realPath), expected.dev, uid))
      if (bin === null) return false
      const path = bin.top === null ? spot.realPath : posix.relative(bin.top, spot.realPath)
      const name = await writeInfo(bin.folder, posix.basename(spot.realPath), path, clock.now())
      try {
        await requireSame(spot, expected)
        await rename(spot.path, join(bin.folder, 'files', name))
      } catch (thrown) {
        await unlink(infoFile(bin.folder, name)).catch(() => {})
        // Bind mounts and subvolumes share a device number.
        if (codeOf(thrown) === 'EXDEV') return false
        throw thrown
      }
      await spot.sync()
      return true
    },
  }
}

async function homeBin(homeTrash: string, device: bigint): Promise<Bin | null> {
  const isThere = await makeBin(homeTrash)
  if (!isThere) return null
  const { dev } = await stat(homeTrash, { bigint: true })
  return dev === device ? { folder: homeTrash, top: null } : null
}

/** `$top/.Trash/$uid` if an administrator made `.Trash`, else `$top/.Trash-$uid`. Neither may be a link. */
async function diskBin(folder: string, device: bigint, uid: number): Promise<Bin | null> {
  const top = await topOf(folder, device)
  const shared = join(top, '.Trash')
  const found = await lstat(shared).catch(() => null)
  if (found?.isDirectory() && (found.mode & STICKY) !== 0 && (await isOwnBin(join(shared, `${uid}`), uid)))
    return { folder: join(shared, `${uid}`), top }
  const own = join(top, `.Trash-${uid}`)
  return (await isOwnBin(own, uid)) ? { folder: own, top } : null
}

async function isOwnBin(folder: string, uid: number): Promise<boolean> {
  if (!(await makeBin(folder))) return false
  const made = await lstat(folder)
  return made.isDirectory() && made.uid === uid
}

/** The highest folder that is still on this disk. */
async function topOf(folder: string, device: bigint): Promise<string> {
  let top = folder
  for (let above = dirname(top); above !== top; above = dirname(top)) {
    const { dev } = await stat(above, { bigint: true })
    if (dev !== device) break
    top = above
  }
  return top
}

/** false: there is no usable trash. */
async function makeBin(folder: string): Promise<boolean> {
  try {
    const before = await lstat(folder).catch(() => null)
    if (before !== null && !before.isDirectory()) return false
    for (const part of ['files', 'info']) await mkdir(join(folder, part), { recursive: true, mode: 0o700 })
    return true
  } catch {
    return false
  }
}

/** Reserves a free name by writing its info file first, so that no file in the trash is without one. */
async function writeInfo(bin: string, base: string, path: string, at: number): Promise<string> {
  const text = `[Trash Info]\nPath=${path.split('/').map(encodeURIComponent).join('/')}\nDeletionDate=${localTime(at)}\n`
  for (let n = 1; n <= MAX_SAME_NAMES; n++) {
    const name = n === 1 ? base : numbered(base, n)
    if ((await lstat(join(bin, 'files', name)).catch(() => null)) !== null) continue
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
      const handle = await open(infoFile(bin, name), flags, 0o600)
      try {
        await handle.writeFile(text)
        await handle.sync()
      } finally {
        await handle.close()
      }
      return name
    } catch (thrown) {
      if (codeOf(thrown) !== 'EEXIST') throw thrown
    }
  }
  throw new Error('the trash is full of files of this name')
}

function infoFile(bin: string, name: string): string {
  return join(bin, 'info', `${name}.trashinfo`)
}

function numbered(base: string, n: number): string {
  const { name, ext } = posix.parse(base)
  return `${name}.${n}${ext}`
}

function localTime(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - offsetMs).toISOString().slice(0, 19)
}
