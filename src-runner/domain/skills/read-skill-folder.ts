import { constants } from 'node:fs'
import { lstat, open, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { createBudget, refuseDamaged, refuseLink, type PackedFile } from '../../platform/archives/archive-entries.ts'
import { readPortablePath, refuseTwins } from '../../platform/archives/portable-path.ts'
import { NO_SKILL_FILES, SKILL_LIMITS } from '../../contract/skills.ts'

const READ_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Whether a name on the path belongs to the machine or the tools of its author, and not to the skill. */
export function isLeftOut(path: string): boolean {
  return path.split('/').some((name) => NO_SKILL_FILES.includes(name.toLowerCase()))
}

/**
 * The files of a folder. `strict`: every file counts, else those that systems and tools leave behind are left out. `wants`: reads only
 * these. Refuses links and everything that is no file. Throws ArchiveRefused, or the error of the file system.
 */
export async function readSkillFolder(
  folder: string,
  { strict, wants = () => true }: { strict: boolean; wants?: (path: string) => boolean },
): Promise<PackedFile[]> {
  const budget = createBudget(SKILL_LIMITS)
  const files: PackedFile[] = []
  const waiting = ['']
  for (let inside = waiting.pop(); inside !== undefined; inside = waiting.pop()) {
    for await (const entry of await opendir(join(folder, inside))) {
      budget.countEntry()
      const given = inside === '' ? entry.name : `${inside}/${entry.name}`
      if (!strict && isLeftOut(entry.name)) continue
      const path = readPortablePath(given)
      const place = join(folder, given)
      const seen = await lstat(place)
      if (seen.isSymbolicLink()) refuseLink(path)
      if (seen.isDirectory()) waiting.push(given)
      else if (seen.isFile() && !wants(path)) continue
      else if (seen.isFile()) files.push({ path, bytes: await readWhole(place, path, seen, (size) => budget.take(size)) })
      else refuseDamaged('type')
    }
  }
  refuseTwins(files.map(({ path }) => path))
  return files
}

/** Exactly the file that was looked at: another program may have put something else in its place. */
async function readWhole(place: string, path: string, seen: { ino: number; dev: number }, take: (size: number) => void): Promise<Buffer> {
  const handle = await open(place, READ_ONLY)
  try {
    const stats = await handle.stat()
    const { size } = stats
    if (!stats.isFile() || stats.ino !== seen.ino || stats.dev !== seen.dev) refuseLink(path)
    take(size)
    const bytes = Buffer.alloc(size)
    let length = 0
    while (length < size) {
      const { bytesRead } = await handle.read(bytes, length, size - length, length)
      if (bytesRead === 0) refuseDamaged('cut')
      length += bytesRead
    }
    return bytes
  } finally {
    await handle.close()
  }
}
