import { constants, type BigIntStats } from 'node:fs'
import { access, type FileHandle, link, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { modeOf, requireFile, type FileSpot } from './file-spot.ts'
import { PathRefused, showPlace, type Place } from './folder-paths.ts'
import { codeOf, refusalOf } from './held-path.ts'

// The three ways to change a file. Each is atomic: a reader, also after a power cut, finds the old state or the new one.
// Each compares the file with what was read before, and refuses if it differs. All throw PathRefused.

const PERMISSIONS = 0o7777
const NEW_FILE_MODE = 0o644
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0

/** `draft`: the name of the temporary file beside it. `mode` null: a new file, no more open than its folder. */
export function putFile(
  spot: FileSpot,
  bytes: Uint8Array,
  { expected, mode, draft }: { expected: BigIntStats | null; mode: number | null; draft: string },
): Promise<void> {
  return explained(spot.place, async () => {
    if (expected !== null) {
      requireFile(spot.place, expected)
      await access(spot.path, constants.W_OK)
    }
    await withDraft(
      spot,
      draft,
      mode,
      (handle) => handle.writeFile(bytes),
      async (written) => {
        await requireSame(spot, expected)
        if (expected === null) await giveName(written, spot)
        else await rename(written, spot.path)
      },
    )
    await spot.sync()
  })
}

/** Never replaces a file. */
export function moveFile(source: FileSpot, target: FileSpot, { expected, draft }: { expected: BigIntStats; draft: string }): Promise<void> {
  return explained(target.place, async () => {
    requireFile(source.place, expected)
    await requireSame(source, expected)
    const there = await target.stat()
    if (there === null) await moveToFree(source, target, expected, draft)
    else if (!isSameFile(there, expected)) throw isTaken(target.place)
    else if (await hasBothNames(source, target)) await removeSource(source)
    // Two spellings of one name.
    else await rename(source.path, target.path)
    await Promise.all([source.sync(), target.sync()])
  })
}

export function removeFile(spot: FileSpot, expected: BigIntStats): Promise<void> {
  return explained(spot.place, async () => {
    requireFile(spot.place, expected)
    await requireSame(spot, expected)
    await unlink(spot.path)
    await spot.sync()
  })
}

/** Removes the draft of a process that died. */
export async function removeDraft(spot: FileSpot, draft: string): Promise<void> {
  await spot.verify()
  await unlink(join(spot.folderPath, draft)).catch(() => {})
}

/** Throws if the file has changed meanwhile, so that nobody's work is lost. */
export async function requireSame(spot: FileSpot, expected: BigIntStats | null): Promise<void> {
  if (!isSameFile(await spot.stat(), expected)) throw wasChanged(spot.place)
}

/** Does not compare ctime and the number of names, which a link changes. */
export function isSameFile(a: BigIntStats | null, b: BigIntStats | null): boolean {
  if (a === null || b === null) return a === b
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs
}

/**
 * Whether one file has both names, as after half a move. Where `a` and `A` are one name, it may have that name and a third one
 * somewhere else.
 */
async function hasBothNames(source: FileSpot, target: FileSpot): Promise<boolean> {
  const [from, to] = await Promise.all([source, target].map(({ folderPath }) => stat(folderPath, { bigint: true })))
  if (from!.dev !== to!.dev || from!.ino !== to!.ino) return true
  const names = new Set([source, target].map(({ path }) => basename(path)))
  return (await readdir(target.folderPath)).filter((name) => names.has(name)).length === 2
}

/** `put`: what the move has put at the target, which goes again if the source stays. */
async function removeSource(source: FileSpot, put?: { target: FileSpot; stats: BigIntStats }): Promise<void> {
  try {
    await unlink(source.path)
  } catch (thrown) {
    const there = await put?.target.stat().catch(() => null)
    if (put !== undefined && isSameFile(there ?? null, put.stats)) await unlink(put.target.path).catch(() => {})
    throw refusalOf(source.place, thrown, 'changed')
  }
}

async function moveToFree(source: FileSpot, target: FileSpot, expected: BigIntStats, draft: string): Promise<void> {
  try {
    // Unlike a rename, this fails if something has the name by now.
    await link(source.path, target.path)
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') throw isTaken(target.place)
    if (codeOf(thrown) === 'EXDEV') return copyOver(source, target, expected, draft)
    if (!hasNoLinks(thrown)) throw thrown
    await requireSame(target, null)
    return rename(source.path, target.path)
  }
  await removeSource(source, { target, stats: expected })
}

/** To another disk: complete and synced there before it is removed here. */
async function copyOver(source: FileSpot, target: FileSpot, expected: BigIntStats, draft: string): Promise<void> {
  const opened = await source.open()
  if (opened === null) throw wasChanged(source.place)
  try {
    let stats!: BigIntStats
    const copy = async (handle: FileHandle) => {
      for await (const chunk of opened.handle.createReadStream({ autoClose: false })) await handle.writeFile(chunk as Buffer)
      await handle.utimes(Number(expected.atimeMs) / 1000, Number(expected.mtimeMs) / 1000)
      stats = await handle.stat({ bigint: true })
    }
    await withDraft(target, draft, Number(expected.mode), copy, async (written) => {
      if (!isSameFile(await opened.handle.stat({ bigint: true }), expected)) throw wasChanged(source.place)
      await giveName(written, target)
    })
    await removeSource(source, { target, stats })
  } finally {
    await opened.handle.close()
  }
}

/** Writes a file beside the spot, synced, and removes it if anything fails. */
async function withDraft(
  spot: FileSpot,
  draft: string,
  mode: number | null,
  write: (handle: FileHandle) => Promise<void>,
  use: (path: string) => Promise<void>,
): Promise<void> {
  await spot.verify()
  const path = join(spot.folderPath, draft)
  const permissions = mode ?? (await modeOf(spot.folderPath)) & NEW_FILE_MODE
  const handle = await openDraft(path)
  try {
    try {
      await write(handle)
      await handle.chmod(permissions & PERMISSIONS)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await use(path)
  } catch (thrown) {
    await unlink(path).catch(() => {})
    throw thrown
  }
}

/** A file of this name is a draft of an earlier try, or a trap: it is removed and never followed. */
async function openDraft(path: string): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW
  try {
    return await open(path, flags, 0o600)
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw thrown
    await unlink(path)
    return open(path, flags, 0o600)
  }
}

/** Gives a finished draft its name. Fails if anything has that name. */
async function giveName(written: string, spot: FileSpot): Promise<void> {
  try {
    await link(written, spot.path)
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') throw wasChanged(spot.place)
    if (!hasNoLinks(thrown)) throw thrown
    await requireSame(spot, null)
    return rename(written, spot.path)
  }
  await unlink(written)
}

/** Some disks (FAT, some network shares) have no hard links. */
function hasNoLinks(thrown: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'].includes(codeOf(thrown) ?? '')
}

async function explained(place: Place, change: () => Promise<void>): Promise<void> {
  try {
    await change()
  } catch (thrown) {
    throw refusalOf(place, thrown, 'changed')
  }
}

function isTaken(place: Place): PathRefused {
  return new PathRefused(`There is something at '${showPlace(place)}' already. Choose another name, or delete it first.`)
}

function wasChanged(place: Place): PathRefused {
  return new PathRefused(`'${showPlace(place)}' was changed by something else just now. Look at it again.`)
}
