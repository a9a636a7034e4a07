import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Db } from '../platform/db/database.ts'
import { writeDurably } from '../platform/db/sync-files.ts'
import { SkillDigest } from '../contract/skills.ts'
import { createSkillFolders, type SkillFolders } from '../domain/skills/skill-folders.ts'
import { listSkills } from '../domain/skills/skills.ts'

/** In the folder of backups, like the folder of skills in the data folder. */
const FOLDER = 'skills'
/** Which skills a backup needs: `deckhand-….db.skills`. */
const LIST = '.skills'

const Digests = z.array(SkillDigest)

/** The digests of all installed skills whose files are as they were installed. */
export function listDigests(db: Db): string[] {
  return [...new Set(listSkills(db).map(({ digest }) => digest))]
}

/**
 * Copies the files of these skills beside the backups in `folder`. Each version is there once, however many backups need it. One whose
 * files are not those that were installed is left out.
 */
export async function copySkills(digests: readonly string[], from: SkillFolders, folder: string): Promise<void> {
  if (digests.length === 0) return
  const kept = createSkillFolders(join(folder, FOLDER))
  for (const digest of digests) {
    const skill = await from.load(digest)
    if (skill !== null) await kept.keep(skill)
  }
}

/** Notes which skills a backup needs, and deletes those that no backup needs any more. */
export async function listSkillsOfBackup(name: string, digests: readonly string[], folder: string): Promise<void> {
  if (!existsSync(join(folder, FOLDER))) return
  writeDurably(join(folder, `${name}${LIST}`), JSON.stringify(digests))
  const lists = readdirSync(folder).filter((one) => one.endsWith(LIST))
  const [needed, gone] = [lists.filter((one) => existsSync(join(folder, one.slice(0, -LIST.length)))), lists]
  for (const list of gone) if (!needed.includes(list)) rmSync(join(folder, list), { force: true })
  const read = needed.map((list) => Digests.safeParse(readJson(join(folder, list))))
  // A list that cannot be read may need any of them.
  if (read.every(({ success }) => success)) await createSkillFolders(join(folder, FOLDER)).sweep(read.flatMap(({ data }) => data ?? []))
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

/**
 * Puts back the files of skills that are not there, as after a restore. Files that are there and were changed stay as they are, and the
 * skill is blocked when it is used. Returns the digests that no backup has.
 */
export async function restoreSkills(digests: readonly string[], to: SkillFolders, folder: string): Promise<string[]> {
  const missing = digests.filter((digest) => !to.isThere(digest))
  if (missing.length === 0 || !existsSync(join(folder, FOLDER))) return missing
  const kept = createSkillFolders(join(folder, FOLDER))
  const lost: string[] = []
  for (const digest of missing) {
    const skill = await kept.load(digest)
    if (skill === null) lost.push(digest)
    else await to.keep(skill)
  }
  return lost
}
